#include "worker/local_farm.h"

#include <algorithm>
#include <atomic>
#include <map>

#include "engine/base/file.h"
#include "engine/base/signed_file.h"
#include "engine/options/target_options.h"
#include "engine/options/toolchain.h"
#include "pipeline/keys.h"
#include "tests/engine/import/model_builder.h"
#include "tests/worker/local/local_build.h"
#include "worker/timing/timing_file.h"

namespace enginery {
namespace {

using test::convolutions;
using test::LocalBuild;

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

// A deterministic failure is the key's answer, as in the farm: the same words, and no step runs
// again.
TEST_F(LocalBuild, AnswersAModelThatFailsFromTheCatalogTheSecondTime) {
  test::ModelBuilder model;
  model.input("x", {test::Size(3)}).node("Nonsense", {"x"}, {"y"}).output("y");
  ASSERT_TRUE(write_file(request_.model, model.bytes()).ok());
  const auto first = build_local(*catalog_, request_);
  ASSERT_FALSE(first.ok());
  EXPECT_EQ(first.error().code, ErrorCode::unsupported) << first.error().message;
  const auto packed = pack_model(request_.model);
  ASSERT_TRUE(packed.ok());
  const BuildOptions options = options_for(request_.sku, request_.options);
  const Digest key =
      action_key("validate", validate_key(sha256(*packed), options, reader_name())).digest();
  const auto stored = catalog_->results().lookup(key);
  ASSERT_TRUE(stored.ok() && stored->has_value());
  EXPECT_FALSE((*stored)->success);

  const std::vector<StepFunction> none;  // whatever ran now would fail with other words
  request_.functions = none;
  const auto second = build_local(*catalog_, request_);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, first.error().code);
  EXPECT_EQ(second.error().message, first.error().message);

