// `build --int8`: from a table, from histograms and from data, and what of it the catalog keeps.
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "engine/base/file.h"
#include "engine/data/npy.h"
#include "tests/cli/temporary_home.h"
#include "tests/cli/verbs/example_engine.h"
#include "tuner/calibrate/histogram_set.h"

namespace enginery {
namespace {

namespace fs = std::filesystem;

// `build --int8` of the example at level 0, in the home of the test.
class CalibratedBuildVerb : public testing::Test {
 protected:
  TemporaryHome home_;

  // `calibrate` in a process of its own: its oneDNN has another cap than the builds of this one.
  static ExitCode calibrate(const std::vector<std::string>& words) {
    std::string line = fs::read_symlink("/proc/self/exe").string() + " calibrate " + kExampleModel;
    for (const std::string& word : words) line += " '" + word + "'";
    return static_cast<ExitCode>(WEXITSTATUS(std::system((line + " >&2").c_str())));
  }
  std::string file(const std::string& name) const { return home_.file(name); }
  Bytes bytes_of(const std::string& name) const { return read_file(file(name)).value(); }
  // `count` inputs of the example.
  std::string rows(int64_t count, float value = 1) const {
    Tensor tensor(DataType::float32, {count, 3, 48, 48});
    for (float& one : tensor.mutable_data<float>()) one = value;
    const std::string path = file("rows" + std::to_string(count) + ".npy");
    EXPECT_TRUE(write_npy(path, tensor).ok());
    return path;
  }
  Printed build(std::vector<std::string> options) const {
    std::vector<std::string> words{"build",   kExampleModel, "-o",        file("e.engine"),
                                   "--level", "0",           "--threads", "1"};
    words.insert(words.end(), {"--int8", "--data", file("catalog"), "--json"});
    words.insert(words.end(), options.begin(), options.end());
    return ask(words);
  }
  Printed build_on_pictures(std::vector<std::string> options = {}) const {
    options.insert(options.end(),
                   {"--calib-data", kExamplePictures, "--preprocess", kExamplePreprocess});
    return build(options);
  }
  Printed cache(std::vector<std::string> words) const {
    words.insert(words.begin(), {"cache", "calibration"});
    words.insert(words.end(), {"--data", file("catalog"), "--json"});
    return ask(words);
  }
};

TEST_F(CalibratedBuildVerb, TakesATableOrHistogramsAndSaysWhich) {
  ASSERT_EQ(calibrate({"--data", kExamplePictures, "--preprocess", kExamplePreprocess, "--threads",
                       "1", "--histograms", file("h"), "-o", file("t")}),
            ExitCode::ok);
  const Printed of_table = build({"--calib", file("t")});
  ASSERT_EQ(of_table.code, ExitCode::ok) << of_table.err;
  const Printed again = build({"--calib", file("t")});
  ASSERT_EQ(again.code, ExitCode::ok) << again.err;
  EXPECT_EQ(again.json()["source"], "cache");
  const Printed shown = ask({"inspect", file("e.engine"), "--provenance"});
  ASSERT_EQ(shown.code, ExitCode::ok) << shown.err;
  EXPECT_NE(shown.out.find(sha256(bytes_of("t")).hex()), std::string::npos) << shown.out;
  // The same scales by another way are other inputs, and another key.
  const Printed of_histograms = build({"--calib", file("h")});
  ASSERT_EQ(of_histograms.code, ExitCode::ok) << of_histograms.err;
  EXPECT_NE(of_histograms.json()["key"], of_table.json()["key"]);
  EXPECT_NE(build({"--calib", file("h"), "--calibrator", "minmax"}).json()["key"],
            of_histograms.json()["key"]);
  EXPECT_EQ(build({"--calib", file("h"), "--calibrator", "mse"}).json()["source"], "cache");
  EXPECT_EQ(of_histograms.err.find("other weights"), std::string::npos) << of_histograms.err;
  // Histograms know whose they are.
  auto others = decode_histogram_set(bytes_of("h"));
  ASSERT_TRUE(others.ok());
  others->model = sha256("other weights");
  ASSERT_TRUE(write_file(file("others"), encode(*others)).ok());
  const Printed of_others = build({"--calib", file("others")});
  ASSERT_EQ(of_others.code, ExitCode::ok) << of_others.err;
  EXPECT_NE(of_others.err.find("its histograms are of other weights"), std::string::npos)
      << of_others.err;
}

TEST_F(CalibratedBuildVerb, NamesWhatATableLacks) {
  ASSERT_TRUE(write_file(file("other"), "TRT-8601-MinMaxCalibration\nconv9: 3f800000\n").ok());
  const Printed none = build({"--calib", file("other")});
  EXPECT_EQ(none.code, ExitCode::invalid_input);
  EXPECT_NE(none.err.find("of another model"), std::string::npos) << none.err;
  ASSERT_TRUE(write_file(file("part"), "TRT-8601-MinMaxCalibration\npicture: 3c010a14\n").ok());
  const Printed part = build({"--calib", file("part")});
  EXPECT_EQ(part.code, ExitCode::invalid_input);
  EXPECT_NE(part.err.find("no scale for tensor '"), std::string::npos) << part.err;
}

TEST_F(CalibratedBuildVerb, CalibratesOnceForTheSameData) {
  const Printed first = build_on_pictures();
  ASSERT_EQ(first.code, ExitCode::ok) << first.err;
  EXPECT_NE(first.err.find("calibrated on 10 rows"), std::string::npos) << first.err;
  const Printed again = build_on_pictures({"--rebuild"});
  ASSERT_EQ(again.code, ExitCode::ok) << again.err;
  EXPECT_NE(again.err.find("calibrated before"), std::string::npos) << again.err;
  EXPECT_EQ(again.json()["key"], first.json()["key"]);
  const Printed fewer = build_on_pictures({"--calib-images", "4"});
  ASSERT_EQ(fewer.code, ExitCode::ok) << fewer.err;
  EXPECT_NE(fewer.err.find("calibrated on 4 rows"), std::string::npos) << fewer.err;
  EXPECT_EQ(fewer.json()["timings_measured"], 0);
  EXPECT_NE(fewer.json()["key"], first.json()["key"]);
}

TEST_F(CalibratedBuildVerb, ProvenanceSaysWhatWasAskedForAndCalibratedOn) {
  const Printed built = build_on_pictures({"--calib-images", "4"});
  ASSERT_EQ(built.code, ExitCode::ok) << built.err;
  const Json fields = cache({"ls"}).json()["calibrations"][0]["fields"];
  const Printed shown = ask({"inspect", file("e.engine"), "--provenance"});
  ASSERT_EQ(shown.code, ExitCode::ok) << shown.err;
  const Json made = Json::parse(shown.out)["predicate"]["buildDefinition"];
  EXPECT_EQ(made["externalParameters"]["requested"]["precisions"], "fp32,int8");
  const Json* calibration = nullptr;
  for (const Json& one : made["resolvedDependencies"])
    if (one["name"] == "calibration") calibration = &one;
  ASSERT_NE(calibration, nullptr) << shown.out;
  EXPECT_EQ((*calibration)["annotations"], (Json{{"calibrator", "mse"},
                                                 {"data", fields["data"]},
                                                 {"preprocess", fields["preprocess"]},
                                                 {"rows", "4"},
                                                 {"seed", "1"}}));
  EXPECT_EQ(ask({"verify", file("e.engine")}).code, ExitCode::ok);
}

TEST_F(CalibratedBuildVerb, CorrectsBiasesByTheMeansOfItsData) {
  const Printed plain = build_on_pictures();
  ASSERT_EQ(plain.code, ExitCode::ok) << plain.err;
  EXPECT_EQ(plain.json()["bias_correction"], false);
  const Printed corrected = build_on_pictures({"--bias-correction"});
  ASSERT_EQ(corrected.code, ExitCode::ok) << corrected.err;
  EXPECT_NE(corrected.err.find("calibrated on 10 rows"), std::string::npos)
      << "what the plain build saw has no means\n"
      << corrected.err;
  EXPECT_NE(corrected.err.find("layers corrected by the means"), std::string::npos)
      << corrected.err;
  EXPECT_EQ(corrected.json()["bias_correction"], true);
  EXPECT_NE(corrected.json()["engine"], plain.json()["engine"]);
  const Printed again = build_on_pictures({"--bias-correction"});
  EXPECT_NE(again.err.find("calibrated before"), std::string::npos) << again.err;
  EXPECT_EQ(again.json()["engine"], corrected.json()["engine"]);
  EXPECT_EQ(build_on_pictures().json()["engine"], plain.json()["engine"]);
  expect_refused({{"build", kExampleModel, "--int8", "--calib", file("h"), "--bias-correction"},
                  ExitCode::usage,
                  "--bias-correction keeps means of --calib-data"});
}

TEST_F(CalibratedBuildVerb, CarriesItsHistogramsToAnotherCatalog) {
  const Printed built = build_on_pictures();
  ASSERT_EQ(built.code, ExitCode::ok) << built.err;
  const Printed listed = cache({"ls"});
  ASSERT_EQ(listed.code, ExitCode::ok) << listed.err;
  ASSERT_EQ(listed.json()["calibrations"].size(), 1u);
  const Json row = listed.json()["calibrations"][0];
  expect_fields(row, {"key", "histograms", "created", "fields"});
  EXPECT_EQ(row["fields"]["model"], built.json()["model"]);
  for (int again = 0; again < 2; ++again)
    ASSERT_EQ(cache({"export", file("out.json")}).code, ExitCode::ok);
  fs::remove_all(file("catalog"));
  Json partly = Json::parse(bytes_of("out.json"));
  for (const char* field : {"histograms", "key"}) {
    partly["calibrations"].push_back(partly["calibrations"][0]);
    partly["calibrations"].back()[field] = "00";
    ASSERT_TRUE(write_file(file("partly.json"), partly.dump()).ok());
    EXPECT_EQ(cache({"import", file("partly.json")}).code, ExitCode::untrusted);
    EXPECT_TRUE(cache({"ls"}).json()["calibrations"].empty()) << "the first was stored";
    partly["calibrations"].erase(1);
  }
  const Printed taken = cache({"import", file("out.json")});
  ASSERT_EQ(taken.code, ExitCode::ok) << taken.err;
  EXPECT_EQ(taken.json()["stored"], 1);
  EXPECT_EQ(cache({"import", file("out.json")}).json()["stored"], 0);
  EXPECT_NE(build_on_pictures().err.find("calibrated before"), std::string::npos);
  expect_refused({{"cache", "calibration", "import", kExampleModel, "--data", file("catalog")},
                  ExitCode::untrusted,
                  "not an export of calibrations"});
}

TEST_F(CalibratedBuildVerb, ShardsMergeToTheHistogramsOfOnePass) {
  const auto collect = [&](const std::string& rows, const std::string& to) {
    return calibrate({"--data", rows, "--threads", "1", "--histograms", file(to), "-o", file("t")});
  };
  ASSERT_EQ(collect(rows(2, 0.5f), "a"), ExitCode::ok);
  ASSERT_EQ(collect(rows(3, -0.25f), "b"), ExitCode::ok);
  const Printed merged = cache({"merge", file("ab"), file("a"), file("b")});
  ASSERT_EQ(merged.code, ExitCode::ok) << merged.err;
  EXPECT_EQ(merged.json()["samples"], 5);
  ASSERT_EQ(cache({"merge", file("ba"), file("b"), file("a")}).code, ExitCode::ok);
  EXPECT_EQ(bytes_of("ab"), bytes_of("ba"));
  EXPECT_EQ(build({"--calib", file("ab")}).code, ExitCode::ok);
  expect_refused({{"cache", "calibration", "merge", file("x"), kExampleModel},
                  ExitCode::invalid_input,
                  "not a file of histograms"});
  // What a catalog exports is a shard, too.
  const std::string hex = to_hex(as_bytes(bytes_of("b")));
  Json exported = {{"schema", "enginery.calibration-export/1"},
                   {"calibrations", Json::array({{{"key", ""}, {"histograms", hex}}})}};
  ASSERT_TRUE(write_file(file("b.json"), exported.dump()).ok());
  ASSERT_EQ(cache({"merge", file("of_export"), file("a"), file("b.json")}).code, ExitCode::ok);
  EXPECT_EQ(bytes_of("of_export"), bytes_of("ab"));
  exported["calibrations"].push_back(exported["calibrations"][0]);
  ASSERT_TRUE(write_file(file("b.json"), exported.dump()).ok());
  expect_refused({{"cache", "calibration", "merge", file("x"), file("b.json")},
                  ExitCode::invalid_input,
                  "2 calibrations are in it"});
  ASSERT_TRUE(write_file(file("engine"), "ENGINERY...").ok());
  for (const std::string action : {"merge", "export"}) {
    const Printed over = action == "merge" ? cache({action, file("engine"), file("a"), file("b")})
                                           : cache({action, file("engine")});
    EXPECT_EQ(over.code, ExitCode::usage);
    EXPECT_NE(over.err.find("a file of another kind is there"), std::string::npos) << over.err;
    EXPECT_EQ(bytes_of("engine"), "ENGINERY...");
  }
  EXPECT_EQ(cache({"merge", file("ab"), file("a"), file("b")}).code, ExitCode::ok);
}

// What data are refused for, `calibrate`'s tests have row by row.
TEST_F(CalibratedBuildVerb, RefusesDataThatDoNotFitBeforeItBuilds) {
  ASSERT_TRUE(make_folder(file("empty")).ok());
  const Printed empty = build({"--calib-data", file("empty")});
  EXPECT_EQ(empty.code, ExitCode::invalid_input);
  EXPECT_NE(empty.err.find("holds no .jpg"), std::string::npos) << empty.err;
  EXPECT_EQ(build({"--calib-data", rows(3, std::nanf(""))}).code, ExitCode::invalid_input);
  EXPECT_EQ(build({"--calib-data", file("none")}).code, ExitCode::not_found);
  for (const std::string option : {"--calib-data", "--accuracy-data"}) {
    const Printed from_stdin = build({option, "picture=-"});
    EXPECT_EQ(from_stdin.code, ExitCode::usage);
    EXPECT_NE(from_stdin.err.find("calibrate alone reads data from stdin"), std::string::npos)
        << from_stdin.err;
  }
  EXPECT_EQ(build({"--calib-data", rows(1), "--calib", file("t")}).code, ExitCode::usage);
  EXPECT_FALSE(fs::exists(file("e.engine")));
}

// The pictures of the example, all of class 0.
Bytes classes_of_pictures() {
  Bytes out = "file,class\n";
  for (const auto& entry : fs::directory_iterator(kExamplePictures))
    out += entry.path().filename().string() + ",0,whatever\r\n";
  return out;
}

TEST_F(CalibratedBuildVerb, IsHeldAgainstTheFloatModel) {
  ASSERT_TRUE(write_file(file("l.csv"), classes_of_pictures()).ok());
  const Printed built = build_on_pictures({"--accuracy-data", kExamplePictures, "--accuracy-labels",
                                           file("l.csv"), "--max-accuracy-drop", "50%"});
  ASSERT_EQ(built.code, ExitCode::ok) << built.err;
  const Json accuracy = built.json()["accuracy"];
  EXPECT_EQ(accuracy["rows"], 10);
  EXPECT_GE(accuracy["top1_agree"], 0.5);
  EXPECT_TRUE(accuracy["top1"].is_number());
  EXPECT_EQ(built.json()["calibration"].get<std::string>().size(), 71u);
  const Printed again = build_on_pictures({"--accuracy-data", kExamplePictures, "--accuracy-labels",
                                           file("l.csv"), "--max-accuracy-drop", "50%"});
  EXPECT_EQ(again.json()["source"], "cache");
  EXPECT_EQ(again.json()["accuracy"], accuracy);
}

TEST_F(CalibratedBuildVerb, WantsAClassForEveryRowAndNothingElseInTheFile) {
  const auto refused = [&](const Bytes& labels) {
    EXPECT_TRUE(write_file(file("l.csv"), labels).ok());
    const Printed built = build({"--accuracy-data", kExamplePictures, "--preprocess",
                                 kExamplePreprocess, "--accuracy-labels", file("l.csv")});
    EXPECT_EQ(built.code, ExitCode::invalid_input) << built.err;
    return built.err;
  };
  EXPECT_NE(refused("arrow.png,0\n").find("no class of "), std::string::npos);
  EXPECT_NE(refused(classes_of_pictures() + "more\n").find("is not NAME,CLASS"), std::string::npos);
  EXPECT_NE(refused(classes_of_pictures() + "more,-1\n").find("is not NAME,CLASS"),
            std::string::npos);
  EXPECT_FALSE(fs::exists(file("e.engine")));
}

}  // namespace
}  // namespace enginery
