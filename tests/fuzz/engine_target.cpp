// Fuzzing the engine loader: any sections, signed as they are, end in a refusal or in an engine
// that can be prepared and run.
#include "tests/fuzz/engine_mutator.h"
#include "tests/fuzz/engine_run.h"
#include "tests/fuzz/engine_seeds.h"
#include "tests/fuzz/fuzz_target.h"

namespace enginery::test {

const FuzzTarget& fuzz_target() {
  static const FuzzTarget kEngine{
      .name = "engine",
      // In Fate's order.
      .fates = {"refused", "too large to run", "not prepared", "stopped in the run", "ran"},
      .seeds = engine_seeds,
      .edited = edited_engine,
      .run = [](const Bytes& body) { return static_cast<size_t>(sign_load_and_run(body)); }};
  return kEngine;
}

}  // namespace enginery::test
