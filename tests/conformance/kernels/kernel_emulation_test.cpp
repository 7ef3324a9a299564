// Our kernels' numbers without a GPU: tactics of the `kernel` source, on the emulator, against the
// reference, in both orders of blocks, warps and lanes.
//
// FixedList runs in every test run. Kernels runs a seeded sample of all variants;
// ENGINERY_TEST_ALL_KERNELS=1 runs all. ENGINERY_TEST_SEED repeats a run, ENGINERY_TEST_FILTER
// keeps the tactics whose key has the text in it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "engine/device/cuda/fingerprint.h"
#include "engine/device/format_convert.h"
#include "engine/tactics/cpu/reference/reference_source.h"
#include "engine/tactics/cuda/kernel/families.h"
#include "engine/tactics/cuda/kernel/kernel_source.h"
#include "tests/conformance/kernels/emulated_source.h"
#include "tests/conformance/kernels/fixed_cases.h"
#include "tests/support/comparison.h"
#include "tests/support/problem_list.h"
#include "tests/support/problem_text.h"
#include "tests/support/tactic_harness.h"

namespace enginery {
namespace {

std::string work_folder() {
  static const std::string folder = [] {
    auto path =
        std::filesystem::temp_directory_path() / ("enginery-kernels-" + std::to_string(getuid()));
    std::filesystem::create_directories(path);
    return path.string();
  }();
  return folder;
}

const Tactic* find_tactic(const std::vector<Tactic>& tactics, std::string_view key) {
  for (const Tactic& tactic : tactics) {
    if (tactic_key(tactic).starts_with("kernel:" + std::string(key))) return &tactic;
  }
  return nullptr;
}

// A problem with random data and what the reference makes of it, on an emulated card.
class Emulation {
 public:
  // Data from the problem's name, so that every run is the same, or from the test's seed.
  Emulation(std::string_view text, int compute_capability, uint64_t data_seed)
      : device_(make_emulated_device(compute_capability)),
        stream_(device_->create_stream().value()),
        source_(make_emulated_source(*device_, work_folder(), order_)),
        problem_(parse_problem(text).value()) {
    std::mt19937_64 random(data_seed);
    fill_random(problem_, random, data_);
    expected_ = run_problem_reference(problem_, data_.inputs).value();
  }
  // From here on the inputs have NaN in them.
  void with_nan() {
    plant_nan(problem_, data_);
    expected_ = run_problem_reference(problem_, data_.inputs).value();
  }
  // From here on every second number of that input has another sign.
  void with_signs_changed(size_t input) {
    auto values = data_.tensors[input].mutable_data<float>();
    for (size_t i = 0; i < values.size(); i += 2) values[i] = -values[i];
    expected_ = run_problem_reference(problem_, data_.inputs).value();
  }
  Result<std::vector<Tactic>> offer() const {
    TRY(auto out, source_->offer(problem_, {Precision::fp32, Precision::tf32, Precision::fp16,
                                            Precision::bf16}));
    const std::vector<Tactic> pitched = pitched_twins(problem_, out);
    out.insert(out.end(), pitched.begin(), pitched.end());
    return out;
  }
  void expect_right(const Tactic& tactic) {
    SCOPED_TRACE(tactic_key(tactic));
    TacticRun run(*device_, *stream_);
    const Status prepared = run.prepare(*source_, problem_, tactic, data_, OperandPlace::separate);
    ASSERT_TRUE(prepared.ok()) << prepared.error().message;
    for (EmulationOrder order : {EmulationOrder::forward, EmulationOrder::backward}) {
      SCOPED_TRACE(order == EmulationOrder::forward ? "forward" : "backward");
      order_ = order;
      ASSERT_TRUE(run.poison().ok());
      const Status launched = run.launch();
      ASSERT_TRUE(launched.ok()) << launched.error().message;
      const auto outputs = run.collect();
      ASSERT_TRUE(outputs.ok()) << outputs.error().message;
      expect_result(problem_, tactic, *outputs, expected_);
    }
  }

