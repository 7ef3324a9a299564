#include "worker/local_build.h"

#include <gtest/gtest.h>

#include <atomic>

#include "engine/base/file.h"
#include "engine/base/signed_file.h"
#include "tests/worker/small_models.h"
#include "worker/timing/timing_file.h"

namespace enginery {
namespace {

using test::convolutions;

class LocalBuild : public testing::Test {
 protected:
  void SetUp() override {
    auto opened = Catalog::open(folder_.path / "catalog");
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    catalog_ = std::move(*opened);
    request_.model = folder_.path / "net.onnx";
    request_.sku = test::best_cpu_sku();
    request_.keys = folder_.path / "keys";
    request_.options.threads = 1;
    request_.options.level = 2;
    write_model(1);
  }

  void write_model(int seed) {
    ASSERT_TRUE(write_file(request_.model, convolutions(2, seed)).ok());
  }

  LocalBuildReport build() {
    auto report = build_local(*catalog_, request_);
    EXPECT_TRUE(report.ok()) << report.error().message;
    return report.ok() ? *report : LocalBuildReport{};
  }

  test::Folder folder_;
  std::unique_ptr<Catalog> catalog_;
  LocalBuildRequest request_;
};

TEST_F(LocalBuild, MakesASignedEngineAndAnswersTheNextOneFromTheCatalog) {
  const LocalBuildReport first = build();
  EXPECT_EQ(first.source, Source::built);
  EXPECT_EQ(first.name, "net");
  EXPECT_GT(first.timings_measured, 0u);
  EXPECT_GT(first.latency_ms, 0);
  EXPECT_LE(first.error, first.bar);
  auto bytes = catalog_->blobs().get(first.engine);
  ASSERT_TRUE(bytes.ok());
  auto trust = TrustStore::load(request_.keys);
  ASSERT_TRUE(trust.ok());
  auto engine = read_engine(std::make_shared<const Bytes>(*bytes), *trust);
  ASSERT_TRUE(engine.ok()) << engine.error().message;
  EXPECT_EQ(engine->content_digest, first.content_digest);
  EXPECT_EQ(engine->manifest.sku, request_.sku);
  EXPECT_EQ(engine->provenance.step_us.size(), engine->plan.steps.size());

  const LocalBuildReport second = build();
  EXPECT_EQ(second.source, Source::cache);
  EXPECT_EQ(second.engine, first.engine);
  EXPECT_EQ(second.timings_measured, 0u);
  EXPECT_GT(second.timings_reused, 0u);
}

TEST_F(LocalBuild, MeasuresNothingForOtherWeights) {
  const LocalBuildReport first = build();
  write_model(2);
  const LocalBuildReport second = build();
  EXPECT_EQ(second.source, Source::built);
  EXPECT_NE(second.engine, first.engine);
  EXPECT_EQ(second.timings_measured, 0u);
}

TEST_F(LocalBuild, RebuildsWithTheTimingsThatItHas) {
  const LocalBuildReport first = build();
  request_.rebuild = true;
  const LocalBuildReport second = build();
  EXPECT_EQ(second.source, Source::built);
  EXPECT_EQ(second.timings_measured, 0u);
  EXPECT_EQ(second.content_digest, first.content_digest);
  auto commits = catalog_->results().commits(first.key, 2);
  ASSERT_TRUE(commits.ok());
  EXPECT_EQ(*commits, 1);
}

TEST_F(LocalBuild, MeasuresAllAgainWithoutATimingCache) {
  build();
  request_.timing_cache = "none";
  EXPECT_GT(build().timings_measured, 0u);
}

TEST_F(LocalBuild, KeepsTimingsInAFile) {
  request_.timing_cache = (folder_.path / "timings.json").string();
  const LocalBuildReport first = build();
  EXPECT_GT(first.timings_measured, 0u);
  request_.error_on_miss = true;
  const LocalBuildReport second = build();
  EXPECT_EQ(second.timings_measured, 0u);
  EXPECT_EQ(second.content_digest, first.content_digest);
}

TEST_F(LocalBuild, SaysWhatIsMissingWhenNothingMayBeMeasured) {
  request_.error_on_miss = true;
  auto report = build_local(*catalog_, request_);
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.error().code, ErrorCode::not_found);
}

TEST_F(LocalBuild, RefusesAModelThatIsNone) {
  ASSERT_TRUE(write_file(request_.model, "this is not a model").ok());
  auto report = build_local(*catalog_, request_);
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.error().code, ErrorCode::invalid_argument) << report.error().message;
  request_.model = folder_.path / "absent.onnx";
  report = build_local(*catalog_, request_);
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.error().code, ErrorCode::not_found) << report.error().message;
}

