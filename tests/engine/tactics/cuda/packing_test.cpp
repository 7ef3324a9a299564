// Constants as kernels read them: each family's packed weights, element by element, out of the
// plans that it makes.
#include <cstring>
#include <numeric>

#include "engine/tactics/cuda/kernel/conv_launch.h"
#include "engine/tactics/cuda/kernel/resample/args.h"
#include "tests/engine/tactics/cuda/card.h"

namespace enginery {
namespace {

using test::Card;
using test::problem_of;

// The weights 1, 2, 3, ... of the problem's input 1.
struct Counting {
  explicit Counting(const Problem& problem) : weights(DataType::float32, input_dims(problem, 1)) {
    auto values = weights.mutable_data<float>();
    std::iota(values.begin(), values.end(), 1.0f);
    inputs.assign(problem.inputs.size(), nullptr);
    inputs[1] = &weights;
  }
  Tensor weights;
  std::vector<const Tensor*> inputs;
};

std::vector<float> floats(const Bytes& bytes, DataType type = DataType::float32) {
  Tensor packed(type, {static_cast<int64_t>(bytes.size()) / element_bytes(type)});
  std::memcpy(packed.mutable_bytes(), bytes.data(), bytes.size());
  const Tensor values = convert(packed, DataType::float32);
  return {values.data<float>().begin(), values.data<float>().end()};
}

// The weights as the plan of the tactic packs them.
std::vector<float> packed_by(const std::string& text, const std::string& id,
                             DataType type = DataType::float32) {
  const Card card;
  const Problem problem = problem_of(text);
  for (const Tactic& tactic : card.offers(problem)) {
    if (tactic.id != id || tactic.inputs[0].type != type) continue;
    const KernelPlan plan = plan_kernel(problem, tactic, card.context).value();
    const DataType stored =
        id.starts_with("gemv") || id.starts_with("conv_simt") || id.starts_with("conv_mma")
            ? type
            : DataType::float32;
    return floats(plan.constants.at(0)(Counting(problem).inputs), stored);
  }
  ADD_FAILURE() << id << " is not offered";
  return {};
}

std::string convolution_of(const std::string& operands, const std::string& attributes = "") {
  return "conv strides=[1,1] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] " + attributes +
         " | " + operands;
}

TEST(PackedWeights, OfDepthwiseRunAlongTheChannelsWithTheirPadding) {
  const auto packed = packed_by(convolution_of("float32[1x3x5x5] w:float32[3x1x2x2]", "groups=3"),
                                "depthwise/strip1");
  ASSERT_EQ(packed.size(), 4u * 8);
  for (size_t tap = 0; tap < 4; ++tap) {
    for (size_t c = 0; c < 8; ++c)
      EXPECT_EQ(packed[tap * 8 + c], c < 3 ? static_cast<float>(c * 4 + tap + 1) : 0.0f);
  }
}

TEST(PackedWeights, OfDirectConvolutionsRunAlongTheOutputChannels) {
  const auto packed = packed_by(convolution_of("float32[1x4x5x5] w:float32[6x2x1x3]", "groups=2"),
                                "conv_direct/any");
  ASSERT_EQ(packed.size(), 36u);
  for (size_t s = 0; s < 3; ++s) {
    for (size_t c = 0; c < 2; ++c) {
      for (size_t k = 0; k < 6; ++k)
        EXPECT_EQ(packed[(s * 2 + c) * 6 + k], static_cast<float>((k * 2 + c) * 3 + s + 1));
    }
  }
}

// [C][K/groups][r][s] of the model as [r][s][c of the group][k with its padding].
TEST(PackedWeights, OfTransposedConvolutionsGatherByOutputChannel) {
  const auto packed = packed_by(
      "deconv strides=[2,2] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] output_padding=[0,0] "
      "groups=2 | float32[1x4x3x3] w:float32[4x3x1x2]",
      "deconv/gather");
  ASSERT_EQ(packed.size(), 2u * 2 * 8) << "6 channels in rows of 8";
  for (size_t s = 0; s < 2; ++s) {
    for (size_t c = 0; c < 2; ++c) {
      for (size_t k = 0; k < 8; ++k) {
        const size_t from = ((k / 3 * 2 + c) * 3 + k % 3) * 2 + s;
        EXPECT_EQ(packed[(s * 2 + c) * 8 + k], k < 6 ? static_cast<float>(from + 1) : 0.0f);
      }
    }
  }
}

TEST(PackedWeights, OfFewRowsAreOneRowAnOutput) {
  const auto product = packed_by("matmul | float32[2x3] w:float32[3x4]", "gemv/rows1");
  ASSERT_EQ(product.size(), 12u);
  for (size_t k = 0; k < 4; ++k) {
    for (size_t c = 0; c < 3; ++c) EXPECT_EQ(product[k * 3 + c], static_cast<float>(c * 4 + k + 1));
  }
  const auto pixel = packed_by(convolution_of("float32[2x3x1x1] w:float32[8x3x1x1]"), "gemv/rows1",
                               DataType::float16);
  ASSERT_EQ(pixel.size(), 8u * 8) << "3 channels in rows of 8";
  for (size_t k = 0; k < 8; ++k) {
    for (size_t c = 0; c < 8; ++c)
      EXPECT_EQ(pixel[k * 8 + c], c < 3 ? static_cast<float>(k * 3 + c + 1) : 0.0f);
  }
}

// A stem's K runs on over (r, s, c) without gaps between filter places.
TEST(PackedWeights, OfAFlatFilterHaveNoGapsBetweenItsPlaces) {
  const auto packed =
      packed_by(convolution_of("float32[1x3x9x9] w:float32[8x3x3x3]"), "conv_simt/64x64x16");
  const size_t pitch = 80;  // 9 places of 8 channels in steps of 16
  ASSERT_EQ(packed.size(), 64u * pitch);
  for (size_t k = 0; k < 64; ++k) {
    for (size_t i = 0; i < pitch; ++i) {
      const size_t place = i / 8, c = i % 8;
      const bool there = k < 8 && place < 9 && c < 3;
      EXPECT_EQ(packed[k * pitch + i],
                there ? static_cast<float>((k * 3 + c) * 9 + place + 1) : 0.0f)
          << k << ", " << i;
    }
  }
}

// What tensor cores would cut off is rounded on the host: to 10 bits of mantissa.
TEST(PackedWeights, OfTf32AreRoundedToNearest) {
  ConvShape shape;
  shape.c = shape.k = 8;
  Tensor weights(DataType::float32, {8, 8, 1, 1});
  auto values = weights.mutable_data<float>();
  std::ranges::fill(values, 0.0f);
  const float cases[] = {1.0f,
                         1.0f + 0x1p-11f,
                         1.0f + 0x1p-12f,
                         -(1.0f + 0x1.8p-11f),
                         std::numeric_limits<float>::infinity(),
                         0x1.fffffep+126f,
                         0x1p-140f};
  std::copy(std::begin(cases), std::end(cases), values.begin());
  const std::vector<const Tensor*> inputs{nullptr, &weights};
  const auto packed = floats(pack_filter(shape, DataType::float32, 8, 8, true)(inputs));
  const float expected[] = {
      1.0f,      1.0f + 0x1p-10f, 1.0f, -(1.0f + 0x1p-10f), std::numeric_limits<float>::infinity(),
      0x1p+127f, 0x1p-140f};
  for (size_t i = 0; i < std::size(cases) - 1; ++i) EXPECT_EQ(packed[i], expected[i]) << i;
  EXPECT_EQ(floats(pack_filter(shape, DataType::float32, 8, 8, false)(inputs))[1], cases[1]);
}

TEST(OperandSlots, PackConstantsAndKnownValuesButNotWhatIsGiven) {
  const Problem problem = problem_of("gather axis=0 | w:float32[4x2] int64[3]={2,0,1}");
  KernelPlan plan;
  const PointerSlot data = operand_slot(problem, 0, DataType::float16, 8, plan),
                    indices = operand_slot(problem, 1, DataType::int64, 16, plan);
  EXPECT_EQ(data.source, PointerSource::constant);
  EXPECT_EQ(indices.source, PointerSource::constant);
  EXPECT_EQ(indices.offset, 16u);
  ASSERT_EQ(plan.constants.size(), 2u);
  Tensor table(DataType::float32, {4, 2});
  std::ranges::fill(table.mutable_data<float>(), 1.5f);
  const std::vector<const Tensor*> weights{&table, nullptr};
  EXPECT_EQ(plan.constants[0](weights).size(), 16u) << "halfs";
  EXPECT_EQ(plan.constants[1](weights), bytes_of_values(std::vector<int64_t>{2, 0, 1}));
  const Problem given = problem_of("gather axis=0 | float32[4x2] int64[3]");
  EXPECT_EQ(operand_slot(given, 1, DataType::int64, 0, plan).source, PointerSource::input);
  EXPECT_EQ(plan.constants.size(), 2u);
}

TEST(PackedOperands, LieAsTheKernelReadsThem) {
  Tensor values(DataType::float32, {1, 3, 1, 2});
  std::iota(values.mutable_data<float>().begin(), values.mutable_data<float>().end(), 1.0f);
  const std::vector<const Tensor*> weights{&values};
  const EpilogueFrame frame{
      {1, 3, 1, 2}, 1, 8, {DataType::float16, {LayoutKind::channels_last, 8}}, false};
  EpilogueSource source{OperandAccess::same, 0, true, 2, {}};
  EXPECT_EQ(floats(pack_operand(source, frame)(weights), DataType::float16),
            (std::vector<float>{2, 6, 10, 0, 0, 0, 0, 0, 4, 8, 12, 0, 0, 0, 0, 0}));
  source.access = OperandAccess::broadcast;
  EXPECT_EQ(floats(pack_operand(source, frame)(weights)), (std::vector<float>{2, 4, 6, 8, 10, 12}))
      << "float32, in its own order";
  const Tensor one = Tensor::of<float>({1}, {3});
  const std::vector<const Tensor*> single{&one};
  source.access = OperandAccess::single;
  EXPECT_EQ(floats(pack_operand(source, frame)(single)), std::vector<float>{6});
}

// Rows of a table are as long as its longest: shorter ones end in weights of zero.
TEST(ResampleTables, HaveRowsOfOneLengthThatSumToOne) {
  const Card card;
  for (const char* text :
       {"resize mode=linear coordinates=half_pixel | float32[1x8x5x7] _ int64[4]={1,8,11,14}",
        "resize mode=linear coordinates=half_pixel antialias=true | float32[1x8x12x10] _ "
        "int64[4]={1,8,5,4}",
        "resize mode=cubic coordinates=half_pixel | float32[1x8x6x5] _ int64[4]={1,8,9,13}"}) {
    const Problem problem = problem_of(text);
    const Tactic tactic = card.offers(problem).at(0);
    const KernelPlan plan = plan_kernel(problem, tactic, card.context).value();
    const std::map<std::string, std::string> macros(plan.program.macros.begin(),
                                                    plan.program.macros.end());
    const Bytes bytes = plan.constants.at(0)({});
    std::vector<gpu::ResampleTap> taps(bytes.size() / sizeof(gpu::ResampleTap));
    std::memcpy(taps.data(), bytes.data(), bytes.size());
    const int64_t volume_in = volume(input_dims(problem, 0));
    for (int dim = 0; dim < 2; ++dim) {
      const size_t first = std::stoul(macros.at("FIRST_" + std::to_string(dim))),
                   count = std::stoul(macros.at("TAPS_" + std::to_string(dim)));
      const auto rows = static_cast<size_t>(output_dims(problem)[dim == 0 ? 3 : 2]);
      ASSERT_LE(first + rows * count, taps.size()) << text;
      for (size_t row = 0; row < rows; ++row) {
        float sum = 0;
        for (size_t i = 0; i < count; ++i) {
          const gpu::ResampleTap& tap = taps[first + row * count + i];
          EXPECT_GE(tap.at, 0);
          EXPECT_LT(tap.at, volume_in);
          sum += tap.weight;
        }
        EXPECT_NEAR(sum, 1, 1e-5) << text << " row " << row;
      }
    }
  }
}

}  // namespace
}  // namespace enginery
