// Every kernel variant compiles for every SM that it claims; no GPU is needed.
//
// One text of each family and of every fourth of its tiles on SM 6.1, 7.5 and 9.0, of each family
// on the others, by a seeded choice among tiles, types and a third of the conformance problems:
// other texts in each run, in a minute.
// ENGINERY_TEST_ALL_KERNELS=types compiles one text of each tile and type (all of 8 bits are one),
// with a pitch or without, on every SM; ENGINERY_TEST_ALL_KERNELS=1 the texts of all problems;
// ENGINERY_TEST_FILTER those of tactics whose id has the text in it. SMs below 7.5 need NVRTC 12.9
// (nvidia-cuda-nvrtc-cu12 from PyPI, its folder in ENGINERY_CUDA_LIBRARIES); without it they are
// skipped with a message.
//
// With ENGINERY_TEST_OUTPUT=FOLDER the texts are those of each variant's first problem by name, and
// FOLDER/kernels.csv gets one line a variant and SM: the most registers and spilled bytes over its
// types. The same sources and compiler give the same file.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <random>
#include <regex>
#include <tuple>

#include "engine/base/parallel.h"
#include "engine/device/cuda/fingerprint.h"
#include "engine/tactics/cuda/kernel/kernel_source.h"
#include "tests/support/problem_list.h"
#include "tests/support/problem_text.h"
#include "tests/support/tactic_harness.h"