  // What the tactic whose key begins so makes of the data.
  Result<Tensor> result_of(std::string_view key) const {
    TRY(const auto tactics, offer());
    const Tactic* tactic = find_tactic(tactics, key);
    if (!tactic) return Error{ErrorCode::internal, std::string(key) + " is not offered"};
    TacticRun run(*device_, *stream_);
    CHECK_OK(run.prepare(*source_, problem_, *tactic, data_, OperandPlace::separate));
    CHECK_OK(run.launch());
    TRY(auto outputs, run.collect());
    return std::move(outputs[0]);
  }
  // The output as that tactic of one input leaves it in memory, padding included.
  Result<std::vector<float>> stored_by(std::string_view key) const {
    TRY(const auto tactics, offer());
    const Tactic* tactic = find_tactic(tactics, key);
    if (!tactic) return Error{ErrorCode::internal, std::string(key) + " is not offered"};
    TRY(const auto prepared, source_->prepare(problem_, *tactic, data_.weights));
    const Dims& dims = output_dims(problem_);
    const auto bytes = static_cast<size_t>(physical_bytes(dims, tactic->outputs[0]));
    TRY(const DeviceMemory x, device_->allocate(bytes));
    TRY(const DeviceMemory y, device_->allocate(bytes));
    to_physical(*data_.inputs[0], tactic->inputs[0], static_cast<uint8_t*>(x.data()));
    const void* inputs[] = {x.data()};
    void* outputs[] = {y.data()};
    CHECK_OK(prepared->enqueue(*stream_, {inputs, outputs, nullptr}));
    const auto* first = static_cast<const float*>(y.data());
    return std::vector<float>(first, first + bytes / sizeof(float));
  }

