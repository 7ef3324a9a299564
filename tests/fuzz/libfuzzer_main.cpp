// libFuzzer on the engine loader: any sections, signed as they are, end in an error or in an engine
// that can be prepared and run. Inputs are edited as a hostile writer would (engine_mutator.h).
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/engine_mutator.h"
#include "tests/fuzz/engine_run.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  enginery::test::sign_load_and_run(enginery::Bytes(reinterpret_cast<const char*>(data), size));
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
  std::mt19937_64 random(seed);
  const enginery::Bytes body(reinterpret_cast<const char*>(data), size);
  const enginery::Bytes edited = enginery::test::edited_engine(body, random);
  if (edited.size() > max_size || edited == body) return LLVMFuzzerMutate(data, size, max_size);
  std::memcpy(data, edited.data(), edited.size());
  return edited.size();
}
