// Kernels that read and write at indices, on every instruction set of this machine.
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/kernels/cpu/isa/moving/gather_elements.h"
#include "engine/kernels/cpu/isa/moving/gather_nd.h"
#include "engine/kernels/cpu/isa/moving/scatter_elements.h"
#include "engine/kernels/cpu/isa/moving/scatter_nd.h"
#include "tests/engine/kernels/cpu_kernels.h"

namespace enginery {
namespace {

TEST_P(CpuKernelsTest, TakeElementsByIndexFromEitherEnd) {
  const std::vector<float> x = values(4 * 6);
  const std::vector<int64_t> indices{0, -1, 5, -6, 3, 2};  // of 3 rows of 2
  std::vector<float> out(indices.size());
  GatherElementsArguments g{x.data(), out.data(), {indices.data(), true, 4, 6, 1, {}}};
  g.from.over.loops = 2;
  g.from.over.extent[0] = 3;
  g.from.over.extent[1] = 2;
  g.from.over.stride[0][0] = 6;
  kernels().gather_elements(g);
  for (size_t i = 0; i < out.size(); ++i) {
    const int64_t index = indices[i] < 0 ? indices[i] + 6 : indices[i];
    ASSERT_EQ(out[i], at(x, static_cast<int64_t>(i) / 2 * 6 + index)) << i;
  }
}

// Rows of `row` floats of a tensor [4, 6, row].
RowPlaces rows_of_planes(const std::vector<int64_t>& pairs, int64_t row) {
  RowPlaces out{};
  out.indices = pairs.data();
  out.wide = true;
  out.dims = 2;
  out.count = out.each = std::ssize(pairs) / 2;
  out.row_bytes = row * int64_t{sizeof(float)};
  out.size[0] = 4;
  out.size[1] = 6;
  out.stride[0] = 6;
  out.stride[1] = 1;
  return out;
}

TEST_P(CpuKernelsTest, TakeRowsByIndicesOfSeveralDimensions) {
  for (const int64_t row : {1, 2, 9}) {
    const std::vector<float> x = values(4 * 6 * row);
    const std::vector<int64_t> pairs{0, 0, 3, 5, -1, 0, 2, -6};
    std::vector<float> out(static_cast<size_t>(4 * row));
    kernels().gather_nd({x.data(), out.data(), rows_of_planes(pairs, row)});
    const int64_t expected[] = {0, 23, 18, 12};
    for (int64_t i = 0; i < 4 * row; ++i)
      ASSERT_EQ(at(out, i), at(x, expected[i / row] * row + i % row)) << i << " of rows of " << row;
  }
}

// Of a tensor that is a batch of two: [2, 12, 1], read by [2, 3, 1].
TEST_P(CpuKernelsTest, TakeRowsOfTheirOwnPartOfABatch) {
  const std::vector<float> x = values(24);
  const std::vector<int32_t> indices{0, 11, -1, 0, 11, -1};
  RowPlaces from{};
  from.indices = indices.data();
  from.dims = 1;
  from.count = 6;
  from.each = 3;
  from.step = 12;
  from.row_bytes = sizeof(float);
  from.size[0] = 12;
  from.stride[0] = 1;
  std::vector<float> out(6);
  kernels().gather_nd({x.data(), out.data(), from});
  const int64_t expected[] = {0, 11, 11, 12, 23, 23};
  for (int64_t i = 0; i < 6; ++i) ASSERT_EQ(at(out, i), at(x, expected[i])) << i;
}

// Short rows, and rows that a team shares.
TEST_P(CpuKernelsTest, KeepTheLastOfTwoRowsForOnePlace) {
  for (const int64_t row : {1, 9, 20000}) {
    const std::vector<float> x = values(4 * 6 * row), updates = values(3 * row, 2);
    const std::vector<int64_t> pairs{3, 5, 0, 1, -1, -1};
    std::vector<float> out(x.size());
    kernels().scatter_nd({x.data(), updates.data(), out.data(),
                          std::ssize(x) * int64_t{sizeof(float)}, rows_of_planes(pairs, row)});
    for (int64_t i = 0; i < std::ssize(x); ++i) {
      const int64_t place = i / row, column = i % row;
      ASSERT_EQ(at(out, i), place == 23  ? at(updates, 2 * row + column)
                            : place == 1 ? at(updates, row + column)
                                         : at(x, i))
          << i << " of rows of " << row;
    }
  }
}

TEST_P(CpuKernelsTest, KeepTheLastOfTwoElementsForOnePlace) {
  const std::vector<float> x = values(4 * 6), updates = values(6, 2);
  const std::vector<int32_t> indices{0, 5, -1, 1, 5, 2};  // of one row of the first dimension
  std::vector<float> out(x.size());
  ScatterElementsArguments s{
      x.data(), updates.data(), out.data(), 24 * 4, {indices.data(), false, 4, 6, 1, {}}};
  s.to.over.loops = 1;
  s.to.over.extent[0] = 6;
  kernels().scatter_elements(s);
  std::vector<float> expected = x;
  for (size_t i = 0; i < indices.size(); ++i)
    expected[static_cast<size_t>((indices[i] + 6) % 6)] = updates[i];
  EXPECT_EQ(out, expected);
}

// Short rows, and rows that a team shares: three updates, of which two meet, and the first one is
// for a place of its own.
TEST_P(CpuKernelsTest, CombineEveryRowForOnePlace) {
  for (const int64_t row : {1, 9, 20000}) {
    const std::vector<float> x = values(4 * 6 * row), updates = values(3 * row, 2);
    const std::vector<int64_t> pairs{0, 1, 3, 5, -1, -1};
    std::vector<float> out(x.size());
    const auto scatter = [&](CombiningKind kind) {
      kernels().scatter_nd({x.data(),
                            updates.data(),
                            out.data(),
                            std::ssize(x) * int64_t{sizeof(float)},
                            rows_of_planes(pairs, row),
                            {kind, NumberType::float32}});
    };
    const auto second = [&](int64_t column) { return at(updates, row + column); };
    const auto third = [&](int64_t column) { return at(updates, 2 * row + column); };
    scatter(CombiningKind::add);
    for (int64_t i = 0; i < row; ++i) {
      ASSERT_EQ(at(out, row + i), at(x, row + i) + at(updates, i)) << row;
      ASSERT_EQ(at(out, 23 * row + i), at(x, 23 * row + i) + second(i) + third(i)) << row;
      ASSERT_EQ(at(out, 22 * row + i), at(x, 22 * row + i)) << row;
    }
    scatter(CombiningKind::max);
    for (int64_t i = 0; i < row; ++i)
      ASSERT_EQ(at(out, 23 * row + i), std::max({at(x, 23 * row + i), second(i), third(i)})) << row;
  }
}

TEST_P(CpuKernelsTest, CombineIntegersThatWrap) {
  const std::vector<int32_t> x{INT32_MAX, 7, INT32_MIN}, updates{1, 3, 2};
  const std::vector<int64_t> indices{0, 1, 2};
  std::vector<int32_t> out(3);
  ScatterElementsArguments s{x.data(),
                             updates.data(),
                             out.data(),
                             12,
                             {indices.data(), true, 4, 3, 1, {}},
                             {CombiningKind::add, NumberType::int32}};
  s.to.over.loops = 1;
  s.to.over.extent[0] = 3;
  kernels().scatter_elements(s);
  EXPECT_EQ(out, (std::vector<int32_t>{INT32_MIN, 10, INT32_MIN + 2}));
  s.combining.kind = CombiningKind::mul;
  kernels().scatter_elements(s);
  EXPECT_EQ(out, (std::vector<int32_t>{INT32_MAX, 21, 0}));
  s.combining.kind = CombiningKind::min;
  kernels().scatter_elements(s);
  EXPECT_EQ(out, (std::vector<int32_t>{1, 3, INT32_MIN}));
}

}  // namespace
}  // namespace enginery
