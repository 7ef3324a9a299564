// Epilogues carried out step by step as GPU code reads their operands, against the reference; and
// which operands have such a reading.
#include "engine/tactics/shapes/epilogue.h"

#include "engine/device/format_convert.h"
#include "engine/tactics/shapes/conv_shape.h"
#include "tests/engine/tactics/shapes/by_definition.h"
#include "tests/support/comparison.h"

namespace enginery {
namespace {

using test::element;
using test::Example;
using test::problem_of;

EpilogueFrame channels_last_frame(const Dims& dims) {
  EpilogueFrame frame = frame_in_order(dims, DataType::float32);
  frame.channel_axis = 1;
  frame.padded = dims[1];
  frame.format = {DataType::float32, {LayoutKind::channels_last, 0}};
  return frame;
}

// One output element: where it lies, and what kernels call its image and its channel.
struct Element {
  int64_t index, image, k;
};

// The operand as the tactic gets it: constants in their own order, others in the wanted format.
std::vector<float> stored(const Example& example, const EpilogueSource& source,
                          const EpilogueFrame& frame) {
  const Tensor& tensor = example.data.tensors[static_cast<size_t>(source.input)];
  const bool whole = source.access == OperandAccess::same;
  const Format format = source.constant && !whole ? Format{} : wanted_format(source, frame);
  const Tensor placed = whole ? tensor.reshaped(frame.dims) : tensor;
  std::vector<float> out(static_cast<size_t>(physical_bytes(placed.dims(), format)) / 4);
  to_physical(placed, format, out.data());
  return out;
}

float operand_at(const EpilogueSource& source, const std::vector<float>& values,
                 const EpilogueFrame& frame, const Element& at) {
  switch (source.access) {
    case OperandAccess::channel:
      return source.scale * element(values, at.k);
    case OperandAccess::same:
      return source.scale * element(values, at.index);
    case OperandAccess::image_channel:
      return element(values, at.image * frame.padded + at.k);
    case OperandAccess::single:
      return source.scale * element(values, 0);
    case OperandAccess::broadcast:
      return element(values, test::place(source.strides, at.index));
  }
  return 0;
}

// The anchor's result after the steps, in the logical order.
Tensor carried_out(const Example& example, const Tensor& anchor, const LoweredEpilogue& epilogue) {
  const EpilogueFrame& frame = epilogue.frame;
  std::vector<std::vector<float>> operands;
  for (const EpilogueSource& source : epilogue.sources)
    operands.push_back(stored(example, source, frame));
  const Placement placement(frame.dims, frame.format.layout);
  const Dims strides = strides_of(frame.dims);
  Tensor out = anchor;
  auto values = out.mutable_data<float>();
  for (int64_t i = 0; i < out.size(); ++i) {
    const auto axis = static_cast<size_t>(frame.channel_axis);
    const Element at{placement.offset(i), i / strides[0], i / strides[axis] % frame.dims[axis]};
    float& v = values[static_cast<size_t>(i)];
    for (const FusedStep& step : epilogue.code.steps) {
      if (step.kind == FusedStepKind::activation) {
        v = activate(step.activation, v);
        continue;
      }
      const auto slot = static_cast<size_t>(step.slot);
      const float u = operand_at(epilogue.sources[slot], operands[slot], frame, at);
      v = step.kind == FusedStepKind::multiply ? v * u : v + u;
    }
  }
  return out;
}

// The problem by its anchor's reference and its lowered epilogue.
void expect_carried_out(const Problem& problem, const Result<LoweredEpilogue>& epilogue) {
  ASSERT_TRUE(epilogue.ok()) << epilogue.error().message;
  const Example example(problem);
  const Problem anchor = test::without_epilogue(problem);
  std::vector<const Tensor*> inputs(example.data.inputs.begin(),
                                    example.data.inputs.begin() + problem.anchor_inputs);
  const Tensor before = run_problem_reference(anchor, inputs).value()[0];
  expect_close(carried_out(example, before, *epilogue), example.expected(), 1e-5);
}

TEST(LoweredEpilogue, GivesWhatTheReferenceGivesAfterEveryConvolutionOfTheList) {
  int checked = 0;
  for (const ProblemRow& row : conformance_problems()) {
    const Problem problem = problem_of(row.text);
    const auto shape = conv_shape(problem);
    if (!shape.ok() || problem.epilogue.empty() || shape->flops() > 3e7) continue;
    ConvShape without_bias = *shape;
    without_bias.bias = {};
    const auto epilogue = lower_conv_epilogue(problem, without_bias, DataType::float32);
    if (!epilogue.ok()) continue;
    SCOPED_TRACE(row.name);
    expect_carried_out(problem, epilogue);
    ++checked;
  }
  EXPECT_GE(checked, 25);
}

TEST(LoweredEpilogue, ReadsEveryBroadcastInEitherLayout) {
  for (const char* operand :
       {"float32[2x8x3x4]", "w:float32[2x8x3x4]", "float32[2x8x1x1]", "float32[1x8x1x1]",
        "w:float32[8x1x1]", "float32[8x3x1]", "w:float32[4]", "float32[3x4]", "float32[1x1x3x1]",
        "w:float32[2x1x1x4]", "float32[1]", "w:float32[1]", "float32[2x1x3x4]"}) {
    const Problem problem =
        problem_of("act kind=tanh | float32[2x8x3x4] | multiply " + std::string(operand) +
                   " | act kind=sigmoid | add " + operand);
    SCOPED_TRACE(operand);
    expect_carried_out(problem, lower_epilogue(problem, frame_in_order({2, 8, 3, 4}, {})));
    expect_carried_out(problem, lower_epilogue(problem, channels_last_frame({2, 8, 3, 4})));
  }
}

TEST(LoweredEpilogue, ReadsOperandsBesideTensorsOfAnyRank) {
  for (const char* text : {"act kind=relu | float32[6] | add float32[6]",
                           "act kind=relu | float32[6] | add w:float32[1]",
                           "act kind=relu | float32[5x6] | multiply float32[5x1]",
                           "act kind=relu | float32[2x1x5x1x6] | add float32[5x1x1]",
                           "act kind=relu | float32[2x3x4x5x6] | add w:float32[3x1x5x1]"}) {
    const Problem problem = problem_of(text);
    SCOPED_TRACE(text);
    expect_carried_out(problem, lower_epilogue(problem, frame_in_order(output_dims(problem), {})));
  }
}

TEST(LoweredEpilogue, WritesZerosOnlyWhereChannelsArePadded) {
  const Problem problem = problem_of("act kind=relu | float32[1x5x2x2] | act kind=tanh");
  EpilogueFrame frame{{1, 5, 2, 2}, 1, 5, {DataType::float16, {LayoutKind::channels_last, 0}}, {}};
  EXPECT_FALSE(lower_epilogue(problem, frame)->code.zero_padding);
  frame.padded = 8;
  const LoweredEpilogue lowered = lower_epilogue(problem, frame).value();
  EXPECT_TRUE(lowered.code.zero_padding);
  EXPECT_EQ(lowered.code.output, DataType::float16);
  EXPECT_TRUE(lowered.sources.empty());
  EXPECT_EQ(lowered.code.steps.at(0).slot, -1);
}

TEST(LoweredEpilogue, HasSixSlots) {
  std::string text = "act kind=relu | float32[1x8x2x2]";
  const auto lowered = [&] {
    return lower_epilogue(problem_of(text), channels_last_frame({1, 8, 2, 2}));
  };
  for (int i = 0; i < 6; ++i) text += " | add float32[1x8x2x2]";
  EXPECT_EQ(lowered()->sources.size(), 6u);
  text += " | multiply float32[1x8x2x2]";
  ASSERT_FALSE(lowered().ok());
  EXPECT_EQ(lowered().error().message, "more than 6 epilogue operands");
}

TEST(LoweredEpilogue, TakesAsTheAnchorsBiasOnlyConstantsOfOneValueAChannelOrOneAlone) {
  const auto lowered = [](const std::string& c) {
    const Problem problem = problem_of("gemm beta=2 | float32[3x4] w:float32[4x5] " + c);
    return lower_epilogue(problem, frame_in_order({3, 5}, {}), {2, 2});
  };
  EXPECT_EQ(lowered("w:float32[5]")->sources.at(0).access, OperandAccess::channel);
  EXPECT_EQ(lowered("w:float32[5]")->sources.at(0).scale, 2);
  EXPECT_EQ(lowered("w:float32[1]")->sources.at(0).access, OperandAccess::single);
  for (const char* c : {"float32[5]", "w:float32[3x5]", "w:float32[3x1]"}) {
    ASSERT_FALSE(lowered(c).ok()) << c;
    EXPECT_EQ(lowered(c).error().message, "a bias that is no constant of one value a channel");
  }
}

TEST(LoweredEpilogue, NamesTheOperandThatItCannotRead) {
  const Problem problem = problem_of(
      "conv strides=[1,1] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] | float32[2x8x4x4] "
      "w:float32[8x8x1x1] | add float32[2x1x4x4]");
  const auto lowered = lower_conv_epilogue(problem, conv_shape(problem).value(), DataType::float32);
  ASSERT_FALSE(lowered.ok());
  EXPECT_EQ(lowered.error().code, ErrorCode::unsupported);
  EXPECT_EQ(lowered.error().message, "an epilogue operand float32[2x1x4x4] beside 2x8x4x4");
}

// How an operand is read beside float32[2x8x3x4], channels last, without and with broadcasts.
std::string access_of(TensorDesc desc, bool broadcasts, int64_t images = 2) {
  EpilogueFrame frame = channels_last_frame({images, 8, 3, 4});
  frame.broadcasts = broadcasts;
  const auto source = classify_operand(1, desc, frame);
  constexpr const char* kNames[] = {"channel", "same", "image_channel", "single", "broadcast"};
  return source ? kNames[static_cast<size_t>(source->access)] : "none";
}

TEST(OperandAccess, FollowsFromDimsAndWhetherTheOperandIsConstant) {
  const struct {
    const char* dims;
    const char *constant, *given;  // without broadcasts
    bool repeats;                  // with broadcasts: read in some way
  } rows[] = {
      {"float32[2x8x3x4]", "same", "same", true},
      {"float32[8x1x1]", "channel", "none", true},
      {"float32[1x8x1x1]", "channel", "none", true},
      {"float32[2x8x1x1]", "none", "image_channel", true},
      {"float32[1]", "single", "none", true},
      {"float32[1x1x1x1]", "single", "none", true},
      {"float32[4]", "none", "none", true},
      {"float32[8x3x4]", "none", "none", true},
      {"float32[2x8x3x2]", "none", "none", false},
      {"float32[8]", "none", "none", false},
      {"float32[1x2x8x3x4]", "none", "none", false},
      {"int32[2x8x3x4]", "none", "none", false},
  };
  for (const auto& row : rows) {
    TensorDesc desc = problem_of("identity | " + std::string(row.dims)).inputs[0];
    EXPECT_EQ(access_of(desc, false), row.given) << row.dims;
    EXPECT_EQ(access_of(desc, true) != "none", row.repeats) << row.dims;
    desc.constant = true;
    EXPECT_EQ(access_of(desc, false), row.constant) << row.dims;
    EXPECT_EQ(access_of(desc, true) != "none", row.repeats) << row.dims;
  }
}

// One image's channels have an image's pitch only where the operand has an image dimension.
TEST(OperandAccess, OfOneImageNeedsTheImageDimension) {
  EXPECT_EQ(access_of(problem_of("identity | float32[1x8x1x1]").inputs[0], false, 1),
            "image_channel");
  EXPECT_EQ(access_of(problem_of("identity | float32[8x1x1]").inputs[0], false, 1), "none");
}

TEST(OperandAccess, OfAnAbsentOperandIsNone) {
  TensorDesc desc = problem_of("identity | float32[2x8x3x4]").inputs[0];
  desc.present = false;
  EXPECT_EQ(access_of(desc, true), "none");
}

TEST(WantedFormat, IsTheOutputsButForBroadcasts) {
  const EpilogueFrame frame = channels_last_frame({2, 8, 3, 4});
  EpilogueSource source;
  for (OperandAccess access : {OperandAccess::same, OperandAccess::image_channel}) {
    source.access = access;
    EXPECT_EQ(wanted_format(source, frame), frame.format);
  }
  source.access = OperandAccess::broadcast;
  EXPECT_EQ(to_string(wanted_format(source, frame)), "float32:linear");
  const Problem problem = problem_of(
      "act kind=relu | float32[2x8x3x4] | add float32[2x8x3x4] | add w:float32[8x1x1] | "
      "add float32[4]");
  Tactic tactic;
  tactic.inputs.resize(4);
  want_operands(lower_epilogue(problem, frame).value(), tactic);
  EXPECT_EQ(tactic.inputs[1], frame.format);
  EXPECT_EQ(tactic.inputs[2], Format{}) << "a constant is packed, in no format of the tactic's";
  EXPECT_EQ(to_string(tactic.inputs[3]), "float32:linear");
}

}  // namespace
}  // namespace enginery
