// The CPU SKU of this folder's builds: one for all of them, since a process has one instruction-set
// cap.
#pragma once

#include <string>

namespace enginery::test {

std::string cpu_sku();

}  // namespace enginery::test
