// One suite over every tactic source: each tactic that is offered for a problem of the list gives
// what the reference gives.
//
// Environment: ENGINERY_TEST_SKU (default: the best of this machine; "gpu": its first GPU),
// ENGINERY_TEST_SEED (default: fresh, printed), ENGINERY_TEST_PTX (a compute capability: our
// kernels as PTX for it, loaded by the card that is here).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "engine/device/format_convert.h"
#include "engine/device/sku_table.h"
#include "engine/tactics/cpu/onednn/onednn_source.h"
#include "engine/tactics/cpu/reference/reference_source.h"
#include "tests/support/comparison.h"
#include "tests/support/gpu_sources.h"
#include "tests/support/offer_text.h"
#include "tests/support/problem_list.h"
#include "tests/support/problem_text.h"
#include "tests/support/tactic_harness.h"
#include "tuner/gate/probe.h"

namespace enginery {
namespace {

// Variants of one family store alike: of those that write with a pitch this share does so here.
constexpr size_t kTwinsEach = 4;

struct Bench {
  std::unique_ptr<Device> device;
  std::unique_ptr<Stream> stream;
  TacticSources sources;
  int run = 0, not_in_folder = 0;  // tactics that ran; that ENGINERY_TEST_PTX_FOLDER has no code of
};

// Opened once for all problems; null with a message where this machine lacks the SKU.
Bench* bench() {
  static std::unique_ptr<Bench> opened = [] {
    auto skus = local_skus();
    std::string sku = test_variable("ENGINERY_TEST_SKU", skus.empty() ? "" : skus[0].name);
    if (sku == "gpu") {
      auto first = std::find_if(skus.begin(), skus.end(),
                                [](const LocalSku& s) { return s.kind == DeviceKind::cuda; });
      if (first == skus.end()) return std::unique_ptr<Bench>();
      sku = first->name;
    }
    auto device = open_device(sku, {});
    if (!device.ok()) {
      std::printf("skipped: %s\n", device.error().message.c_str());
      EXPECT_EQ(device.error().code, ErrorCode::incompatible) << device.error().message;
      return std::unique_ptr<Bench>();
    }
    auto out = std::make_unique<Bench>();
    out->device = std::move(*device);
    out->stream = out->device->create_stream().value();
    // One source alone where a tool makes the others' code too slow (compute-sanitizer and cuDNN).
    const std::string only = test_variable("ENGINERY_TEST_SOURCE", "");
    out->sources =
        make_tactic_sources(*out->device, only.empty() ? SourceFilter{} : SourceFilter{{}, {only}})
            .value();
    show_every_kernel(*out->device, std::stoi(test_variable("ENGINERY_TEST_PTX", "0")),
                      out->sources);
    return out;
  }();
  return opened.get();
}

bool same_bits(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].bytes() != b[i].bytes() ||
        std::memcmp(a[i].raw(), b[i].raw(), static_cast<size_t>(a[i].bytes())) != 0)
      return false;
  }
  return true;
}

// What storing a value in the type rounds away, relative to the largest.
double rounding_of(DataType type) {
  return type == DataType::float16 ? 0x1p-11 : type == DataType::bfloat16 ? 0x1p-8 : 0;
}

// A view runs nothing: its input's storage, read as the output, is the result.
void expect_view(const Problem& p, const Tactic& tactic, const ProblemData& data,
                 const std::vector<Tensor>& expected) {
  size_t input = static_cast<size_t>(tactic.view_of);
  const Format& from = tactic.inputs[input];
  std::vector<uint8_t> storage(
      static_cast<size_t>(physical_bytes(p.inputs[input].type.dims, from)));
  ASSERT_EQ(static_cast<int64_t>(storage.size()),
            physical_bytes(p.outputs[0].type.dims, tactic.outputs[0]));
  to_physical(*data.inputs[input], from, storage.data());
  expect_close(from_physical(storage.data(), p.outputs[0].type.dims, tactic.outputs[0]),
               expected[0], rounding_of(from.type));
}

void expect_run(Bench& b, const TacticSource& source, const Problem& p, const Tactic& tactic,
                const ProblemData& data, const std::vector<Tensor>& expected, OperandPlace place) {
  TacticRun run(*b.device, *b.stream);
  Status prepared = run.prepare(source, p, tactic, data, place);
  // PTX for an SM that this machine's compiler dropped comes out of a folder, which holds a part of
  // the variants.
  bool from_folder = !test_variable("ENGINERY_TEST_PTX_FOLDER", "").empty();
  if (from_folder && !prepared.ok() && prepared.error().code == ErrorCode::unavailable) {
    ++b.not_in_folder;
    return;
  }
  ++b.run;
  ASSERT_TRUE(prepared.ok()) << prepared.error().message;
  Status launched = run.launch();
  ASSERT_TRUE(launched.ok()) << launched.error().message;
  auto first = run.collect();
  ASSERT_TRUE(first.ok()) << first.error().message;
  expect_result(p, tactic, *first, expected);
  if (!tactic.deterministic) return;
  Status copied = run.take_copy();
  ASSERT_TRUE(copied.ok()) << copied.error().message;
  ASSERT_TRUE(run.poison().ok());
  ASSERT_TRUE(run.launch().ok());
  auto second = run.collect();
  ASSERT_TRUE(second.ok()) << second.error().message;
  EXPECT_TRUE(same_bits(*first, *second)) << "two runs differ";
}

