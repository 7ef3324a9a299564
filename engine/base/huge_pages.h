// Huge pages for memory that is touched from end to end: by pages of 4 KiB the first touch of large
// weights takes longer than what is done with them.
//
// Where: whoever allocates or fills buffers of megabytes. Any thread.
#pragma once

#include <cstddef>

namespace enginery {

constexpr size_t kHugePage = size_t{2} << 20;  // of x86-64, and of AArch64 with pages of 4 KiB

// Asks the system to back the whole huge pages within [data, data + bytes) by such pages when they
// are first touched. No memory beyond the range becomes resident; where there are none, nothing
// changes.
void prefer_huge_pages(void* data, size_t bytes);

}  // namespace enginery
