#include <gtest/gtest.h>

#include <thread>

#include "engine/device/sku_table.h"
#include "engine/tactics/cpu/onednn/onednn_source.h"
#include "engine/tactics/cpu/reference/reference_source.h"
#include "tests/support/problem_text.h"
#include "tests/support/tactic_harness.h"

namespace enginery {
namespace {

// oneDNN's cap belongs to the process: every test here uses one SKU.
std::unique_ptr<Device> best_device() {
  for (const LocalSku& sku : local_skus()) {
    if (sku.kind == DeviceKind::cpu) return open_device(sku.name, {}).value();
  }
  return nullptr;
}

const TacticSource& source_of(const TacticSources& sources, std::string_view name) {
  for (const auto& source : sources) {
    if (source->name() == name) return *source;
  }
  panic(__FILE__, __LINE__, "no such source");
}

constexpr const char* kPointwise =
    "conv strides=[1,1] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] | float32[1x32x8x8] "
    "w:float32[32x32x1x1] w:float32[32] | add float32[1x32x8x8] | act kind=relu";

TEST(TacticSources, OrderIsOursThenOnednnThenReference) {
  auto device = best_device();
  auto sources = make_tactic_sources(*device).value();
  std::vector<std::string_view> names;
  for (const auto& s : sources) names.push_back(s->name());
  EXPECT_EQ(names, (std::vector<std::string_view>{"kernel", "onednn", "reference"}));
  auto without = make_tactic_sources(*device, {{"onednn"}}).value();
  EXPECT_EQ(without.size(), 2u);
  auto only = make_tactic_sources(*device, {{}, {"reference"}}).value();
  ASSERT_EQ(only.size(), 1u);
  EXPECT_EQ(only[0]->name(), "reference");
}

TEST(TacticSources, SayHowFarTheirTacticsMayBeTrusted) {
  auto device = best_device();
  auto sources = make_tactic_sources(*device).value();
  EXPECT_EQ(source_of(sources, "kernel").traits().trust, Trust::may_fault);
  EXPECT_EQ(source_of(sources, "onednn").traits().trust, Trust::may_fault);
  EXPECT_EQ(source_of(sources, "reference").traits().trust, Trust::reference);
}

// A farm's client may lack what a worker has: it must know the names all the same.
TEST(TacticSources, NamesThoseOfEveryDevice) {
  EXPECT_EQ(tactic_source_names(),
            (std::vector<std::string>{"cublaslt", "cudnn", "kernel", "onednn", "reference"}));
}

TEST(Onednn, RefusesAnotherCapInTheSameProcess) {
  auto skus = local_skus();
  std::vector<std::string> cpus;
  for (const auto& s : skus)
    if (s.kind == DeviceKind::cpu) cpus.push_back(s.name);
  if (cpus.size() < 2) GTEST_SKIP() << "this CPU has one SKU only";
  auto device = best_device();
  auto sources = make_tactic_sources(*device).value();
  // The first use of a primitive fixes the cap.
  ASSERT_TRUE(source_of(sources, "onednn")
                  .offer(parse_problem(kPointwise).value(), {Precision::fp32})
                  .ok());
  auto other = open_device(cpus.back(), {}).value();
  auto refused = make_onednn_source(other->info());
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::incompatible);
}

TEST(Onednn, AnIdThatItDoesNotOfferIsIncompatibleAndNamesTheVersion) {
  auto device = best_device();
  auto sources = make_tactic_sources(*device).value();
  Problem p = parse_problem(kPointwise).value();
  std::mt19937_64 random(1);
  ProblemData data;
  fill_random(p, random, data);
  const TacticSource& onednn = source_of(sources, "onednn");
  Tactic tactic = onednn.offer(p, {Precision::fp32}).value()[0];
  tactic.id = "jit_gone:avx9000";
  auto prepared = onednn.prepare(p, tactic, data.weights);
  ASSERT_FALSE(prepared.ok());
  EXPECT_EQ(prepared.error().code, ErrorCode::incompatible);
  EXPECT_NE(prepared.error().message.find("oneDNN "), std::string::npos)
      << prepared.error().message;
}

TEST(Onednn, OffersNoReferenceImplementation) {
  auto device = best_device();
  auto sources = make_tactic_sources(*device).value();
  for (const char* text : {kPointwise, "act kind=tanh | float32[1x21x9x9]",
                           "global_pool kind=average | float32[1x10x13x9]"}) {
    auto tactics =
        source_of(sources, "onednn").offer(parse_problem(text).value(), {Precision::fp32});
    if (!tactics.ok()) continue;
    for (const Tactic& t : *tactics)
      EXPECT_EQ(t.id.find("ref"), std::string::npos) << tactic_key(t);
  }
}

TEST(Sources, OfferNothingWithoutFp32ButTheReference) {
  auto device = best_device();
  auto sources = make_tactic_sources(*device).value();
  Problem p = parse_problem(kPointwise).value();
  EXPECT_EQ(source_of(sources, "onednn").offer(p, {Precision::int8}).error().code,
            ErrorCode::unsupported);
  EXPECT_EQ(source_of(sources, "kernel").offer(p, {Precision::int8}).error().code,
            ErrorCode::unsupported);
  EXPECT_TRUE(source_of(sources, "reference").offer(p, {Precision::fp32}).ok());
}

TEST(PreparedTactic, MayRunFromSeveralThreadsAtOnce) {
  auto device = best_device();
  auto sources = make_tactic_sources(*device).value();
  Problem p = parse_problem(kPointwise).value();
  std::mt19937_64 random(7);
  ProblemData data;
  fill_random(p, random, data);
  auto expected = run_problem_reference(p, data.inputs).value();
  for (const char* name : {"kernel", "onednn"}) {
    const TacticSource& source = source_of(sources, name);
    Tactic tactic = source.offer(p, {Precision::fp32}).value()[0];
    auto one = device->create_stream().value();
    TacticRun first(*device, *one);
    ASSERT_TRUE(first.prepare(source, p, tactic, data, OperandPlace::separate).ok());
    std::vector<double> errors(3, 1);
    std::vector<std::thread> threads;
    for (size_t t = 0; t < errors.size(); ++t) {
      threads.emplace_back([&, t] {
        auto stream = device->create_stream().value();
        TacticRun run(*device, *stream);
        if (!run.share(first, p, tactic, data).ok()) return;
        for (int i = 0; i < 20; ++i) {
          if (!run.launch().ok()) return;
        }
        auto out = run.collect();
        if (out.ok()) errors[t] = relative_error((*out)[0], expected[0]);
      });
    }
    for (auto& t : threads) t.join();
    for (double e : errors) EXPECT_LE(e, 1e-4) << name;
  }
}

}  // namespace
}  // namespace enginery
