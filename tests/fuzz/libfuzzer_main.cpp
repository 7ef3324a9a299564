// The target under libFuzzer, which keeps the inputs that reach new code and edits those.
#include <cstring>

#include "tests/fuzz/fuzz_target.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  enginery::test::fuzz_target().run(enginery::Bytes(reinterpret_cast<const char*>(data), size));
  return 0;
}

// Mostly the target's edit; libFuzzer's own, which also splices bytes that the code compared with,
// for one in eight.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
  enginery::test::Random random(seed);
  if (random() % 8 == 0) return LLVMFuzzerMutate(data, size, max_size);
  const enginery::Bytes input(reinterpret_cast<const char*>(data), size);
  const enginery::Bytes edited = enginery::test::fuzz_target().edited(input, random);
  if (edited.size() > max_size || edited == input) return LLVMFuzzerMutate(data, size, max_size);
  std::memcpy(data, edited.data(), edited.size());
  return edited.size();
}