TEST_F(LocalBuild, StopsWhenAskedAndResumesWithWhatItMeasured) {
  StepHooks hooks;
  int tuned = 0;
  hooks.progress = [&](const Progress& p) {
    tuned = p.phase == "tuning" ? static_cast<int>(p.done) : tuned;
  };
  hooks.cancelled = [&] { return tuned >= 1; };
  auto stopped = build_local(*catalog_, request_, hooks);
  ASSERT_FALSE(stopped.ok());
  EXPECT_EQ(stopped.error().code, ErrorCode::cancelled) << stopped.error().message;
  const LocalBuildReport resumed = build();
  EXPECT_GT(resumed.timings_reused, 0u);
  EXPECT_GT(resumed.timings_measured, 0u);
}

TEST_F(LocalBuild, TunesInAProcessOfItsOwnAsInThisOne) {
  request_.runner = {ENGINERY_TEST_RUNNER};
  const LocalBuildReport apart = build();
  EXPECT_GT(apart.timings_measured, 0u);
  request_.runner.clear();
  request_.rebuild = true;
  const LocalBuildReport here = build();
  EXPECT_EQ(here.timings_measured, 0u);
  EXPECT_EQ(here.content_digest, apart.content_digest);
  request_.runner = {ENGINERY_TEST_RUNNER};
  request_.timing_cache = (folder_.path / "timings.json").string();
  request_.error_on_miss = true;
  auto report = build_local(*catalog_, request_);
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.error().code, ErrorCode::not_found) << report.error().message;
}

TEST_F(LocalBuild, StartsNoProcessWhereNothingHasToBeMeasured) {
  const LocalBuildReport first = build();
  request_.runner = {"/no/such/program"};
  request_.rebuild = true;
  const LocalBuildReport again = build();
  EXPECT_EQ(again.content_digest, first.content_digest);
  EXPECT_EQ(again.timings_measured, 0u);
  ASSERT_FALSE(again.phases.empty());
  EXPECT_EQ(again.phases[0].first, "validate");
  write_model(3);
  request_.timing_cache = "none";
  EXPECT_FALSE(build_local(*catalog_, request_).ok());
}

TEST_F(LocalBuild, StopsItsRunnerWhenAsked) {
  request_.runner = {ENGINERY_TEST_RUNNER};
  request_.options.level = 4;
  ASSERT_TRUE(write_file(request_.model, convolutions(40, 1)).ok());
  StepHooks hooks;
  std::atomic<int> tuned = 0;
  hooks.progress = [&](const Progress& p) {
    tuned = p.phase == "tuning" ? static_cast<int>(p.done) : tuned.load();
  };
  hooks.cancelled = [&] { return tuned >= 1; };
  auto stopped = build_local(*catalog_, request_, hooks);
  ASSERT_FALSE(stopped.ok());
  EXPECT_EQ(stopped.error().code, ErrorCode::cancelled) << stopped.error().message;
}

TEST_F(LocalBuild, GoesOnWithoutTheTacticsThatTakeTheirRunnerDown) {
  request_.runner = {ENGINERY_FAULTY_RUNNER};
  request_.longest_trial = std::chrono::seconds(2);
  for (const char* fault : {"segv", "lost", "prepare", "hang"}) {
    setenv("ENGINERY_TEST_FAULT", fault, 1);
    request_.timing_cache = (folder_.path / fault).string();
    build();
    int blamed = 0;
    auto file = read_file(request_.timing_cache);
    ASSERT_TRUE(file.ok());
    const auto entries = parse_timings(*file);
    ASSERT_TRUE(entries.ok());
    for (const TimingEntryText& entry : *entries) {
      if (entry.timing.tactic.starts_with("faulty:bad")) {
        ++blamed;
        EXPECT_NE(
            entry.timing.failure.find(std::string(fault) == "lost" ? "is lost" : "was running"),
            std::string::npos)
            << fault;
      } else if (entry.timing.tactic.starts_with("faulty:harmless")) {
        EXPECT_EQ(entry.timing.failure, "cannot be prepared") << fault;
      } else {
        EXPECT_EQ(entry.timing.failure, "") << entry.timing.tactic;
      }
    }
    EXPECT_GE(blamed, 2) << fault;
  }
  unsetenv("ENGINERY_TEST_FAULT");
}

}  // namespace
}  // namespace enginery
