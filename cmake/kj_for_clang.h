// Before Cap'n Proto 0.9's headers, for clang in C++20: they expect `const char* == StringPtr` to be
// rewritten as `StringPtr == const char*`, which later rules of the language (P2468) forbid where
// an operator!= is declared, too.
#pragma once

#include <kj/string.h>

namespace kj {
inline bool operator==(const char* a, const StringPtr& b) { return b.operator==(a); }
inline bool operator!=(const char* a, const StringPtr& b) { return !b.operator==(a); }
}  // namespace kj
