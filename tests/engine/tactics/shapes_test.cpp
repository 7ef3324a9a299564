// What tactic sources read out of a problem, without any kernel: strided copies and views are
// carried out here by hand and compared with the operators' references.
#include <gtest/gtest.h>

#include <cstring>

#include "engine/device/format_convert.h"
#include "engine/tactics/cpu/reference/reference_source.h"
#include "engine/tactics/shapes/strided_copy.h"
#include "engine/tactics/shapes/view.h"
#include "tests/support/comparison.h"
#include "tests/support/problem_list.h"
#include "tests/support/problem_text.h"
#include "tests/support/tactic_harness.h"

namespace enginery {
namespace {

const Layout kLinear{}, kLast{LayoutKind::channels_last, 0}, kBlocked{LayoutKind::blocked, 8};

Problem problem_of(const std::string& text) {
  auto p = parse_problem(text);
  EXPECT_TRUE(p.ok()) << text << ": " << p.error().message;
  return *p;
}

bool moves_elements(const Problem& p) {
  return is_one_of<Transpose, Concat, Split, Slice, Expand, Tile>(p) && p.epilogue.empty();
}

// The storage of a float32 tensor in a layout.
std::vector<float> stored(const Tensor& tensor, const Layout& layout) {
  const Format format{DataType::float32, layout};
  std::vector<float> out(static_cast<size_t>(physical_bytes(tensor.dims(), format)) / 4);
  to_physical(tensor, format, out.data());
  return out;
}

// One copy by its definition: every index of its loops.
void carry_out(const StridedCopy& copy, const std::vector<float>& in, std::vector<float>& out) {
  std::vector<int64_t> index(copy.loops.size(), 0);
  for (bool more = true; more;) {
    int64_t from = copy.in_offset, to = copy.out_offset;
    for (size_t d = 0; d < index.size(); ++d) {
      from += index[d] * copy.loops[d].in_stride;
      to += index[d] * copy.loops[d].out_stride;
    }
    out.at(static_cast<size_t>(to)) = in.at(static_cast<size_t>(from));
    more = false;
    for (size_t d = index.size(); d-- > 0 && !more;) {
      more = ++index[d] < copy.loops[d].extent;
      if (!more) index[d] = 0;
    }
  }
}

// Carries the problem out by its copies, as they are and in the kernels' order, in `layout`.
void expect_copies(const Problem& p, const Layout& layout, uint64_t seed) {
  auto copies = read_copies(p, layout);
  ASSERT_TRUE(copies.ok()) << copies.error().message;
  std::mt19937_64 random(seed);
  ProblemData data;
  fill_random(p, random, data);
  const auto expected = run_problem_reference(p, data.inputs).value();
  for (const bool rearranged : {false, true}) {
    std::vector<std::vector<float>> outputs;
    for (const Tensor& t : expected) outputs.emplace_back(stored(t, layout).size(), -77.0f);
    for (const StridedCopy& copy : *copies) {
      const StridedCopy carried = rearranged ? simplified(in_output_order(copy)) : copy;
      const Tensor& input = data.tensors[static_cast<size_t>(copy.input)];
      carry_out(carried, stored(input, layout), outputs[static_cast<size_t>(copy.output)]);
    }
    for (size_t i = 0; i < expected.size(); ++i)
      EXPECT_EQ(outputs[i], stored(expected[i], layout)) << "rearranged: " << rearranged;
  }
}

TEST(StridedCopies, MoveWhatTheReferenceMovesForEveryProblemOfTheList) {
  int checked = 0;
  for (const ProblemRow& row : conformance_problems()) {
    const Problem p = problem_of(std::string(row.text));
    if (!moves_elements(p) || p.inputs[0].type.type != DataType::float32) continue;
    SCOPED_TRACE(row.name);
    expect_copies(p, kLinear, 1);
    const bool any_layout = !is_one_of<Transpose, Expand, Tile>(p);
    if (any_layout && output_dims(p).size() >= 3) expect_copies(p, kLast, 2);
    ++checked;
  }
  EXPECT_GE(checked, 12);
}

TEST(StridedCopies, JoinAndCutBlockedTensorsAlongAnyAxis) {
  expect_copies(problem_of("concat axis=1 | float32[2x8x3x2] float32[2x24x3x2]"), kBlocked, 3);
  expect_copies(problem_of("concat axis=0 | float32[2x8x3x2] float32[1x8x3x2]"), kBlocked, 4);
  expect_copies(problem_of("concat axis=-1 | float32[2x16x3x2] float32[2x16x3x5]"), kBlocked, 5);
  expect_copies(problem_of("split axis=1 sizes=[16,8] | float32[2x24x3x2]"), kBlocked, 6);
  expect_copies(problem_of("split axis=2 sizes=[1,3] | float32[2x8x4x2]"), kBlocked, 7);
}

TEST(StridedCopies, LeaveOutPartsWithoutElements) {
  const auto copies = read_copies(problem_of("concat axis=0 | float32[0x3] float32[2x3]"), kLinear);
  ASSERT_TRUE(copies.ok());
  ASSERT_EQ(copies->size(), 1u);
  EXPECT_EQ((*copies)[0].input, 1);
  EXPECT_EQ((*copies)[0].out_offset, 0);
}

// ONNX's slices: negative positions, ends past the tensor, steps of either sign, axes in any order.
TEST(StridedCopies, TakeTheSlicesThatTheReferenceTakes) {
  SCOPED_TRACE("ENGINERY_TEST_SEED=" + std::to_string(test_seed()));
  std::mt19937_64 random(test_seed());
  const auto any = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  int sliced = 0;
  for (int i = 0; i < 400; ++i) {
    const int64_t first = any(0, 1);
    std::string list[4];  // starts, ends, axes, steps
    for (int64_t k = 0; k < 2; ++k) {
      const int64_t values[] = {any(-9, 9), any(-12, 12), k == 0 ? first : 1 - first,
                                any(0, 1) ? any(1, 4) : any(-4, -1)};
      for (size_t l = 0; l < 4; ++l) list[l] += (k ? "," : "") + std::to_string(values[l]);
    }
    std::string text = "slice | float32[5x7x3]";
    for (const std::string& values : list) text += " int64[2]={" + values + "}";
    const Problem p = problem_of(text);
    if (volume(output_dims(p)) == 0) continue;
    SCOPED_TRACE(text);
    expect_copies(p, kLinear, static_cast<uint64_t>(i));
    expect_copies(p, kLast, static_cast<uint64_t>(i));
    ++sliced;
  }
  EXPECT_GT(sliced, 50);
}

TEST(StridedCopies, RefuseWhatTheyDoNotKnow) {
  const auto refused = [](const char* text, const Layout& layout) {
    const auto copies = read_copies(problem_of(text), layout);
    return copies.ok() ? "" : copies.error().message;
  };
  EXPECT_NE(refused("act kind=relu | float32[2x3]", kLinear), "");
  EXPECT_NE(refused("transpose permutation=[0,2,1] | float32[2x3x4]", kLast), "");
  EXPECT_NE(refused("slice | float32[1x8x2x2] int64[1]={0} int64[1]={1}", kBlocked), "");
  EXPECT_NE(refused("concat axis=1 | float32[2x3] float32[2x3] | act kind=relu", kLinear), "");
  // Bounds that another node computes.
  Problem computed = problem_of("slice | float32[6x5] int64[1]={1} int64[1]={3}");
  computed.inputs[1].value.reset();
  const auto copies = read_copies(computed, kLinear);
  ASSERT_FALSE(copies.ok());
  EXPECT_EQ(copies.error().code, ErrorCode::unsupported);
}

TEST(SimplifiedCopies, HaveNoLoopThatAnotherCouldTake) {
  const Problem p = problem_of("concat axis=1 | float32[4x2x3x5] float32[4x1x3x5]");
  const auto copies = read_copies(p, kLinear).value();
  const StridedCopy simple = simplified(copies[0]);
  ASSERT_EQ(simple.loops.size(), 2u);  // images apart; a part of one is contiguous on both sides
  EXPECT_EQ(simple.loops[1].extent, 30);
  EXPECT_EQ(simple.loops[0].out_stride, 45);
  const StridedCopy one = simplified(reformat_copy({1, 1, 1}, kLinear, kLast));
  ASSERT_EQ(one.loops.size(), 1u);
  EXPECT_EQ(one.loops[0].extent, 1);
}

StridedCopy copy_of(const Dims& extents, const Dims& in, const Dims& out) {
  StridedCopy copy;
  for (size_t i = 0; i < extents.size(); ++i) copy.loops.push_back({extents[i], in[i], out[i]});
  return copy;
}

TEST(SimplifiedCopies, JoinWhatRunsOnInBothPlaces) {
  const StridedCopy copy = simplified(copy_of({2, 1, 3, 4}, {24, 9, 4, 1}, {12, 7, 4, 1}));
  ASSERT_EQ(copy.loops.size(), 2u);
  EXPECT_EQ(copy.loops[0].in_stride, 24);
  EXPECT_EQ(copy.loops[0].out_stride, 12);
  EXPECT_EQ(copy.loops[1].extent, 12);
  EXPECT_EQ(copy.loops[1].in_stride, 1);
  EXPECT_EQ(elements_of(copy), 24);
  EXPECT_EQ(simplified(copy_of({1, 1}, {5, 5}, {5, 5})).loops.size(), 1u);
}

TEST(CopyPieces, AreOf16BytesOnlyWhereBothSidesAllowIt) {
  const CopyPieces wide = widest_pieces(copy_of({3, 8}, {16, 1}, {8, 1}), 2);
  EXPECT_EQ(wide.bytes, 16);
  ASSERT_EQ(wide.copy.loops.size(), 2u);
  EXPECT_EQ(wide.copy.loops[0].in_stride, 2);
  EXPECT_EQ(wide.copy.loops[0].out_stride, 1);
  EXPECT_EQ(wide.copy.loops[1].extent, 1);
  EXPECT_EQ(wide.copy.loops[1].in_stride, 1);
  EXPECT_EQ(widest_pieces(copy_of({3, 8}, {12, 1}, {8, 1}), 2).bytes, 2) << "rows 12 apart";
  EXPECT_EQ(widest_pieces(copy_of({3, 6}, {16, 1}, {8, 1}), 2).bytes, 2) << "6 elements";
  EXPECT_EQ(widest_pieces(copy_of({3, 8}, {16, 2}, {8, 1}), 2).bytes, 2) << "every other element";
  StridedCopy shifted = copy_of({3, 8}, {16, 1}, {8, 1});
  shifted.in_offset = 4;
  EXPECT_EQ(widest_pieces(shifted, 2).bytes, 2) << "begins in the middle of a piece";
}

TEST(ReformatCopies, MoveEveryElementToItsPlace) {
  std::mt19937_64 random(11);
  const Dims dims{2, 16, 3, 5};
  Tensor x(DataType::float32, dims);
  for (float& v : x.mutable_data<float>()) v = std::uniform_real_distribution<float>()(random);
  for (const Layout& from : {kLinear, kLast, kBlocked}) {
    for (const Layout& to : {kLinear, kLast, kBlocked}) {
      std::vector<float> out(static_cast<size_t>(x.size()), -77.0f);
      carry_out(simplified(in_output_order(reformat_copy(dims, from, to))), stored(x, from), out);
      EXPECT_EQ(out, stored(x, to)) << to_string(from) << " to " << to_string(to);
    }
  }
}

// A view is right exactly where the input's storage, read as the output, is the reference's result.
TEST(Views, AreWhereReadingTheStorageGivesTheResult) {
  int views = 0;
  for (const char* text :
       {"reshape | float32[1x12x4x4] int64[2]={1,-1}",
        "reshape | float32[1x6x5x8] int64[3]={1,-1,2}", "flatten axis=1 | float32[1x40x1x1]",
        "reshape | float32[2x3x4x5] int64[3]={2,3,20}",
        "reshape | float32[2x3x20] int64[5]={2,3,2,2,5}",
        "reshape | float32[2x3x4x5] int64[4]={2,4,3,5}",
        "squeeze | float32[1x40x1x1] int64[2]={2,3}", "unsqueeze | float32[2x5] int64[1]={0}",
        "identity | float32[2x3x4x5]", "transpose permutation=[0,2,3,1] | float32[2x3x4x5]",
        "transpose permutation=[0,3,1,2] | float32[2x3x4x5]",
        "transpose permutation=[1,0] | float32[1x7]", "transpose permutation=[1,0] | float32[6x7]",
        "transpose permutation=[0,2,1,3] | float32[2x1x4x5]",
        "transpose permutation=[0,3,2,1] | float32[2x4x1x5]", "transpose | float32[3x4x5]"}) {
    const Problem p = problem_of(text);
    SCOPED_TRACE(text);
    std::mt19937_64 random(5);
    ProblemData data;
    fill_random(p, random, data);
    const Tensor expected = run_problem_reference(p, data.inputs).value()[0];
    for (const Layout& from : {kLinear, kLast}) {
      for (const Layout& to : {kLinear, kLast}) {
        const bool fits = (from == kLinear || input_dims(p, 0).size() >= 3) &&
                          (to == kLinear || output_dims(p).size() >= 3);
        if (!fits || !is_view(p, from, to)) continue;
        EXPECT_EQ(stored(data.tensors[0], from), stored(expected, to));
        ++views;
      }
    }
  }
  EXPECT_GE(views, 19);
}

TEST(Views, AreRecognisedWhereLayoutsTurnATransposeIntoNothing) {
  const Problem to_last = problem_of("transpose permutation=[0,2,3,1] | float32[2x3x4x5]");
  EXPECT_TRUE(is_view(to_last, kLast, kLinear));
  EXPECT_FALSE(is_view(to_last, kLinear, kLinear));
  const Problem identity = problem_of("identity | float32[2x8x4x5]");
  EXPECT_TRUE(is_view(identity, kBlocked, kBlocked));
  EXPECT_FALSE(is_view(identity, kLinear, kLast));
  EXPECT_FALSE(is_view(problem_of("reshape | float32[1x12x4x4] int64[2]={1,-1}"), kLast, kLinear));
  const Problem plane = problem_of("reshape | float32[2x8x4x5] int64[3]={2,8,20}");
  EXPECT_TRUE(is_view(plane, kLast, kLast));
  EXPECT_FALSE(is_view(plane, kLast, kLinear));
  EXPECT_FALSE(is_view(problem_of("reshape | float32[2x8x4x5] int64[4]={2,4,8,5}"), kLast, kLast));
}

TEST(Views, AreNeitherWeightsNorFusedNorReformats) {
  EXPECT_FALSE(is_view(problem_of("identity | w:float32[2x3]"), kLinear, kLinear));
  EXPECT_FALSE(is_view(problem_of("identity | float32[2x3] | act kind=relu"), kLinear, kLinear));
  EXPECT_FALSE(is_view(problem_of("act kind=relu | float32[2x3]"), kLinear, kLinear));
  const TensorType type{DataType::float32, {1, 4, 2, 2}};
  EXPECT_FALSE(is_view(reformat_problem(type, {}, {}), kLinear, kLinear));
}

TEST(TransposedAxes, AreReversedWhereThePermutationIsLeftOut) {
  EXPECT_EQ(transposed_axes({}, 3), (std::vector<size_t>{2, 1, 0}));
  EXPECT_EQ(transposed_axes(Transpose{{1, 0, 2}}, 3), (std::vector<size_t>{1, 0, 2}));
}

}  // namespace
}  // namespace enginery
