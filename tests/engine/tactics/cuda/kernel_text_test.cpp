// The text that kernels are compiled from, and the copies that copy.cuh runs.
#include <gtest/gtest.h>

#include <cstdio>
#include <limits>

#include "engine/tactics/cuda/kernel/text/epilogue_text.h"
#include "engine/tactics/cuda/kernel/text/program.h"
#include "engine/tactics/shapes/reading.h"

namespace enginery {
namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(KernelProgram, PutsArgumentsAndMacrosBeforeFunctionsBeforeFiles) {
  KernelProgram program;
  program.define("ROWS", 4);
  program.define("TX", "float");
  program.functions = "GENERATED\n";
  program.files = {"gemv/args.h", "gemv/gemv.cuh"};
  const std::string text = program_text(program);
  const size_t divisor = text.find("struct Divisor"), macro = text.find("#define ROWS 4\n"),
               generated = text.find("GENERATED"), args = text.find("struct GemvArgs"),
               kernel = text.find("kernel(const GemvArgs");
  EXPECT_LT(divisor, macro);
  EXPECT_LT(macro, generated);
  EXPECT_LT(generated, args);
  EXPECT_LT(args, kernel);
  EXPECT_NE(kernel, std::string::npos);
  EXPECT_EQ(text, program_text(program));
}

TEST(KernelText, HasNoIncludesAndNoPragmaOnce) {
  for (const char* file : {"text/args.h", "gemv/args.h", "resample/args.h", "copy/args.h"}) {
    const std::string text(kernel_text(file));
    ASSERT_FALSE(text.empty()) << file;
    EXPECT_FALSE(contains(text, "#include")) << file;
    EXPECT_FALSE(contains(text, "#pragma once")) << file;
  }
  EXPECT_TRUE(kernel_text("gemv/none.cuh").empty());
}

TEST(EpilogueText, RunsStepsInTheirOrder) {
  FusedEpilogue epilogue;
  epilogue.steps.push_back({FusedStepKind::add, {}, OperandAccess::channel, 0, {}});
  epilogue.steps.push_back(
      {FusedStepKind::activation, {.kind = ActivationKind::relu}, OperandAccess::same, -1, {}});
  epilogue.steps.push_back({FusedStepKind::multiply, {}, OperandAccess::same, 1, {}});
  epilogue.output = DataType::float16;
  const std::string text = epilogue_text(epilogue);
  const size_t add = text.find("args.operand[0]) + k"), relu = text.find("v[j] < 0 ? 0.0f : v[j]"),
               multiply = text.find("half_t*>(args.operand[1]) + index");
  EXPECT_LT(add, relu);
  EXPECT_LT(relu, multiply);
  EXPECT_NE(multiply, std::string::npos);
  EXPECT_TRUE(contains(text, "*= u[j]"));
  EXPECT_FALSE(contains(text, "k + j < channels"));
  epilogue.zero_padding = true;
  EXPECT_TRUE(contains(epilogue_text(epilogue), "k + j < channels ? v[j] : 0.0f"));
}

TEST(EpilogueText, WritesNumbersThatReadBackExactly) {
  Activation clip{.kind = ActivationKind::clip};
  clip.alpha = -0.1f;
  clip.beta = std::numeric_limits<float>::infinity();
  const std::string text = activation_text(clip, "x");
  float read = 0;
  ASSERT_EQ(std::sscanf(text.c_str(), "clip(x, (%af)", &read), 1) << text;
  EXPECT_EQ(read, -0.1f);
  EXPECT_TRUE(contains(text, "INFINITY"));
}

TEST(PlaceText, DividesByEachInnerSizeAndSkipsWhatRepeats) {
  BroadcastStrides strides;
  strides.append(3, 8);
  strides.append(5, 0);
  strides.append(4, 2);
  EXPECT_EQ(
      place_text("at_of", strides),
      "__device__ __forceinline__ unsigned at_of(unsigned rest) { unsigned at = 0; at += rest "
      "% 4u * 2u; rest /= 4u; rest /= 5u; at += rest * 8u; return at; }\n");
}

TEST(ElementTypes, HaveATextOrNone) {
  EXPECT_EQ(storage_type_text(DataType::float16), "half_t");
  EXPECT_EQ(storage_type_text(DataType::int32), "");
  EXPECT_EQ(element_type_text(DataType::boolean), "unsigned char");
  EXPECT_EQ(element_type_text(DataType::float64), "double");
  EXPECT_EQ(element_type_text(DataType::int16), "");
  EXPECT_EQ(unit_text(8), "unsigned long long");
  EXPECT_EQ(unit_text(16), "Bytes16");
}

TEST(LayoutStrides, PadChannelsOfChannelsLastTensors) {
  EXPECT_EQ(layout_strides({2, 5, 3, 4}, {LayoutKind::channels_last, 8}), (Dims{96, 1, 32, 8}));
  EXPECT_EQ(layout_strides({2, 5, 3, 4}, {}), (Dims{60, 12, 4, 1}));
}

}  // namespace
}  // namespace enginery
