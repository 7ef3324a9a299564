// Our kernels' numbers without a GPU: every tactic of the `kernel` source, on the emulator, against
// the reference.
//
// By default a seeded sample of variants; ENGINERY_TEST_ALL_KERNELS=1 runs all. ENGINERY_TEST_SEED
// repeats a run, ENGINERY_TEST_FILTER keeps the tactics whose key has the text in it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "engine/tactics/cpu/reference/reference_source.h"
#include "tests/conformance/kernels/emulated_source.h"
#include "tests/support/problem_list.h"
#include "tests/support/problem_text.h"
#include "tests/support/tactic_harness.h"

namespace enginery {
namespace {

std::string variable(const char* name, const std::string& otherwise) {
  const char* value = std::getenv(name);
  return value && *value ? value : otherwise;
}

uint64_t seed() {
  static const uint64_t value =
      std::stoull(variable("ENGINERY_TEST_SEED", std::to_string(std::random_device{}())));
  return value;
}

std::string work_folder() {
  static const std::string folder = [] {
    auto path =
        std::filesystem::temp_directory_path() / ("enginery-kernels-" + std::to_string(getuid()));
    std::filesystem::create_directories(path);
    return path.string();
  }();
  return folder;
}

double bar_of(Precision compute) {
  return compute == Precision::fp32 ? 1e-4 : 1e-2;
}

void expect_close(const Tensor& actual, const Tensor& expected, double bar) {
  if (!is_floating(expected.type())) {
    EXPECT_EQ(to_int64s(actual), to_int64s(expected));
    return;
  }
  EXPECT_LE(
      relative_error(convert(actual, DataType::float32), convert(expected, DataType::float32)),
      bar);
}

struct Case {
  ProblemRow row;
  int compute_capability;
};

class Kernels : public testing::TestWithParam<Case> {};

TEST_P(Kernels, GiveWhatTheReferenceGives) {
  SCOPED_TRACE("ENGINERY_TEST_SEED=" + std::to_string(seed()));
  auto p = parse_problem(GetParam().row.text);
  ASSERT_TRUE(p.ok()) << p.error().message;
  auto device = make_emulated_device(GetParam().compute_capability);
  auto stream = device->create_stream().value();
  auto source = make_emulated_source(*device, work_folder());
  auto tactics = source->offer(*p, {Precision::fp32, Precision::tf32, Precision::fp16});
  if (!tactics.ok()) GTEST_SKIP() << tactics.error().message;
  std::mt19937_64 random(seed());
  ProblemData data;
  fill_random(*p, random, data);
  auto expected = run_problem_reference(*p, data.inputs);
  ASSERT_TRUE(expected.ok()) << expected.error().message;
  bool all = variable("ENGINERY_TEST_ALL_KERNELS", "") == "1";
  std::string filter = variable("ENGINERY_TEST_FILTER", "");
  size_t most = all ? tactics->size() : 2;
  if (!all) std::shuffle(tactics->begin(), tactics->end(), random);
  for (const Tactic& tactic : *tactics) {
    if (tactic.view_of >= 0 || tactic_key(tactic).find(filter) == std::string::npos) continue;
    if (most-- == 0) break;
    SCOPED_TRACE(tactic_key(tactic));
    TacticRun run(*device, *stream);
    Status prepared = run.prepare(*source, *p, tactic, data, OperandPlace::separate);
    ASSERT_TRUE(prepared.ok()) << prepared.error().message;
    ASSERT_TRUE(run.launch().ok());
    auto outputs = run.collect();
    ASSERT_TRUE(outputs.ok()) << outputs.error().message;
    for (size_t i = 0; i < outputs->size(); ++i)
      expect_close((*outputs)[i], (*expected)[i], bar_of(tactic.compute));
  }
}

std::vector<Case> cases() {
  std::vector<Case> out;
  for (const ProblemRow& row : conformance_problems()) out.push_back({row, 90});
  for (const ProblemRow& row : conformance_problems()) {
    if (row.name.starts_with("conv_3x3") || row.name.starts_with("conv_1x1"))
      out.push_back({row, 75});
  }
  return out;
}

INSTANTIATE_TEST_SUITE_P(Emulated, Kernels, testing::ValuesIn(cases()), [](const auto& info) {
  return std::string(info.param.row.name) + "_sm" + std::to_string(info.param.compute_capability);
});

}  // namespace
}  // namespace enginery