 private:
  EmulationOrder order_ = EmulationOrder::forward;
  std::unique_ptr<Device> device_;
  std::unique_ptr<Stream> stream_;
  std::unique_ptr<TacticSource> source_;
  Problem problem_;
  ProblemData data_;
  std::vector<Tensor> expected_;
};

std::string_view problem_text(std::string_view name) {
  for (const ProblemRow& row : conformance_rows()) {
    if (row.name == name) return row.text;
  }
  return name;
}

class FixedList : public testing::TestWithParam<FixedCase> {};

TEST_P(FixedList, GivesWhatTheReferenceGives) {
  const FixedCase& c = GetParam();
  constexpr uint64_t kSeed = 20261122;
  Emulation emulation(problem_text(c.problem), c.compute_capability, kSeed);
  const auto tactics = emulation.offer();
  ASSERT_TRUE(tactics.ok()) << tactics.error().message;
  const Tactic* tactic = find_tactic(*tactics, c.tactic);
  ASSERT_TRUE(tactic) << c.tactic << " is not offered for " << c.problem;
  emulation.expect_right(*tactic);
}

std::string name_of_case(const testing::TestParamInfo<FixedCase>& info) {
  const FixedCase& c = info.param;
  std::string name = std::to_string(info.index) + "_" +
                     std::string(c.tactic.substr(0, c.tactic.find('('))) + "_" +
                     std::string(c.problem) + "_sm" + std::to_string(c.compute_capability);
  for (char& letter : name) {
    if (!std::isalnum(static_cast<unsigned char>(letter))) letter = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(Emulated, FixedList, testing::ValuesIn(fixed_cases()), name_of_case);

// An overflow upstream must show: fmaxf and fminf would turn its NaN into a number.
TEST(FixedListOfTactics, PassNanOnAsTheReferenceDoes) {
  constexpr FixedCase kCases[] = {
      {"binary kind=max | float32[3x37] float32[3x37] | act kind=relu", 61, "pointwise/flat("},
      {"binary kind=min | float32[3x37] float32[3x37] | act kind=clip alpha=0 beta=6", 61,
       "pointwise/flat("},
      {"act kind=hard_sigmoid alpha=0.2 beta=0.5 | float32[3x37]", 61, "pointwise/flat("},
      {"act kind=hard_swish | float32[3x37]", 61, "pointwise/flat("},
      {"reduce_max_first", 61, "reduce/threads("},
      {"reduce_min_middle", 61, "reduce/threads("},
      {"max_pool_3x3_s2", 61, "pool/window(float32"},
      {"global_max", 61, "pool/global(float32"},
      {"lrn_odd_channels", 61, "lrn/vectors_n1(float32"},
      {"lrn_5", 61, "lrn/planes_r8(float32"},
      {"pooled_pairs", 90, "conv_pool/fp16_64x32x32_h4("},
      {"attention_choice", 90, "attention/mma_32x64_s2_p2("},
      {"attention_addend", 61, "attention/simt_r2(float32"},
  };
  for (const FixedCase& c : kCases) {
    SCOPED_TRACE(c.problem);
    Emulation emulation(problem_text(c.problem), c.compute_capability, 1);
    emulation.with_nan();
    const auto tactics = emulation.offer();
    ASSERT_TRUE(tactics.ok()) << tactics.error().message;
    const Tactic* tactic = find_tactic(*tactics, c.tactic);
    ASSERT_TRUE(tactic) << c.tactic;
    emulation.expect_right(*tactic);
  }
}

// A base of 0 makes NaN of zeros: readers of whole vectors would pass it on to every channel.
TEST(FixedListOfTactics, LeaveThePaddingOfNormalisedChannelsZero) {
  constexpr size_t kChannels = 13, kPadded = 16, kPixels = 6;
  const Emulation emulation("lrn size=3 alpha=0.5 beta=0.75 bias=0 | float32[1x13x2x3]", 61, 2);
  for (const std::string_view key : {"lrn/vectors_n1(float32", "lrn/vectors_n2(float32"}) {
    const auto stored = emulation.stored_by(key);
    ASSERT_TRUE(stored.ok()) << stored.error().message;
    ASSERT_EQ(stored->size(), kPixels * kPadded);
    for (size_t i = 0; i < stored->size(); ++i) {
      const bool is_padding = i % kPadded >= kChannels;
      EXPECT_TRUE(!is_padding || (*stored)[i] == 0) << key << ", element " << i;
    }
  }
}

// The largest result of a window is not that of the largest sum where a scale is negative.
TEST(FixedListOfTactics, PoolChannelsOfNegativeScales) {
  constexpr size_t kScalesOfWeights = 3;
  Emulation emulation(problem_text("quantized_pooled_stem"), 90, 3);
  emulation.with_signs_changed(kScalesOfWeights);
  const auto tactics = emulation.offer();
  ASSERT_TRUE(tactics.ok()) << tactics.error().message;
  const Tactic* tactic = find_tactic(*tactics, "conv_pool/int8_64x32x32_h14(");
  ASSERT_TRUE(tactic);
  emulation.expect_right(*tactic);
}

// Bytes are the same ones, not only within a step: the same sums, the same roundings.
TEST(FixedListOfTactics, PoolBytesAsKernelsOneByOneDo) {
  constexpr std::pair<std::string_view, std::string_view> kCases[] = {
      {"quantized_pooled_stem", "conv_pool/int8_64x32x32_h14("},
      {"quantized_pooled_stem_wide", "conv_pool/int8_32x64x32_h2("}};
  for (const auto& [name, tactic] : kCases) {
    SCOPED_TRACE(name);
    const std::string text(problem_text(name));
    constexpr uint64_t kSeed = 3;
    const auto pooled = Emulation(text, 90, kSeed).result_of(tactic);
    ASSERT_TRUE(pooled.ok()) << pooled.error().message;
    const Emulation conv(text.substr(0, text.rfind(" | then pool")), 90, kSeed);
    const auto bytes = conv.result_of("conv_mma/int8_64x32x128b_s4_n4(");
    ASSERT_TRUE(bytes.ok()) << bytes.error().message;
    const Tensor* operands[] = {&*bytes};
    const auto expected = run_reference(parse_problem(text)->rest.back().op, operands);
    ASSERT_TRUE(expected.ok()) << expected.error().message;
    EXPECT_EQ(to_int64s(*pooled), to_int64s(expected->at(0)));
  }
}

// "conv_mma SPLIT_K=1": which side of its branches a plan's text takes. Sizes that only scale a
// loop are no branches.
std::set<std::string> branches_of(const KernelPlan& plan, const std::string& family) {
  static const std::set<std::string> kBranches{
      "SPLIT_K",       "CLUSTER",     "POINTWISE",       "FLAT",         "INNER",
      "LOGARITHM",     "MODE",        "GROUP",           "TO_BOOLEAN",   "MAXIMUM",
      "COUNT_PADDING", "VECTORED",    "A_ALONG_K",       "B_ALONG_K",    "CAUSAL",
      "HAS_ADDEND",    "HAS_CHOICE",  "HIDES",           "STORES_PAIRS", "TSUM",
      "X_UNSIGNED",    "TO_INTEGERS", "PITCHED",         "JOINED",       "KEEPS_SUMS",
      "SMALL_SUMS",    "ROUNDS_SUMS", "FIRST_POINTWISE", "PICTURE",      "POWER",
      "READS_PITCHED"};
  std::set<std::string> out;
  for (const auto& [name, value] : plan.program.macros) {
    if (!kBranches.contains(name)) continue;
    out.insert(family + " " + name + "=" + (name == "CLUSTER" && value != "1" ? "n" : value));
  }
  return out;
}

// Of the tactics of all problems on a card, or of those on the fixed list.
std::set<std::string> branches_on(int compute_capability, bool fixed_alone) {
  const auto device = make_emulated_device(compute_capability);
  const KernelContext context{device->info(),
                              sm_limits(compute_capability),
                              {Precision::fp32, Precision::tf32, Precision::fp16, Precision::bf16}};
  std::set<std::string> out;
  for (const ProblemRow& row : conformance_rows()) {
    const Problem problem = parse_problem(row.text).value();
    auto tactics = offer_kernels(problem, context, true);
    if (!tactics.ok()) continue;
    const std::vector<Tactic> pitched = pitched_twins(problem, *tactics);
    tactics->insert(tactics->end(), pitched.begin(), pitched.end());
    std::vector<const Tactic*> wanted;
    for (const Tactic& tactic : *tactics) {
      if (!fixed_alone) wanted.push_back(&tactic);
    }
    for (const FixedCase& c : fixed_cases()) {
      if (fixed_alone && c.problem == row.name && c.compute_capability == compute_capability)
        wanted.push_back(find_tactic(*tactics, c.tactic));
    }
    for (const Tactic* tactic : wanted) {
      const std::string family = tactic->id.substr(0, tactic->id.find('/'));
      out.insert(family);
      out.merge(branches_of(plan_kernel(problem, *tactic, context).value(), family));
    }
  }
  return out;
}

TEST(FixedListOfTactics, HasEachFamilyAndEachBranchOfItsText) {
  std::set<std::string> all = branches_on(90, false), listed;
  for (int sm : {61, 75, 90}) listed.merge(branches_on(sm, true));
  all.erase("view");  // runs nothing
  for (const std::string& branch : all)
    EXPECT_TRUE(listed.contains(branch)) << branch << " is on no line of fixed_cases.cpp";
  EXPECT_TRUE(branches_on(75, true).contains("conv_mma SPLIT_K=1")) << "copies through registers";
}

struct Case {
  ProblemRow row;
  int compute_capability;
};

class Kernels : public testing::TestWithParam<Case> {};

TEST_P(Kernels, GiveWhatTheReferenceGives) {
  SCOPED_TRACE("ENGINERY_TEST_SEED=" + std::to_string(test_seed()));
  Emulation emulation(GetParam().row.text, GetParam().compute_capability, test_seed());
  auto tactics = emulation.offer();
  const bool required = !required_sources(GetParam().row, DeviceKind::cuda).empty();
  EXPECT_TRUE(tactics.ok() || !required) << tactics.error().message;
  if (!tactics.ok()) GTEST_SKIP() << tactics.error().message;
  const bool all = test_variable("ENGINERY_TEST_ALL_KERNELS", "") == "1";
  const std::string filter = test_variable("ENGINERY_TEST_FILTER", "");
  size_t most = all ? tactics->size() : 2;
  std::mt19937_64 random(test_seed());
  if (!all) std::shuffle(tactics->begin(), tactics->end(), random);
  for (const Tactic& tactic : *tactics) {
    if (tactic.view_of >= 0 || tactic_key(tactic).find(filter) == std::string::npos) continue;
    if (most-- == 0) break;
    emulation.expect_right(tactic);
  }
}

std::vector<Case> cases() {
  std::vector<Case> out;
  for (const ProblemRow& row : conformance_rows()) out.push_back({row, 90});
  for (const ProblemRow& row : conformance_rows()) {
    if (row.name.starts_with("conv_3x3") || row.name.starts_with("conv_1x1") ||
        row.name.starts_with("quantized_conv"))
      out.push_back({row, 75});
  }
  return out;
}

INSTANTIATE_TEST_SUITE_P(Emulated, Kernels, testing::ValuesIn(cases()), [](const auto& test) {
  return std::string(test.param.row.name) + "_sm" + std::to_string(test.param.compute_capability);
});

}  // namespace
}  // namespace enginery
