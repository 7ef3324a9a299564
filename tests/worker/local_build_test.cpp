#include "worker/local_build.h"

#include <gtest/gtest.h>

#include "engine/base/file.h"
#include "engine/base/signed_file.h"
#include "tests/worker/small_models.h"

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

  void write_model(int seed) { ASSERT_TRUE(write_file(request_.model, convolutions(2, seed)).ok()); }

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
  hooks.progress = [&](const Progress& p) { tuned = p.phase == "tuning" ? static_cast<int>(p.done) : tuned; };
  hooks.cancelled = [&] { return tuned >= 1; };
  auto stopped = build_local(*catalog_, request_, hooks);
  ASSERT_FALSE(stopped.ok());
  EXPECT_EQ(stopped.error().code, ErrorCode::cancelled) << stopped.error().message;
  const LocalBuildReport resumed = build();
  EXPECT_GT(resumed.timings_reused, 0u);
  EXPECT_GT(resumed.timings_measured, 0u);
}

}  // namespace
}  // namespace enginery
