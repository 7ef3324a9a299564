// Runs ONNX's backend tests through the importer and the reference executor. The data comes with
// the PyPI package onnx (1.16): ENGINERY_ONNX_BACKEND_DATA names its folder backend/test/data, or a
// virtual environment in the build folder has it; without either the test is skipped.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iostream>

#include "tests/conformance/onnx/expectations.h"
#include "tests/support/reference_executor.h"

namespace enginery::test {
namespace {

namespace fs = std::filesystem;

// build*/venv*/lib/python*/site-packages/onnx/backend/test/data
fs::path find_in(const fs::path& build) {
  std::error_code error;
  for (const auto& environment : fs::directory_iterator(build, error)) {
    if (environment.path().filename().string().rfind("venv", 0) != 0) continue;
    for (const auto& python : fs::directory_iterator(environment.path() / "lib", error)) {
      fs::path data = python.path() / "site-packages/onnx/backend/test/data";
      if (fs::exists(data / "node")) return data;  // newer versions leave the cases out
    }
  }
  return {};
}

fs::path data_folder() {
  if (const char* folder = std::getenv("ENGINERY_ONNX_BACKEND_DATA")) return folder;
  fs::path found = find_in(ENGINERY_BINARY_DIR);
  return found.empty() ? find_in(fs::path(ENGINERY_SOURCE_DIR) / "build") : found;
}

// What the issue of importers asks of the node tests.
constexpr double kLeastShare = 0.95;

struct Counts {
  int passed = 0, with_shapes_known = 0, with_all_known = 0, unsupported = 0, different = 0,
      failed = 0;
  int counted = 0, counted_passed = 0;          // without BackendCase::not_counted
  std::map<std::string, int> not_counted = {};  // by reason
  std::vector<std::string> others = {};         // that do not pass: "test_unique_...: why"
  double share() const { return static_cast<double>(counted_passed) / std::max(1, counted); }
};

Expected outcome(const Status& status) {
  if (status.ok()) return Expected::pass;
  if (status.error().code == ErrorCode::unsupported) return Expected::unsupported;
  return status.error().code == kDiffers ? Expected::differs : Expected::broken;
}

void check(const BackendCase& c, const GraphExecutor& execute, Expectations& expectations,
           Counts& counts) {
  Expected expected = expectations.of(c);
  CaseResult result = run_case(c, execute);
  Expected got = outcome(result.status);
  if (got != expected) {
    ++counts.failed;
    ADD_FAILURE() << c.name() << ": "
                  << (result.status.ok() ? "passes, although unsupported.txt has a line for it"
                                         : result.status.error().message);
    return;
  }
  if (c.not_counted.empty()) {
    ++counts.counted;
    counts.counted_passed += got == Expected::pass;
    if (got != Expected::pass) counts.others.push_back(c.name() + ": " + expectations.reason(c));
  } else {
    ++counts.not_counted[c.not_counted];
  }
  counts.passed += got == Expected::pass;
  counts.unsupported += got == Expected::unsupported;
  counts.different += got == Expected::differs;
  if (got != Expected::pass) return;
  counts.with_shapes_known += result.knowledge == Knowledge::shape_inputs;
  counts.with_all_known += result.knowledge == Knowledge::all_inputs;
}

void check_share(const Counts& counts) {
  std::printf("node: %d of %d cases pass, %.2f %%; not counted:", counts.counted_passed,
              counts.counted, 100 * counts.share());
  for (const auto& [reason, count] : counts.not_counted)
    std::printf(" %d %s,", count, reason.c_str());
  std::printf(" the others:\n");
  for (const std::string& other : counts.others) std::printf("  %s\n", other.c_str());
  EXPECT_GE(counts.share(), kLeastShare);
}

TEST(OnnxBackend, EveryCaseMatchesOrIsListedAsUnsupported) {
  fs::path data = data_folder();
  if (data.empty() || !fs::exists(data))
    GTEST_SKIP()
        << "no data: pip install onnx==1.16.2 into build/venv, or set ENGINERY_ONNX_BACKEND_DATA";
  auto expectations =
      Expectations::read(fs::path(ENGINERY_SOURCE_DIR) / "tests/conformance/onnx/unsupported.txt");
  ASSERT_TRUE(expectations.ok()) << expectations.error().message;
  for (const char* suite : {"node", "simple", "pytorch-operator", "pytorch-converted"}) {
    auto cases = find_cases(data / suite);
    ASSERT_TRUE(cases.ok()) << cases.error().message;
    Counts counts;
    const GraphExecutor reference = [](const Graph& graph,
                                       const std::map<std::string, Tensor>& inputs) {
      auto outputs = run_graph(graph, inputs);
      return outputs ? with_actual_sizes(graph, std::move(*outputs)) : outputs;
    };
    for (const BackendCase& c : *cases) check(c, reference, *expectations, counts);
    std::cout << suite << ": " << cases->size() << " cases, " << counts.passed << " pass ("
              << counts.with_shapes_known << " with shape inputs known, " << counts.with_all_known
              << " with all inputs known), " << counts.unsupported << " unsupported and "
              << counts.different << " different as listed, " << counts.failed << " fail\n";
    if (std::string_view(suite) == "node") check_share(counts);
  }
  for (const std::string& line : expectations->unused())
    ADD_FAILURE() << "unsupported.txt: nothing needs the line '" << line << "'";
}

}  // namespace
}  // namespace enginery::test
