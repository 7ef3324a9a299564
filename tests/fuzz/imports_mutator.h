// Edits of what `catalog import`, `cache timing import` and a timing cache read: JSON, alone or
// between a bundle's head and its blobs.
#pragma once

#include "tests/fuzz/edits.h"

namespace enginery::test {

// A bundle's head: the magic and the manifest's size.
inline constexpr size_t kBundleHeadBytes = 16;

// One to four values of the document changed, left out or repeated, and the head's size made anew;
// now and then the bytes alone are damaged.
Bytes edited_import(const Bytes& input, Random& random);

}  // namespace enginery::test
