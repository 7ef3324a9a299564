// What a fuzz program fuzzes: where its inputs begin, how one becomes another, and what becomes of
// it. Each program links one target (engine_target.cpp, onnx_target.cpp) with libFuzzer
// (libfuzzer_main.cpp) or with a bounded loop of our own (edits_main.cpp).
//
// Threads: one at a time.
#pragma once

#include <vector>

#include "tests/fuzz/edits.h"

namespace enginery::test {

struct FuzzSeed {
  std::string name;
  Bytes bytes;
};

struct FuzzTarget {
  std::string_view name;
  // What may become of an input, from refused at once to accepted, which is the last. All are fine:
  // a finding ends the process.
  std::vector<std::string_view> fates;

  // Small valid inputs; every one is accepted.
  Result<std::vector<FuzzSeed>> (*seeds)();
  // Another input. `input` itself where it has no structure to be edited.
  Bytes (*edited)(const Bytes& input, Random& random);
  // Index in `fates`.
  size_t (*run)(const Bytes& input);
};

// The target that this program is linked with.
const FuzzTarget& fuzz_target();

}  // namespace enginery::test
