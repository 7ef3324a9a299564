// What becomes of an engine file that somebody made: it is signed as it is, read, and where it is
// read also prepared and run once. Shared by the fuzzer and by the test that runs the kept files.
//
// On this machine's CPU by the lowest instruction set, one thread. Threads: one at a time.
#pragma once

#include "engine/base/digest.h"

namespace enginery::test {

enum class Fate { refused, not_prepared, too_large_to_run, run_failed, ran };

// `body`: the sections without a signature. Aborts where a refusal is no refusal of the file's: any
// code but untrusted and incompatible.
Fate sign_load_and_run(const Bytes& body);

}  // namespace enginery::test
