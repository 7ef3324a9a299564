// Edits of an engine file that know its structure: bytes changed at random hardly ever get past the
// frame and Cap'n Proto's pointers, while what a hostile writer changes is a number, a word or a
// list of the plan.
#pragma once

#include "tests/fuzz/edits.h"

namespace enginery::test {

// One to four edits of `body` (the sections without a signature): mostly one field of the plan or
// of the manifest, found by walking the message; sometimes bytes of a section. The frame is made
// anew, so that its sizes and hashes are right. `body` itself where it has no frame.
Bytes edited_engine(const Bytes& body, Random& random);

}  // namespace enginery::test