namespace enginery {
namespace {

std::string variable(const char* name, const std::string& otherwise) {
  const char* value = std::getenv(name);
  return value && *value ? value : otherwise;
}

DeviceInfo card_of(int compute_capability) {
  SkuRow row;
  row.kind = DeviceKind::cuda;
  row.compute_capability = compute_capability, row.sm_count = 16, row.memory_gib = 16;
  row.name = structural_sku_name(compute_capability, 16, 16);
  return device_info(row);
}

struct Text {
  std::string family, variant, problem, text;
};

// What a tactic writes, of the kinds of which one text each is compiled.
std::string kind_of_output(const Tactic& tactic) {
  const Format format = without_pitch(tactic.outputs[0]);
  return element_bytes(format.type) == 1 ? "8 bits" : to_string(format);
}

// A variant has another text where two products are one kernel.
std::string joined_or_not(const std::string& text) {
  return text.find("#define JOINED 1") == std::string::npos ? "" : " joined";
}

// Distinct texts of all tactics of all problems, by variant
// ("conv_mma/64x64x128b_s4:float16:nhwc").
std::map<std::string, std::vector<Text>> texts_for(int compute_capability,
                                                   const std::vector<ProblemRow>& rows) {
  DeviceInfo info = card_of(compute_capability);
  KernelContext context{info,
                        sm_limits(compute_capability),
                        {Precision::fp32, Precision::tf32, Precision::fp16, Precision::bf16}};
  std::map<std::string, std::vector<Text>> out;
  const std::string filter = variable("ENGINERY_TEST_FILTER", "");
  std::set<std::string> seen;
  for (const ProblemRow& row : rows) {
    auto problem = parse_problem(row.text);
    auto tactics = offer_kernels(*problem, context, true);
    if (!tactics.ok()) continue;
    const std::vector<Tactic> pitched = pitched_twins(*problem, *tactics);
    tactics->insert(tactics->end(), pitched.begin(), pitched.end());
    for (const Tactic& tactic : *tactics) {
      auto plan = plan_kernel(*problem, tactic, context);
      EXPECT_TRUE(plan.ok()) << tactic.id;
      if (!plan.ok() || plan->launches.empty()) continue;
      std::string text = program_text(plan->program);
      if (!seen.insert(text).second) continue;
      std::string family = tactic.id.substr(0, tactic.id.find('/')),
                  variant = variant_of(tactic) + joined_or_not(text) + ":" + kind_of_output(tactic);
      if ((family + "/" + variant).find(filter) == std::string::npos) continue;
      out[family + "/" + variant].push_back({family, variant, std::string(row.name), text});
    }
  }
  return out;
}

// "Used 128 registers" and "12 bytes spill stores" of ptxas; the largest over a text's entries.
struct Usage {
  int registers = 0, spill_bytes = 0;
};
Usage usage_of(const std::string& log) {
  Usage usage;
  static const std::regex registers(R"(Used (\d+) registers)"),
      spills(R"((\d+) bytes spill stores)");
  for (std::sregex_iterator it(log.begin(), log.end(), registers), end; it != end; ++it)
    usage.registers = std::max(usage.registers, std::stoi((*it)[1]));
  for (std::sregex_iterator it(log.begin(), log.end(), spills), end; it != end; ++it)
    usage.spill_bytes = std::max(usage.spill_bytes, std::stoi((*it)[1]));
  return usage;
}

void write_usages(const std::string& file, int sm, const std::map<std::string, Usage>& usages) {
  const bool first = !std::ifstream(file).good();
  std::ofstream csv(file, std::ios::app);
  if (first) csv << "sm,family,variant,registers,spill_store_bytes\n";
  for (const auto& [variant, usage] : usages) {
    csv << "sm_" << sm << "," << variant << "," << usage.registers << "," << usage.spill_bytes
        << "\n";
  }
}

// Whether no other SM has the same texts but for limits.
bool is_distinct(int sm) {
  return sm == 61 || sm == 75 || sm == 90;
}

// Making the texts of all problems takes longer than compiling some: those of every third problem,
// or of every eighth.
std::vector<ProblemRow> some_rows(int sm, std::mt19937_64& random) {
  std::vector<ProblemRow> rows = conformance_rows();
  std::shuffle(rows.begin(), rows.end(), random);
  rows.resize(rows.size() / (is_distinct(sm) ? 3 : 8));
  return rows;
}

// One text of every fourth tile, or of each family.
std::vector<Text> sample_of(std::vector<Text> texts, int sm, std::mt19937_64& random) {
  const bool tiles = is_distinct(sm);
  std::shuffle(texts.begin(), texts.end(), random);
  std::set<std::string> seen;
  std::map<std::string, size_t> of_family;
  std::erase_if(texts, [&](const Text& text) {
    const std::string tile = text.variant.substr(0, text.variant.find_first_of(" :"));
    const bool known = !seen.insert(tiles ? text.family + "/" + tile : text.family).second;
    return known || of_family[text.family]++ % 4 != 0;
  });
  return texts;
}

class KernelTexts : public testing::TestWithParam<int> {};

TEST_P(KernelTexts, Compile) {
  int sm = GetParam();
  auto nvrtc = Nvrtc::open(sm);
  if (!nvrtc.ok()) GTEST_SKIP() << nvrtc.error().message;
  const std::string all = variable("ENGINERY_TEST_ALL_KERNELS", "");
  uint64_t seed =
      std::stoull(variable("ENGINERY_TEST_SEED", std::to_string(std::random_device{}())));
  SCOPED_TRACE("ENGINERY_TEST_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  const std::string folder = variable("ENGINERY_TEST_OUTPUT", "");
  const bool samples = all.empty() && folder.empty();
  const bool every_row = !samples || !variable("ENGINERY_TEST_FILTER", "").empty();
  const auto rows = every_row ? conformance_rows() : some_rows(sm, random);
  std::vector<Text> texts;
  for (auto& [variant, members] : texts_for(sm, rows)) {
    std::sort(members.begin(), members.end(), [](const Text& a, const Text& b) {
      return std::tie(a.problem, a.text) < std::tie(b.problem, b.text);
    });
    if (all != "1" && folder.empty()) std::shuffle(members.begin(), members.end(), random);
    if (all != "1") members.resize(1);
    texts.insert(texts.end(), members.begin(), members.end());
  }
  if (samples) texts = sample_of(std::move(texts), sm, random);
  std::vector<Result<Nvrtc::Output>> outputs(texts.size(), Error{});
  parallel_for(static_cast<int64_t>(texts.size()), [&](int64_t index) {
    const auto i = static_cast<size_t>(index);
    outputs[i] = nvrtc->compile(texts[i].text, sm, CodeKind::cubin, {});
  });
  std::map<std::string, Usage> usages;  // by "family,variant", the most over types
  for (size_t i = 0; i < texts.size(); ++i) {
    SCOPED_TRACE(texts[i].family + "/" + texts[i].variant + " of " + texts[i].problem);
    ASSERT_TRUE(outputs[i].ok()) << outputs[i].error().message;
    const Usage usage = usage_of(outputs[i]->log);
    EXPECT_GT(usage.registers, 0) << outputs[i]->log;
    const std::string variant = texts[i].variant.substr(0, texts[i].variant.find(':'));
    Usage& most = usages[texts[i].family + "," + variant];
    most.registers = std::max(most.registers, usage.registers);
    most.spill_bytes = std::max(most.spill_bytes, usage.spill_bytes);
  }
  if (!folder.empty()) write_usages(folder + "/kernels.csv", sm, usages);
}

INSTANTIATE_TEST_SUITE_P(Sm, KernelTexts, testing::Values(61, 70, 72, 75, 80, 86, 87, 89, 90),
                         [](const auto& row) { return std::to_string(row.param); });

}  // namespace
}  // namespace enginery
