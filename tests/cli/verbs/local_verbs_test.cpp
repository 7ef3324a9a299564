// The verbs that need no service, on an engine that they build themselves: the example network,
// untuned (level 0), for one thread.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/command_line.h"
#include "cli/output/json_output.h"
#include "engine/base/file.h"
#include "tests/cli/fake_console.h"
#include "tests/cli/temporary_home.h"

namespace enginery {
namespace {

const std::string kLocalModel =
    std::string(ENGINERY_SOURCE_DIR) + "/deploy/examples/shapes/shapes.onnx";
const std::string kPictures = std::string(ENGINERY_SOURCE_DIR) + "/deploy/examples/shapes/pictures";
const std::string kPreprocess =
    std::string(ENGINERY_SOURCE_DIR) + "/deploy/examples/shapes/preprocess.toml";

struct Outcome {
  ExitCode code = ExitCode::ok;
  std::string out, err;
  Json json() const { return Json::parse(out); }
};

Outcome run(const std::vector<std::string>& words) {
  FakeConsole fake;
  const ExitCode code = run_command_line(words, fake.console());
  return {code, fake.out(), fake.err()};
}

class LocalVerbs : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    home_ = std::make_unique<TemporaryHome>();
    built_ =
        run({"build", kLocalModel, "-o", engine(), "--level", "0", "--threads", "1", "--json"});
    ASSERT_EQ(built_.code, ExitCode::ok) << built_.err;
  }
  static void TearDownTestSuite() { home_.reset(); }
  static std::string engine() { return home_->file("shapes.engine"); }

  static std::unique_ptr<TemporaryHome> home_;
  static Outcome built_;
};

std::unique_ptr<TemporaryHome> LocalVerbs::home_;
Outcome LocalVerbs::built_;

TEST_F(LocalVerbs, BuildSaysWhatItMadeAndKeepsTheThreadsAsked) {
  const Json report = built_.json();
  EXPECT_EQ(report["schema"], "enginery.build/1");
  EXPECT_EQ(report["name"], "shapes");
  EXPECT_EQ(report["path"], engine());
  const Json info = run({"inspect", engine(), "--json"}).json();
  EXPECT_EQ(info["threads"], 1);
  EXPECT_EQ(info["level"], 0);
  EXPECT_EQ(info["content_digest"], report["content_digest"]);
}

TEST_F(LocalVerbs, TheSameBuildComesFromTheCatalogAndOtherThreadsDoNot) {
  const Outcome again = run({"build", kLocalModel, "-o", home_->file("2.engine"), "--level", "0",
                             "--threads", "1", "--json"});
  ASSERT_EQ(again.code, ExitCode::ok) << again.err;
  EXPECT_EQ(again.json()["source"], "cache");
  EXPECT_EQ(*read_file(home_->file("2.engine")), *read_file(engine()));
  const Outcome other = run({"build", kLocalModel, "-o", home_->file("3.engine"), "--level", "0",
                             "--threads", "2", "--json"});
  ASSERT_EQ(other.code, ExitCode::ok) << other.err;
  EXPECT_EQ(other.json()["source"], "built");
  EXPECT_NE(other.json()["key"], again.json()["key"]);
}

TEST_F(LocalVerbs, AnotherNumberOfThreadsWarns) {
  const std::vector<std::string> words{"run",     engine(),       "--input",
                                       kPictures, "--preprocess", kPreprocess};
  const auto with_threads = [&](const std::string& threads) {
    std::vector<std::string> all = words;
    all.insert(all.end(), {"--threads", threads});
    return run(all);
  };
  const Outcome two = with_threads("2");
  ASSERT_EQ(two.code, ExitCode::ok) << two.err;
  EXPECT_NE(two.err.find("was tuned for 1 threads and runs with 2"), std::string::npos) << two.err;
  EXPECT_EQ(with_threads("1").err.find("was tuned for"), std::string::npos);
}

TEST_F(LocalVerbs, RunPrintsTheBestClassesAsTabSeparatedLines) {
  const Outcome top = run({"run", engine(), "--input", kPictures, "--preprocess", kPreprocess,
                           "--top", "2", "--threads", "1"});
  ASSERT_EQ(top.code, ExitCode::ok) << top.err;
  std::istringstream lines(top.out);
  std::string line;
  ASSERT_TRUE(std::getline(lines, line));
  EXPECT_EQ(std::count(line.begin(), line.end(), '\t'), 4) << line;
}

TEST_F(LocalVerbs, BenchJsonHasTheFieldsOfTheContract) {
  const Outcome bench = run({"bench", engine(), "--iterations", "3", "--warm-up", "0", "--threads",
                             "1", "--dump-profile", "--json"});
  ASSERT_EQ(bench.code, ExitCode::ok) << bench.err;
  const Json json = bench.json();
  EXPECT_EQ(json["schema"], "enginery.bench/1");
  for (const char* field : {"engine", "shapes", "threads", "batch", "iterations", "warm_up",
                            "transfers", "latency", "throughput_per_s", "device_state", "layers"})
    EXPECT_TRUE(json.contains(field)) << field;
  EXPECT_EQ(json["threads"], 1);
  EXPECT_EQ(json["iterations"], 3);
  for (const char* field : {"min_ms", "mean_ms", "p25_ms", "median_ms", "p75_ms", "p90_ms",
                            "p95_ms", "p99_ms", "max_ms"})
    EXPECT_GT(json["latency"][field], 0) << field;
  for (const Json& layer : json["layers"]) EXPECT_TRUE(layer.contains("median_us"));
}

TEST_F(LocalVerbs, BenchRefusesAShapeThatTheEngineDoesNotHave) {
  EXPECT_EQ(run({"bench", engine(), "--shapes", "nosuch:1x3"}).code, ExitCode::invalid_input);
  EXPECT_EQ(run({"bench", engine(), "--beside", engine(), "--streams", "2"}).code, ExitCode::usage);
}

TEST_F(LocalVerbs, VerifyTrustsTheOwnKeyAndSeesAChangedByte) {
  const Outcome good = run({"verify", engine(), "--json"});
  ASSERT_EQ(good.code, ExitCode::ok) << good.err;
  EXPECT_EQ(good.json()["ok"], true);
  Bytes bytes = *read_file(engine());
  bytes[bytes.size() / 2] ^= 1;
  ASSERT_TRUE(write_file(home_->file("bad.engine"), bytes).ok());
  EXPECT_EQ(run({"verify", home_->file("bad.engine")}).code, ExitCode::untrusted);
}

TEST_F(LocalVerbs, TheCatalogShowsTagsAndVerifiesWhatWasBuilt) {
  const std::string digest = built_.json()["engine"];
  ASSERT_EQ(run({"catalog", "tag", digest, "prod"}).code, ExitCode::ok);
  const Json listed = run({"catalog", "ls", "shapes", "--json"}).json();
  ASSERT_EQ(listed["tags"].size(), 1u);
  EXPECT_EQ(listed["tags"][0]["tag"], "prod");
  EXPECT_EQ(run({"catalog", "show", digest, "--json"}).json()["name"], "shapes");
  EXPECT_EQ(run({"catalog", "verify", "--json"}).json()["clean"], true);
  EXPECT_EQ(run({"catalog", "shwo"}).code, ExitCode::usage);
  EXPECT_EQ(run({"why-miss", built_.json()["key"], "--json"}).json()["present"], true);
}

}  // namespace
}  // namespace enginery
