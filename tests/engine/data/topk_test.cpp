#include "engine/data/topk.h"

#include <gtest/gtest.h>

#include <cmath>

#include "engine/base/file.h"
#include "tests/engine/data/picture_files.h"

namespace enginery {
namespace {

std::vector<int64_t> indices(const std::vector<RankedClass>& ranks) {
  std::vector<int64_t> out;
  for (const RankedClass& r : ranks) out.push_back(r.index);
  return out;
}

TEST(TopK, OrdersByScoreThenIndexAndPutsNanLast) {
  std::vector<float> scores = {0.5f, NAN, 2, 0.5f, -INFINITY, 2};
  Tensor row = Tensor::of<float>({6}, std::span<const float>(scores));
  EXPECT_EQ(indices(top_k(row, 3)), (std::vector<int64_t>{2, 5, 0}));
  EXPECT_EQ(indices(top_k(row, 100)), (std::vector<int64_t>{2, 5, 0, 3, 4, 1}));
  EXPECT_TRUE(top_k(row, 0).empty());
  EXPECT_EQ(top_k(row, 1)[0].score, 2);
}

TEST(RowOf, TakesOneRow) {
  std::vector<int64_t> values = {1, 2, 3, 4};
  Tensor row = row_of(Tensor::of<int64_t>({2, 2}, std::span<const int64_t>(values)), 1);
  EXPECT_EQ(row.dims(), (Dims{2}));
  EXPECT_EQ(to_int64s(row), (std::vector<int64_t>{3, 4}));
}

TEST(Labels, AreOneALine) {
  TemporaryFolder folder;
  ASSERT_TRUE(write_file(folder.path / "labels.txt", "tench\r\n\nn01\tgold fish"));
  auto labels = read_labels(folder.path / "labels.txt");
  ASSERT_TRUE(labels.ok());
  EXPECT_EQ(*labels, (std::vector<std::string>{"tench", "", "n01 gold fish"}));
  EXPECT_EQ(read_labels(folder.path / "none.txt").error().code, ErrorCode::not_found);
}

}  // namespace
}  // namespace enginery