// Sources that must offer what the row asks of this device, unless the test's own switches leave
// them out.
std::set<std::string_view> required_here(const Bench& b, const ProblemRow& row) {
  std::set<std::string_view> out;
  for (const std::string_view name : required_sources(row, b.device->info().kind)) {
    const bool opened =
        std::ranges::any_of(b.sources, [&](const auto& source) { return source->name() == name; });
    const std::string only = test_variable("ENGINERY_TEST_SOURCE", "");
    EXPECT_TRUE(opened || (!only.empty() && only != name)) << name << " was not opened";
    if (opened) out.insert(name);
  }
  return out;
}

class Tactics : public testing::TestWithParam<ProblemRow> {};

TEST_P(Tactics, GiveWhatTheReferenceGives) {
  Bench* b = bench();
  if (!b) GTEST_SKIP() << "this machine lacks the SKU";
  SCOPED_TRACE("ENGINERY_TEST_SEED=" + std::to_string(test_seed()));
  auto p = parse_problem(GetParam().text);
  ASSERT_TRUE(p.ok()) << p.error().message;
  std::mt19937_64 random(test_seed());
  ProblemData data;
  fill_random(*p, random, data);
  auto expected = run_problem_reference(*p, data.inputs);
  ASSERT_TRUE(expected.ok()) << expected.error().message;
  int offered = 0;
  b->run = b->not_in_folder = 0;
  std::set<std::string_view> missing = required_here(*b, GetParam());
  for (const auto& source : b->sources) {
    if (!require_served(*source, *p).ok()) continue;
    auto tactics = source->offer(*p, precisions_of(*b->device));
    if (!tactics.ok()) {
      EXPECT_EQ(tactics.error().code, ErrorCode::unsupported) << tactics.error().message;
      continue;
    }
    EXPECT_FALSE(tactics->empty());
    missing.erase(source->name());
    const std::vector<Tactic> pitched = pitched_twins(*p, *tactics, kTwinsEach);
    tactics->insert(tactics->end(), pitched.begin(), pitched.end());
    compile_in_parallel(*source, *p, *tactics);
    for (const Tactic& tactic : *tactics) {
      SCOPED_TRACE(tactic_key(tactic));
      if (test_variable("ENGINERY_TEST_VERBOSE", "") == "1")
        std::printf("  %s\n", tactic_key(tactic).c_str());
      ++offered;
      if (tactic.view_of >= 0) {
        expect_view(*p, tactic, data, *expected);
        continue;
      }
      expect_run(*b, *source, *p, tactic, data, *expected, OperandPlace::separate);
      if (tactic.in_place_operand >= 0)
        expect_run(*b, *source, *p, tactic, data, *expected, OperandPlace::in_place);
    }
  }
  for (const std::string_view name : missing)
    ADD_FAILURE() << "source " << name << " must offer a tactic for this problem, but does not";
  // Other SMs' code is tested with our kernels alone, and a run may ask for one source; what others
  // serve is no matter of theirs.
  if (offered == 0 && !test_variable("ENGINERY_TEST_PTX", "").empty())
    GTEST_SKIP() << "no kernel of ours serves this problem";
  if (const std::string only = test_variable("ENGINERY_TEST_SOURCE", "");
      offered == 0 && !only.empty())
    GTEST_SKIP() << "source " << only << " does not serve this problem";
  EXPECT_GT(offered, 0);
  // A part of the variants is in the folder; a problem of which none is there was not tested.
  if (b->not_in_folder > 0 && b->run == 0)
    GTEST_SKIP() << "the folder has code of none of its " << b->not_in_folder << " tactics";
}

