// What becomes of an engine file that somebody made: it is signed as it is, read, and where it is
// read also prepared and run once.
//
// On this machine's CPU by the lowest instruction set, one thread. Threads: one at a time.
#pragma once

#include "engine/base/digest.h"

namespace enginery::test {

// In the order in which an engine comes further.
enum class Fate { refused, too_large_to_run, not_prepared, run_failed, ran };

// `body`: the sections without a signature. Aborts where a refusal is no refusal of the file's: any
// code but untrusted and incompatible.
Fate sign_load_and_run(const Bytes& body);

}  // namespace enginery::test
