// Problems of float16 and bfloat16 in front of the CPU sources that compute in float32.
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/device/sku_table.h"
#include "engine/tactics/cpu/reference/reference_source.h"
#include "engine/tactics/shapes/view.h"
#include "tests/support/comparison.h"
#include "tests/support/problem_list.h"
#include "tests/support/problem_text.h"
#include "tests/support/tactic_harness.h"

namespace enginery {
namespace {

struct WideningCpu {
  std::unique_ptr<Device> device;
  std::unique_ptr<Stream> stream;
  TacticSources sources;  // those that widen
  WideningCpu()
      : device(open_device(local_skus().front().name, {}).value()),
        stream(device->create_stream().value()),
        sources(make_tactic_sources(*device, {{"reference"}, {}}).value()) {}
};

Problem narrowed(Problem p, DataType to) {
  for (auto* descs : {&p.inputs, &p.outputs}) {
    for (TensorDesc& desc : *descs) {
      if (desc.type.type == DataType::float32) desc.type.type = to;
    }
  }
  return p;
}

Problem conformance_problem(std::string_view name) {
  for (const ProblemRow& row : conformance_problems()) {
    if (row.name == name) return parse_problem(row.text).value();
  }
  ADD_FAILURE() << "no problem is called " << name;
  return {};
}

bool is_wide(const Tactic& tactic) {
  return tactic.outputs[0].type == DataType::float32;
}

// Every tactic of the source with its values in float32; how many there were.
int expect_right(WideningCpu& cpu, const TacticSource& source, const Problem& problem,
                 DataType type) {
  const auto tactics = source.offer(problem, {Precision::fp32});
  if (!tactics.ok()) return 0;
  std::mt19937_64 random(3);
  ProblemData data;
  fill_random(problem, random, data);
  const auto expected = run_problem_reference(problem, data.inputs).value();
  const double rounding = type == DataType::float16 ? 0x1p-11 : 0x1p-8;
  int count = 0;
  for (const Tactic& tactic : *tactics) {
    if (!is_wide(tactic) || tactic.view_of >= 0) continue;
    SCOPED_TRACE(tactic_key(tactic));
    TacticRun run(*cpu.device, *cpu.stream);
    const Status prepared = run.prepare(source, problem, tactic, data, OperandPlace::separate);
    EXPECT_TRUE(prepared.ok()) << prepared.error().message;
    EXPECT_TRUE(run.launch().ok());
    const auto outputs = run.collect();
    EXPECT_TRUE(outputs.ok());
    if (outputs.ok()) expect_close(*outputs, expected, tolerance(tactic) + rounding);
    ++count;
  }
  return count;
}

TEST(Widening, TacticsOfNarrowProblemsGiveWhatTheReferenceGives) {
  WideningCpu cpu;
  for (const char* name :
       {"conv_3x3_relu", "conv_3x3_residual_relu", "conv_1x1_residual", "conv_stem_7x7", "cast",
        "mul_first_broadcast", "matmul_broadcast_batch"}) {
    for (const DataType type : {DataType::float16, DataType::bfloat16}) {
      SCOPED_TRACE(std::string(name) + " in " + std::string(to_string(type)));
      const Problem problem = narrowed(conformance_problem(name), type);
      int run = 0;
      for (const auto& source : cpu.sources) run += expect_right(cpu, *source, problem, type);
      EXPECT_EQ(run > 0, std::string_view(name) != "cast") << "a cast names its type";
    }
  }
}

// A layout changes between two widened layers: all bytes of the float32 values move.
TEST(Widening, ReformatsMoveWholeFloats) {
  WideningCpu cpu;
  const Layout nhwc{LayoutKind::channels_last, 0}, blocked{LayoutKind::blocked, 8};
  for (const auto& [from, to] : {std::pair{blocked, nhwc}, std::pair{nhwc, blocked},
                                 std::pair{Layout{}, nhwc}, std::pair{blocked, Layout{}}}) {
    const Problem problem = reformat_problem({DataType::float16, {1, 16, 15, 15}},
                                             {DataType::float32, from}, {DataType::float32, to});
    int run = 0;
    for (const auto& source : cpu.sources)
      run += expect_right(cpu, *source, problem, DataType::float16);
    EXPECT_GT(run, 0) << problem.key();
  }
}

TEST(Widening, ACastToANarrowTypeIsNotWidened) {
  WideningCpu cpu;
  const Problem cast = parse_problem("cast to=float16 | float32[3x7]").value();
  for (const auto& source : cpu.sources) {
    const auto tactics = source->offer(cast, {Precision::fp32});
    if (!tactics.ok()) continue;
    for (const Tactic& t : *tactics) EXPECT_FALSE(is_wide(t)) << tactic_key(t);
  }
}

// An engine file may call these views: their bytes are the result.
TEST(Widening, KnowsTheCastsThatChangeNothingInFloat32) {
  const auto is_one = [](const char* text) {
    return is_widening_cast(parse_problem(text).value());
  };
  EXPECT_TRUE(is_one("cast to=float32 | float16[3]"));
  EXPECT_TRUE(is_one("cast to=float32 | bfloat16[3]"));
  EXPECT_FALSE(is_one("cast to=float16 | float32[3]"));
  EXPECT_FALSE(is_one("cast to=bfloat16 | float16[3]"));
  EXPECT_FALSE(is_one("cast to=float32 | int8[3]"));
  EXPECT_FALSE(is_one("cast to=float32 | w:float16[3]"));
}

// Moves stay possible in the narrow type: half the bytes.
TEST(Widening, OffersTheNarrowTacticsFirst) {
  WideningCpu cpu;
  const Problem p = parse_problem("concat axis=1 | float16[1x8x3x3] float16[1x8x3x3]").value();
  const auto tactics = cpu.sources.front()->offer(p, {Precision::fp32});
  ASSERT_TRUE(tactics.ok()) << tactics.error().message;
  EXPECT_EQ(tactics->front().outputs[0].type, DataType::float16);
  EXPECT_TRUE(is_wide(tactics->back()));
}

TEST(Widening, LeavesOtherProblemsAsTheyAre) {
  WideningCpu cpu;
  for (const auto& source : cpu.sources) {
    const Problem powers = parse_problem("binary kind=pow | int64[3] int64[3]").value();
    EXPECT_FALSE(source->offer(powers, {Precision::fp32}).ok());
    const Problem p = parse_problem("act kind=relu | float64[3x7]").value();
    const auto tactics = source->offer(p, {Precision::fp32});
    if (!tactics.ok()) continue;
    for (const Tactic& tactic : *tactics) {
      EXPECT_EQ(tactic.inputs[0].type, DataType::float64) << tactic_key(tactic);
      EXPECT_EQ(tactic.outputs[0].type, DataType::float64) << tactic_key(tactic);
    }
  }
}

}  // namespace
}  // namespace enginery
