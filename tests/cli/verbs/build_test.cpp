// `build`: where the engine goes, what is answered from where, and what is refused.
#include <nlohmann/json.hpp>

#include "engine/base/sign.h"
#include "engine/base/signed_file.h"
#include "tests/cli/verbs/example_engine.h"

namespace enginery {
namespace {

namespace fs = std::filesystem;

class BuildVerb : public ExampleEngineTest {
 protected:
  static Printed build(std::vector<std::string> options) {
    auto words = build_words(file("made.engine"));
    words.insert(words.end(), options.begin(), options.end());
    return ask(words);
  }
};

// The working folder while this object lives.
class WorkingFolder {
 public:
  explicit WorkingFolder(const fs::path& folder) : before_(fs::current_path()) {
    fs::create_directories(folder);
    fs::current_path(folder);
  }
  ~WorkingFolder() { fs::current_path(before_); }
  WorkingFolder(const WorkingFolder&) = delete;

 private:
  const fs::path before_;
};

TEST_F(BuildVerb, JsonHasTheFieldsOfTheContractInTheirOrder) {
  const Json report = ExampleHome::report();
  expect_fields(report, {"schema", "name", "sku", "engine", "content_digest", "path", "source",
                         "key", "model", "precision", "provisional", "latency_ms", "size_bytes",
                         "timings_measured", "timings_reused", "error", "phases", "notes"});
  EXPECT_EQ(report["schema"], "enginery.build/1");
  EXPECT_EQ(report["source"], "built");
  EXPECT_EQ(report["provisional"], false);
  EXPECT_EQ(report["size_bytes"], fs::file_size(engine()));
  EXPECT_EQ(report["engine"], sha256(*read_file(engine())).text());
  EXPECT_TRUE(report["phases"].contains("assemble_s"));
}

TEST_F(BuildVerb, ForPeopleStdoutIsThePathAlone) {
  const Printed built = build({});
  ASSERT_EQ(built.code, ExitCode::ok) << built.err;
  EXPECT_EQ(built.out, file("made.engine") + "\n");
  EXPECT_NE(built.err.find("from the catalog, "), std::string::npos) << built.err;
  EXPECT_NE(built.err.find("N = 1"), std::string::npos) << "what was assumed is told each time";
}

TEST_F(BuildVerb, ADashIsTheEngineOnStdoutAndNothingElse) {
  const Printed built = build({"-o", "-", "--json"});
  ASSERT_EQ(built.code, ExitCode::ok) << built.err;
  EXPECT_EQ(built.out, *read_file(engine()));
}

TEST_F(BuildVerb, ArithmeticThatTheDeviceLacksIsRefusedWhereItWasAskedFor) {
  const auto is_idle = [&](const std::string& target, const std::string& precision) {
    const Printed built = build({"--target", target, "--provisional", "--precision", precision});
    const bool told = built.err.find("changes nothing for " + target) != std::string::npos;
    EXPECT_EQ(built.code == ExitCode::usage, told) << built.err;
    return told;
  };
  EXPECT_TRUE(is_idle("v100-sxm2-16g", "bf16"));
  EXPECT_TRUE(is_idle("v100-sxm2-16g", "tf32"));
  EXPECT_FALSE(is_idle("v100-sxm2-16g", "fp16"));
  EXPECT_FALSE(is_idle("h200", "bf16"));
  EXPECT_TRUE(is_idle("cpu-avx512-vnni", "bf16"));
  EXPECT_FALSE(is_idle("cpu-avx512-bf16", "bf16"));
  EXPECT_TRUE(is_idle("cpu-amx", "fp16"));
  EXPECT_FALSE(is_idle("cpu-amx", "bf16"));
  EXPECT_EQ(build({"--best"}).err.find("changes nothing"), std::string::npos);
}

// A configuration is for every device.
TEST_F(BuildVerb, ArithmeticThatTheDeviceLacksIsToldWhereItIsConfigured) {
  setenv("ENGINERY_PRECISION", "fp16", 1);
  const Printed built = build({});
  unsetenv("ENGINERY_PRECISION");
  EXPECT_EQ(built.code, ExitCode::ok) << built.err;
  EXPECT_NE(built.err.find("--precision fp16 changes nothing for " + ExampleHome::sku()),
            std::string::npos)
      << built.err;
}

TEST_F(BuildVerb, AListOfTargetsIsForSubmit) {
  expect_refused({{"build", kExampleModel, "--target", "cpu-avx2,cpu-avx512"},
                  ExitCode::usage,
                  "build takes one SKU; enginery submit takes a list"});
}

// A build may take an hour: that its result has no place is said before it begins.
TEST_F(BuildVerb, WhereTheEngineGoesIsCheckedBeforeAnythingIsBuilt) {
  const std::vector<std::string> other{"--shapes", "picture:7x3x48x48"};
  auto words = build_words(file("no/such/x.engine"));
  words.insert(words.end(), other.begin(), other.end());
  expect_refused({words, ExitCode::storage, "does not exist"});
  auto dry = build_words(file("made.engine"));
  dry.insert(dry.end(), other.begin(), other.end());
  dry.push_back("--json");
  EXPECT_EQ(ask(dry).json()["source"], "built") << "the refused one had not built it";
}

TEST_F(BuildVerb, ExplainsANodeByWhatWasConsideredForIt) {
  const std::string layer = ask({"inspect", engine(), "--json"}).json()["layers"][0]["name"];
  const Printed json = build({"--explain", layer, "--json"});
  ASSERT_EQ(json.code, ExitCode::ok) << json.err;
  const Json explained = json.json()["explained"];
  EXPECT_EQ(explained["node"], layer);
  int chosen = 0;
  for (const Json& tactic : explained["layers"][0]["tactics"]) {
    chosen += tactic["chosen"] == true;
    EXPECT_EQ(tactic["state"] == "measured", tactic["reason"].is_null()) << tactic;
  }
  EXPECT_EQ(chosen, 1) << explained;
  const Printed text = build({"--explain", layer});
  EXPECT_EQ(text.out, file("made.engine") + "\n");
  EXPECT_NE(text.err.find("layer " + layer), std::string::npos) << text.err;
  EXPECT_FALSE(build({"--json"}).json().contains("explained"));
}

TEST_F(BuildVerb, TakesPrecisionsOfLayersByTheirNames) {
  const std::string layer = ask({"inspect", engine(), "--json"}).json()["layers"][0]["name"];
  const std::string node = layer.substr(0, layer.find('+'));
  const Printed own = build({"--layerPrecisions=" + node + ":fp32", "--json"});
  ASSERT_EQ(own.code, ExitCode::ok) << own.err;
  EXPECT_NE(own.json()["key"], build({"--json"}).json()["key"]) << "it is another engine";
  auto words = build_words(file("made.engine"));
  words.insert(words.end(), {"--layer-precisions", node + "x:fp32"});
  expect_refused({words, ExitCode::not_found, "did you mean " + node});
}

TEST_F(BuildVerb, RefusesToExplainWhatIsNotThereOrWasNotKept) {
  auto words = build_words(file("made.engine"));
  words.insert(words.end(), {"--explain", "nothing like it"});
  expect_refused({words, ExitCode::not_found, "no layer of the engine is or holds a node"});
  words.insert(words.end(), {"--timing-cache", "none"});
  expect_refused({words, ExitCode::usage, "--timing-cache none keeps no times"});
}

TEST_F(BuildVerb, WithoutAnOutputTheFileIsNamedByEngineAndSku) {
  const WorkingFolder here(file("work"));
  const Printed built = ask({"build", kExampleModel, "--level", "0", "--threads", "1"});
  ASSERT_EQ(built.code, ExitCode::ok) << built.err;
  const std::string name = "./shapes." + std::string(ExampleHome::report()["sku"]) + ".engine";
  EXPECT_EQ(built.out, name + "\n");
  EXPECT_TRUE(fs::exists(name));
}

TEST_F(BuildVerb, ARebuildIsBuiltAgainAndMeasuresNothingTwice) {
  const Printed rebuilt = build({"--rebuild", "--json"});
  ASSERT_EQ(rebuilt.code, ExitCode::ok) << rebuilt.err;
  EXPECT_EQ(rebuilt.json()["source"], "built");
  EXPECT_EQ(rebuilt.json()["key"], ExampleHome::report()["key"]);
  EXPECT_EQ(rebuilt.json()["content_digest"], ExampleHome::report()["content_digest"]);
}

// A catalog that several users share, or a key that was replaced: what this user would not run is
// no answer.
TEST_F(BuildVerb, AStoredEngineThatAnUnknownKeySignedIsBuiltAgain) {
  const ExampleHome home;
  fs::remove_all(data_folder() / "keys");
  auto words = build_words(home.file("mine.engine"));
  words.push_back("--json");
  const Printed built = ask(words);
  ASSERT_EQ(built.code, ExitCode::ok) << built.err;
  EXPECT_EQ(built.json()["source"], "built");
  EXPECT_EQ(built.json()["content_digest"], ExampleHome::report()["content_digest"]);
  EXPECT_EQ(ask({"verify", home.file("mine.engine")}).code, ExitCode::ok);
  EXPECT_EQ(ask({"verify", home.engine()}).code, ExitCode::untrusted);
}

TEST_F(BuildVerb, AnUntunedEngineIsMarkedAndHasNoTimes) {
  const Printed built = build({"--provisional", "-o", file("untuned.engine"), "--json"});
  ASSERT_EQ(built.code, ExitCode::ok) << built.err;
  const Json report = built.json();
  EXPECT_EQ(report["provisional"], true);
  EXPECT_TRUE(report["latency_ms"].is_null());
  EXPECT_TRUE(report["error"].is_null()) << "it was not compared with the reference";
  EXPECT_EQ(report["timings_measured"], 0);
  EXPECT_NE(report["key"], ExampleHome::report()["key"]);
  EXPECT_NE(ask({"inspect", file("untuned.engine")}).out.find("(untuned)"), std::string::npos);
  const Printed measured = ask(
      {"bench", file("untuned.engine"), "--iterations", "1", "--warm-up", "0", "--threads", "1"});
  EXPECT_NE(measured.err.find("is untuned (provisional)"), std::string::npos) << measured.err;
}

TEST_F(BuildVerb, ATimingCacheThatIsNoneOrBrokenIsTold) {
  ASSERT_TRUE(write_file(file("broken.json"), "{\"schema\":\"other/1\"}").ok());
  const Printed broken = build({"--timing-cache", file("broken.json")});
  EXPECT_EQ(broken.code, ExitCode::untrusted) << "what is damaged is exit 5";
  EXPECT_NE(broken.err.find("broken.json"), std::string::npos) << broken.err;
  EXPECT_EQ(*read_file(file("broken.json")), "{\"schema\":\"other/1\"}");
}

TEST_F(BuildVerb, WithoutPermissionToMeasureAMissIsNotFound) {
  const Printed miss =
      build({"--level", "2", "--timing-cache", file("empty.json"), "--error-on-timing-cache-miss"});
  EXPECT_EQ(miss.code, ExitCode::not_found) << miss.err;
  EXPECT_FALSE(fs::exists(file("empty.json")));
}

TEST_F(BuildVerb, ASettingsFileOfTheProjectIsReadAndFlagsComeFirst) {
  const WorkingFolder here(file("project/below"));
  ASSERT_TRUE(write_file(file("project/enginery.toml"), "level = 0\nthreads = 1\n").ok());
  const std::vector<std::string> words{"build", kExampleModel, "-o", file("p.engine"), "--json"};
  const Printed configured = ask(words);
  ASSERT_EQ(configured.code, ExitCode::ok) << configured.err;
  EXPECT_EQ(configured.json()["key"], ExampleHome::report()["key"]);
  auto with_flag = words;
  with_flag.insert(with_flag.end(), {"--threads", "2"});
  EXPECT_NE(ask(with_flag).json()["key"], ExampleHome::report()["key"]);
  ASSERT_TRUE(write_file(file("project/enginery.toml"), "level = 9\n").ok());
  const Printed bad = ask(words);
  EXPECT_EQ(bad.code, ExitCode::usage);
  EXPECT_NE(bad.err.find("--level takes a whole number from 0 to 5, not '9'"), std::string::npos)
      << bad.err;
}

constexpr const char* kReading = "reading the model";

TEST_F(BuildVerb, SaysThatItReadsTheModelOnceFileAndDeviceAreThere) {
  const Printed built = build({"--rebuild"});
  ASSERT_EQ(built.code, ExitCode::ok) << built.err;
  EXPECT_NE(built.err.find(kReading), std::string::npos) << built.err;
  const Printed absent = ask({"build", file("no.onnx"), "--threads", "1"});
  EXPECT_EQ(absent.code, ExitCode::not_found);
  EXPECT_EQ(absent.err.find(kReading), std::string::npos) << absent.err;
}

TEST_F(BuildVerb, ForACpuTypeThatThisMachineIsNotNamesSkusAndSubmit) {
  std::string absent;
  const Json skus = ask({"skus", "--all", "--json"}).json();
  for (const Json& sku : skus["skus"]) {
    if (sku["kind"] == "cpu" && sku["this"] == false) absent = sku["sku"];
  }
  if (absent.empty()) GTEST_SKIP() << "this machine is every CPU type";
  const Printed refused = build({"--target", absent, "--rebuild"});
  EXPECT_EQ(refused.code, ExitCode::incompatible) << refused.err;
  EXPECT_NE(refused.err.find("enginery skus lists what is HERE, and submit builds on a farm's "
                             "machine"),
            std::string::npos)
      << refused.err;
  EXPECT_EQ(refused.err.find(kReading), std::string::npos) << refused.err;
  EXPECT_EQ(refused.err.find("--provisional"), std::string::npos) << refused.err;
}

TEST_F(BuildVerb, RefusesBeforeItWritesAnything) {
  ASSERT_TRUE(write_file(file("no-model.onnx"), "no model").ok());
  ASSERT_TRUE(write_file(file("in-the-way"), "").ok());
  const std::string model = kExampleModel;
  const Refusal rows[] = {
      {{"build"}, ExitCode::usage, "MODEL is missing"},
      {{"build", model, "and-more"}, ExitCode::usage, "unexpected argument 'and-more'"},
      {{"build", file("no.onnx")}, ExitCode::not_found, "no.onnx"},
      {{"build", file("no-model.onnx"), "--threads", "1"}, ExitCode::invalid_input, "no-model"},
      {{"build", model, "--target", "cpu-avx3"}, ExitCode::usage, "did you mean"},
      {{"build", model, "--level", "6"}, ExitCode::usage, "from 0 to 5"},
      {{"build", model, "--precision", "fp8"}, ExitCode::usage, "'fp8' is none of"},
      {{"build", model, "--precision", "int8"}, ExitCode::invalid_input, "int8"},
      {{"build", model, "--calib", "t"}, ExitCode::usage, "--precision int8"},
      {{"build", model, "--int8", "--calib", file("none")}, ExitCode::not_found, "none"},
      {{"build", model, "--int8", "--calib", model}, ExitCode::invalid_input, "--calib"},
      {{"build", model, "--shapes", "picture"}, ExitCode::usage, "picture"},
      {{"build", model, "--tactic-sources=-nosuch"}, ExitCode::usage, "--tactic-sources takes"},
      {{"build", model, "--data", file("in-the-way")}, ExitCode::storage, "in-the-way"},
  };
  for (const Refusal& row : rows) expect_refused(row);
}

TEST_F(BuildVerb, AnOutputThatCannotBeWrittenIsStorageAndTheCatalogHasTheEngine) {
  const Printed refused = build({"-o", file("no/such/folder.engine")});
  EXPECT_EQ(refused.code, ExitCode::storage);
  EXPECT_NE(refused.err.find("no/such/folder.engine"), std::string::npos) << refused.err;
  EXPECT_EQ(refused.out, "");
}

}  // namespace
}  // namespace enginery
