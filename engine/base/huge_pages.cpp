#include "engine/base/huge_pages.h"

#include <sys/mman.h>

#include <cstdint>

namespace enginery {

void prefer_huge_pages(void* data, size_t bytes) {
  const auto begin = reinterpret_cast<uintptr_t>(data);
  const uintptr_t first = (begin + kHugePage - 1) / kHugePage * kHugePage;
  const uintptr_t end = (begin + bytes) / kHugePage * kHugePage;
  if (first >= end) return;
  (void)madvise(static_cast<char*>(data) + (first - begin), end - first, MADV_HUGEPAGE);
}

}  // namespace enginery
