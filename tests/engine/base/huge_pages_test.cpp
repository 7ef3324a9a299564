// Asking for huge pages: what lies in the memory stays, whatever the range.
#include "engine/base/huge_pages.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <vector>

namespace enginery {
namespace {

TEST(HugePages, LeaveWhatLiesThere) {
  std::vector<uint8_t> bytes(3 * kHugePage + 123);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i * 31);
  const std::vector<uint8_t> before = bytes;
  prefer_huge_pages(bytes.data(), bytes.size());
  EXPECT_EQ(bytes, before);
}

// madvise would refuse them, or advise pages of somebody else.
TEST(HugePages, OfRangesWithoutAWholeOneAreNotAskedFor) {
  std::vector<uint8_t> bytes(2 * kHugePage, 1);
  const auto begin = reinterpret_cast<uintptr_t>(bytes.data());
  uint8_t* const page = bytes.data() + (kHugePage - begin % kHugePage) % kHugePage;
  errno = 0;
  prefer_huge_pages(page + 1, kHugePage - 1);
  prefer_huge_pages(page + 1, 0);
  prefer_huge_pages(nullptr, 0);
  EXPECT_EQ(errno, 0);
  EXPECT_EQ(std::ranges::count(bytes, 1), static_cast<int64_t>(bytes.size()));
}

}  // namespace
}  // namespace enginery