// The tuner's gate must let through whatever is right: its bounds are derived, and no tactic of
// ours or of a library may need wider ones.
TEST_P(Tactics, PassTheGate) {
  Bench* b = bench();
  if (!b) GTEST_SKIP() << "this machine lacks the SKU";
  if (!test_variable("ENGINERY_TEST_PTX", "").empty()) GTEST_SKIP() << "checked already";
  const auto p = parse_problem(GetParam().text);
  ASSERT_TRUE(p.ok()) << p.error().message;
  for (const ProbeKind kind : {ProbeKind::symmetric, ProbeKind::wide, ProbeKind::integers}) {
    const auto probe = Probe::make(*p, *b->device, {kind, test_seed() % 1000}, {}, 1);
    ASSERT_TRUE(probe.ok()) << probe.error().message;
    for (const auto& source : b->sources) {
      if (!require_served(*source, *p).ok()) continue;
      auto tactics = source->offer(*p, precisions_of(*b->device));
      if (tactics.ok()) {
        const std::vector<Tactic> pitched = pitched_twins(*p, *tactics, kTwinsEach);
        tactics->insert(tactics->end(), pitched.begin(), pitched.end());
      }
      for (size_t i = 0; tactics.ok() && i < tactics->size(); ++i) {
        const Tactic& tactic = (*tactics)[i];
        if (tactic.view_of >= 0) continue;
        const auto prepared = (*probe)->prepare(*source, tactic);
        ASSERT_TRUE(prepared.ok()) << prepared.error().message;
        const auto checked = (*probe)->check(tactic, **prepared, 2);
        ASSERT_TRUE(checked.ok()) << checked.error().message;
        EXPECT_EQ(checked->rejected, "") << tactic_key(tactic);
      }
    }
  }
}

// Ids of oneDNN's implementations are kept in engine files: a recipe or a filter that changes must
// not change them unseen. What the library lists belongs to its version and to the instruction set.
TEST(Onednn, OffersWhatTheGoldenFileSays) {
  Bench* b = bench();
  if (!b || b->device->info().kind != DeviceKind::cpu) GTEST_SKIP() << "needs a CPU's SKU";
  const std::string file = "tests/engine/tactics/golden/onednn-" + b->device->info().sku + ".txt";
  if (!has_golden(file)) GTEST_SKIP() << "no file for this SKU";
  DeviceInfo info = b->device->info();
  const std::pair<std::string, std::string> version("onednn", "2.6.3");
  if (std::ranges::find(info.software, version) == info.software.end())
    GTEST_SKIP() << "the files are version 2.6.3's";
  info.threads = 4;
  auto source = make_onednn_source(info);
  ASSERT_TRUE(source.ok()) << source.error().message;
  expect_golden(offer_text(**source), file);
}

// Whatever computes addresses on a GPU may take the process down; the host's reference may not.
TEST(Sources, OfAGpuMayFaultButForTheReference) {
  Bench* b = bench();
  if (!b || b->device->info().kind != DeviceKind::cuda) GTEST_SKIP() << "needs a GPU";
  for (const auto& source : b->sources) {
    const Trust expected = source->name() == "reference" ? Trust::reference : Trust::may_fault;
    EXPECT_EQ(source->traits().trust, expected) << source->name();
  }
}

// An engine brings its kernels' code along; a driver that is older than what compiled it must say
// so, not crash.
TEST(Kernels, CodeThatTheDriverDoesNotTakeIsIncompatible) {
  Bench* b = bench();
  if (!b || b->device->info().kind != DeviceKind::cuda) GTEST_SKIP() << "needs a GPU";
  auto problem = parse_problem("act kind=relu | float32[1x32x6x6]");
  ASSERT_TRUE(problem.ok()) << problem.error().message;
  auto tactics = b->sources[0]->offer(*problem, {Precision::fp32});
  ASSERT_TRUE(tactics.ok()) << tactics.error().message;
  const std::vector<const Tensor*> no_weights(problem->inputs.size(), nullptr);
  for (const char* code :
       {".version 99.9\n.target sm_90\n.address_size 64\n.visible .entry kernel() { ret; }\n",
        "no code at all"}) {
    Tactic tactic = tactics->front();
    tactic.code = std::make_shared<const Bytes>(code);
    auto prepared = b->sources[0]->prepare(*problem, tactic, no_weights);
    ASSERT_FALSE(prepared.ok());
    EXPECT_EQ(prepared.error().code, ErrorCode::incompatible) << prepared.error().message;
    EXPECT_NE(prepared.error().message.find("driver"), std::string::npos)
        << prepared.error().message;
  }
}

INSTANTIATE_TEST_SUITE_P(Regions, Tactics, testing::ValuesIn(conformance_regions()),
                         [](const auto& row) { return std::string(row.param.name); });

INSTANTIATE_TEST_SUITE_P(EightBits, Tactics, testing::ValuesIn(quantized_problems()),
                         [](const auto& row) { return std::string(row.param.name); });

INSTANTIATE_TEST_SUITE_P(List, Tactics, testing::ValuesIn(conformance_problems()),
                         [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace enginery