  request_.functions = step_functions();
  request_.rebuild = true;
  const auto rebuilt = build_local(*catalog_, request_);
  ASSERT_FALSE(rebuilt.ok());
  EXPECT_EQ(rebuilt.error().message, first.error().message);
  const auto commits = catalog_->results().commits(key, 2);
  ASSERT_TRUE(commits.ok());
  EXPECT_EQ(*commits, 1) << "--rebuild tries again";
}

// What another importer or other passes found in a model, or refused it for, is no answer of these.
TEST_F(LocalBuild, ValidatesAgainWhatAnotherReaderRefused) {
  const auto packed = pack_model(request_.model);
  ASSERT_TRUE(packed.ok());
  const BuildOptions options = options_for(request_.sku, request_.options);
  const ActionKey key =
      action_key("validate", validate_key(sha256(*packed), options, builder_name()));
  ActionResult refused;
  refused.key = key.digest();
  refused.success = false;
  ASSERT_TRUE(catalog_->results().commit(key, refused).ok());
  EXPECT_EQ(build().source, Source::built);
}

// A verification that finds wrong numbers is an answer, too; what this machine could not do is
// none.
TEST_F(LocalBuild, KeepsOnlyFailuresOfTheInput) {
  static int runs = 0;
  static Result<StepOutputs> (*verify)(const StepContext&) = nullptr;
  std::vector<StepFunction> functions(step_functions().begin(), step_functions().end());
  for (StepFunction& function : functions)
    if (function.kind == StepKind::verify)
      function.run = [](const StepContext& step) {
        ++runs;
        return verify(step);
      };
  request_.functions = functions;
  runs = 0;
  verify = [](const StepContext&) -> Result<StepOutputs> {
    return Error{ErrorCode::unavailable, "the device fell asleep"};
  };
  for (int i = 1; i <= 2; ++i) {
    const auto asleep = build_local(*catalog_, request_);
    ASSERT_FALSE(asleep.ok());
    EXPECT_EQ(asleep.error().code, ErrorCode::unavailable);
    EXPECT_EQ(asleep.error().message, "build net for " + request_.sku + ": the device fell asleep");
    EXPECT_EQ(runs, i) << "tried once a build, and again by the next one";
  }
  verify = [](const StepContext&) -> Result<StepOutputs> {
    StepOutputs out;
    out.rejected = "the engine's outputs differ";
    return out;
  };
  for (int i = 0; i < 2; ++i) {
    const auto wrong = build_local(*catalog_, request_);
    ASSERT_FALSE(wrong.ok());
    EXPECT_EQ(wrong.error().code, ErrorCode::internal);
    EXPECT_EQ(wrong.error().message, "the engine's outputs differ");
    EXPECT_EQ(runs, 3) << "the second one is answered by the catalog";
  }
}

// A step is a row and a function: nothing else says that it is there.
TEST_F(LocalBuild, RunsAStepThatATestAdds) {
  static constexpr StepKind kCalibrate = static_cast<StepKind>(100);
  static int calibrated = 0;
  static std::string read_by_assemble;
  std::vector<Step> table(steps().begin(), steps().end());
  table.insert(table.begin() + 3, {kCalibrate,
                                   "survey",
                                   "surveying",
                                   {"model"},
                                   "histograms",
                                   Needs::device,
                                   KeyRule::chained,
                                   InChain::tuned_only});
  table[5].reads.push_back("histograms");
  std::vector<StepFunction> functions(step_functions().begin(), step_functions().end());
  functions.push_back({kCalibrate, [](const StepContext& step) -> Result<StepOutputs> {
                         ++calibrated;
                         step.hooks.progress({"surveying", 0, 1});
                         StepOutputs out;
                         out.blobs["histograms"] =
                             to_blob("histograms of " + step.session.spec().name);
                         return out;
                       }});
  for (StepFunction& function : functions)
    if (function.kind == StepKind::assemble)
      function.run = [](const StepContext& step) {
        const auto found = step.inputs.find("histograms");
        read_by_assemble = found == step.inputs.end() ? "" : *found->second;
        return assemble_step(step);
      };
  request_.steps = table;
  request_.functions = functions;
  calibrated = 0;
  const LocalBuildReport first = build();
  EXPECT_EQ(calibrated, 1);
  EXPECT_EQ(read_by_assemble, "histograms of net");
  ASSERT_GE(first.phases.size(), 2u);
  EXPECT_EQ(first.phases[1].first, "survey");
  // Other weights: another engine's key, so the step runs again; the same ones: the catalog
  // answers.
  EXPECT_EQ(build().source, Source::cache);
  EXPECT_EQ(calibrated, 1);
  write_model(2);
  build();
  EXPECT_EQ(calibrated, 2);
}

// What a step has to leave is in its row; a function that forgets it fails here, not three steps
// later.
TEST_F(LocalBuild, RefusesAStepThatLeavesLessThanItsRowSays) {
  std::vector<StepFunction> functions(step_functions().begin(), step_functions().end());
  for (StepFunction& function : functions)
    if (function.kind == StepKind::tune)
      function.run = [](const StepContext&) -> Result<StepOutputs> { return StepOutputs{}; };
  request_.functions = functions;
  const auto report = build_local(*catalog_, request_);
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.error().code, ErrorCode::internal);
  EXPECT_NE(report.error().message.find("no output 'choices'"), std::string::npos)
      << report.error().message;
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

TEST_F(LocalBuild, TunesInOneProcessAndDoesTheRestInAnother) {
  request_.runner = {ENGINERY_TEST_RUNNER};
  std::map<std::string, std::string> runner_of;  // by the step's words
  StepHooks hooks;
  hooks.log = [&](const std::string& line) {
    if (const size_t at = line.find(", runner "); at != std::string::npos)
      runner_of[line.substr(0, line.find(' '))] = line.substr(at);
  };
  ASSERT_TRUE(build_local(*catalog_, request_, hooks).ok());
  EXPECT_EQ(runner_of.size(), 4u);
  EXPECT_NE(runner_of["tuning"], runner_of["assembling"]);
  EXPECT_EQ(runner_of["verifying"], runner_of["assembling"]);
  EXPECT_EQ(runner_of["profiling"], runner_of["assembling"]);
}

TEST_F(LocalBuild, StartsNoProcessWhereTheCatalogAnswers) {
  const LocalBuildReport first = build();
  request_.runner = {"/no/such/program"};
  const LocalBuildReport again = build();
  EXPECT_EQ(again.source, Source::cache);
  EXPECT_EQ(again.content_digest, first.content_digest);
  // The timings are there, so the tuning needs none; the engine's tactics run, and do.
  std::vector<std::string> begun;
  StepHooks hooks;
  hooks.progress = [&](const Progress& p) { begun.push_back(p.phase); };
  request_.rebuild = true;
  EXPECT_FALSE(build_local(*catalog_, request_, hooks).ok());
  EXPECT_TRUE(std::count(begun.begin(), begun.end(), "tuning"));
  EXPECT_FALSE(std::count(begun.begin(), begun.end(), "assembling"));
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

}  // namespace
}  // namespace enginery
