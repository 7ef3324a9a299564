// Local builds among tactics that crash, hang, lose the device or compute wrong numbers.
#include <algorithm>
#include <set>

#include "engine/base/signed_file.h"
#include "tests/worker/faulty_source.h"
#include "tests/worker/local/local_build.h"
#include "worker/timing/timing_file.h"

namespace enginery {
namespace {

using test::LocalBuild;

// What is kept against a tactic that fails so (faulty_source.h).
FailureKind kind_of(const std::string& fault) {
  if (fault == "hang") return FailureKind::timed_out;
  return fault == "lost" ? FailureKind::fault : FailureKind::crash;
}

// Level 0 is below: its tactics are met in a whole engine.
TEST_F(LocalBuild, GoesOnWithoutTheTacticsThatTakeTheirRunnerDown) {
  request_.runner = {ENGINERY_FAULTY_RUNNER};
  const struct {
    const char* fault;
    int level;
  } rows[] = {{"segv", 2}, {"lost", 2}, {"prepare", 2}, {"hang", 2},
              {"late", 2}, {"segv", 3}, {"late", 3}};
  for (const auto& [fault, level] : rows) {
    SCOPED_TRACE(fault + (" at level " + std::to_string(level)));
    const bool hangs = std::string(fault) == "hang";
    request_.options.level = level;
    request_.max_trial = hangs ? std::chrono::seconds(8) : std::chrono::seconds(60);
    setenv("ENGINERY_TEST_FAULT", fault, 1);
    request_.timing_cache = (folder_.path / (fault + std::to_string(level))).string();
    build();
    int blamed = 0;
    auto file = read_file(request_.timing_cache);
    ASSERT_TRUE(file.ok());
    const auto entries = parse_timings(*file);
    ASSERT_TRUE(entries.ok());
    for (const TimingEntryText& entry : *entries) {
      if (entry.timing.tactic.starts_with("faulty:bad")) {
        ++blamed;
        EXPECT_EQ(entry.timing.failure_kind, kind_of(fault))
            << fault << ": " << entry.timing.failure;
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
    // Of the two layers' tactics only one has the launch that is too many.
    EXPECT_GE(blamed, std::string(fault) == "late" ? 1 : 2) << fault;
  }
  unsetenv("ENGINERY_TEST_FAULT");
}

// Nothing is measured at level 0: the tactic is met in verify or profile, and the step's next
// runner chooses another.
class FaultyLocalBuild : public LocalBuild {
 protected:
  void SetUp() override {
    LocalBuild::SetUp();
    request_.runner = {ENGINERY_FAULTY_RUNNER};
    request_.open = test::open_with_faults;
    request_.options.level = 0;
    request_.timing_cache = (folder_.path / "timings.json").string();
  }
  void TearDown() override { unsetenv("ENGINERY_TEST_FAULT"); }

  // The kinds of failures that the timings have of planted tactics; of others there are none.
  std::multiset<FailureKind> failures() const {
    std::multiset<FailureKind> out;
    const auto file = read_file(request_.timing_cache);
    EXPECT_TRUE(file.ok());
    if (!file.ok()) return out;
    const auto entries = parse_timings(*file);
    EXPECT_TRUE(entries.ok());
    if (!entries.ok()) return out;
    for (const TimingEntryText& entry : *entries) {
      if (entry.timing.failure.empty()) continue;
      if (entry.timing.tactic.starts_with("faulty:harmless")) continue;  // beside a bad one
      EXPECT_TRUE(entry.timing.tactic.starts_with("faulty:bad")) << entry.timing.failure;
      out.insert(entry.timing.failure_kind);
    }
    return out;
  }
  // The tactics of the engine that was built, as "source:id".
  std::vector<std::string> tactics(const LocalBuildReport& report) const {
    const auto bytes = catalog_->blobs().get(report.engine);
    const auto trust = TrustStore::load(request_.keys);
    std::vector<std::string> out;
    if (!bytes.ok() || !trust.ok()) return out;
    const auto engine = read_engine(std::make_shared<const Bytes>(*bytes), *trust);
    EXPECT_TRUE(engine.ok()) << engine.error().message;
    for (const PlanStep& step : engine->plan.steps)
      out.push_back(step.tactic.source + ":" + step.tactic.id);
    EXPECT_EQ(engine->content_digest, report.content_digest);
    return out;
  }
};

TEST_F(FaultyLocalBuild, GoesOnWithoutATacticThatEndsTheProcess) {
  for (const char* fault : {"segv", "lost", "hang", "prepare", "late"}) {
    SCOPED_TRACE(fault);
    const bool hangs = std::string(fault) == "hang";
    request_.max_trial = hangs ? std::chrono::seconds(8) : std::chrono::seconds(60);
    request_.timing_cache = (folder_.path / fault).string();
    setenv("ENGINERY_TEST_FAULT", fault, 1);
    const LocalBuildReport report = build();
    EXPECT_LE(report.error, report.bar);
    EXPECT_GT(report.latency_ms, 0);
    const std::multiset<FailureKind> found = failures();
    EXPECT_GE(found.size(), 1u);
    EXPECT_EQ(found.count(kind_of(fault)), found.size());
    if (std::string(fault) == "late") continue;  // one of the two has more than its share of runs
    for (const std::string& tactic : tactics(report))
      EXPECT_FALSE(tactic.starts_with("faulty")) << tactic;
  }
}

TEST_F(FaultyLocalBuild, ReplacesATacticThatIsWrongOnlyInTheWholeEngine) {
  setenv("ENGINERY_TEST_FAULT", "wrong", 1);
  for (const int level : {0, 2}) {
    SCOPED_TRACE(level);
    request_.options.level = level;
    request_.timing_cache = (folder_.path / std::to_string(level)).string();
    const LocalBuildReport report = build();
    EXPECT_LE(report.error, report.bar);
    EXPECT_EQ(failures(), (std::multiset<FailureKind>{FailureKind::wrong_result}));
    EXPECT_EQ(tactics(report), (std::vector<std::string>{"faulty:good", "faulty:bad"}));
    EXPECT_TRUE(std::any_of(report.notes.begin(), report.notes.end(), [](const auto& note) {
      return note.find("faulty:bad") != std::string::npos &&
             note.find("layer '") != std::string::npos;
    }));
    // Other weights, of which it is right: it is left alone all the same.
    write_model(2);
    EXPECT_EQ(tactics(build()), (std::vector<std::string>{"faulty:good", "faulty:bad"}));
    EXPECT_EQ(failures().size(), 1u);
    write_model(1);
  }
}

TEST_F(FaultyLocalBuild, FailsWithLayerAndTacticWhereEveryChoiceIsWrong) {
  setenv("ENGINERY_TEST_FAULT", "hopeless", 1);
  const auto report = build_local(*catalog_, request_);
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.error().code, ErrorCode::internal);
  EXPECT_NE(report.error().message.find("at fault: layer '"), std::string::npos)
      << report.error().message;
  EXPECT_NE(report.error().message.find("faulty:bad7"), std::string::npos)
      << report.error().message;
}

// What `--input` gives is what the runner verifies on.
TEST_F(FaultyLocalBuild, HandsTheGivenInputsToItsRunner) {
  request_.verify_inputs = [](const Graph& model) -> Result<std::vector<Tensor>> {
    const TensorType& type = model.value(model.inputs()[0]).type;
    Tensor t(type.type, type.dims);
    for (float& v : t.mutable_data<float>()) v = std::numeric_limits<float>::quiet_NaN();
    return std::vector{std::move(t)};
  };
  const LocalBuildReport report = build();
  EXPECT_TRUE(std::any_of(report.notes.begin(), report.notes.end(), [](const auto& note) {
    return note.find("are NaN in the reference") != std::string::npos;
  }));
}

}  // namespace
}  // namespace enginery
