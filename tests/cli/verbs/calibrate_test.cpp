// `calibrate`: what it writes, that the histograms stand in for the data, and what it refuses
// before anything is written.
#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/base/file.h"
#include "engine/compile/compile.h"
#include "engine/data/npy.h"
#include "tests/cli/temporary_home.h"
#include "tests/cli/verbs/example_engine.h"
#include "tuner/calibrate/table.h"

namespace enginery {
namespace {

namespace fs = std::filesystem;

class CalibrateVerb : public testing::Test {
 protected:
  TemporaryHome home_;

  std::string file(const std::string& name) const { return home_.file(name); }
  // On the example's pictures, with a thread.
  static Printed on_pictures(std::vector<std::string> options) {
    std::vector<std::string> words{
        "calibrate",    kExampleModel,      "--data",    kExamplePictures,
        "--preprocess", kExamplePreprocess, "--threads", "1"};
    words.insert(words.end(), options.begin(), options.end());
    return ask(words);
  }
  // From the histograms of an earlier run.
  Printed from_histograms(std::vector<std::string> options) const {
    std::vector<std::string> words{"calibrate", kExampleModel, "--histograms", file("h")};
    words.insert(words.end(), options.begin(), options.end());
    return ask(words);
  }
  Bytes bytes_of(const std::string& name) const { return read_file(file(name)).value(); }
  // `count` inputs of the example.
  std::string rows(int64_t count, float value = 1) const {
    Tensor tensor(DataType::float32, {count, 3, 48, 48});
    for (float& one : tensor.mutable_data<float>()) one = value;
    const std::string path = file("rows" + std::to_string(count) + ".npy");
    EXPECT_TRUE(write_npy(path, tensor).ok());
    return path;
  }
};

TEST_F(CalibrateVerb, WritesATableAndPrintsItsPath) {
  const Printed made = on_pictures({"-o", file("t")});
  ASSERT_EQ(made.code, ExitCode::ok) << made.err;
  EXPECT_EQ(made.out, file("t") + "\n");
  const auto table = parse_calibration_table(bytes_of("t"));
  ASSERT_TRUE(table.ok()) << table.error().message;
  EXPECT_EQ(table->algorithm, "MseCalibration");
  EXPECT_TRUE(table->scales.contains("picture"));
  EXPECT_TRUE(table->scales.contains("scores"));
  // The input lies in [-1, 1), and its ends are there.
  EXPECT_NEAR(table->scales.at("picture"), 1.0 / 127, 0.1 / 127);
  const Printed to_stdout = on_pictures({"-o", "-"});
  ASSERT_EQ(to_stdout.code, ExitCode::ok) << to_stdout.err;
  EXPECT_EQ(to_stdout.out, bytes_of("t"));
}

TEST_F(CalibrateVerb, HistogramsStandInForTheDataWithAnyCalibrator) {
  ASSERT_EQ(on_pictures({"--histograms", file("h"), "-o", file("t")}).code, ExitCode::ok);
  ASSERT_EQ(from_histograms({"-o", file("t2")}).code, ExitCode::ok);
  EXPECT_EQ(bytes_of("t2"), bytes_of("t"));
  for (const auto& calibrator : make_calibrators()) {
    const std::string name(calibrator->name());
    ASSERT_EQ(from_histograms({"-o", file("a"), "--calibrator", name}).code, ExitCode::ok) << name;
    ASSERT_EQ(on_pictures({"-o", file("b"), "--calibrator", name}).code, ExitCode::ok) << name;
    EXPECT_EQ(bytes_of("a"), bytes_of("b")) << name;
    EXPECT_NE(bytes_of("a").find(calibrator->table_name()), std::string::npos) << name;
  }
}

// `compare` of the two: the 8-bit numbers are in the float model nowhere, what they stand for is.
TEST_F(CalibrateVerb, ItsQuantizedModelDivergesFromTheFloatOneByItsFloats) {
  const std::string quantized = file("shapes.qdq.onnx");
  ASSERT_EQ(on_pictures({"-o", file("t"), "--to-qdq", quantized}).code, ExitCode::ok);
  const auto compared = [](const std::string& a, const std::string& b) {
    return ask({"compare", a, b, "--input", kExamplePictures, "--preprocess", kExamplePreprocess,
                "--tolerance", "1e-5", "--tensors", "--json"});
  };
  const Printed one_way = compared(quantized, kExampleModel);
  ASSERT_EQ(one_way.code, ExitCode::failed) << one_way.err << one_way.out;
  const Json first = one_way.json()["first_diverging"];
  ASSERT_TRUE(first.is_object()) << one_way.out;
  EXPECT_EQ(first["op"], "dequantize") << first;
  EXPECT_GT(first["error"], 1e-5) << first;
  EXPECT_LT(first["error"], 0.1) << first;
  EXPECT_EQ(compared(kExampleModel, quantized).json()["first_diverging"], first);
  const Json tensors = one_way.json()["tensors"];
  EXPECT_GT(tensors.size(), 4u) << one_way.out;
  for (const Json& tensor : tensors) {
    EXPECT_NE(tensor["op"], "quantize") << tensor;
    EXPECT_LT(tensor["relative"], 0.5) << tensor;
    EXPECT_GT(tensor["sqnr_db"], 10) << tensor;
  }
}

TEST_F(CalibrateVerb, JsonHasTheScalesAndWhatTheyCameFrom) {
  const Printed made =
      on_pictures({"-o", file("t"), "--calib-images", "4", "--seed", "7", "--json"});
  ASSERT_EQ(made.code, ExitCode::ok) << made.err;
  EXPECT_NE(made.err.find("4 of 10 rows of the data, chosen with seed 7"), std::string::npos);
  const Json json = made.json();
  expect_fields(json, {"schema", "model", "calibrator", "table", "table_digest", "histograms",
                       "histograms_digest", "samples", "data", "tensors"});
  EXPECT_EQ(json["schema"], "enginery.calibrate/1");
  EXPECT_EQ(json["samples"], 4);
  EXPECT_EQ(json["data"]["available"], 10);
  EXPECT_EQ(json["data"]["seed"], 7);
  EXPECT_EQ(json["table_digest"], sha256(bytes_of("t")).text());
  const auto table = parse_calibration_table(bytes_of("t"));
  ASSERT_EQ(json["tensors"].size(), table->scales.size());
  for (const Json& tensor : json["tensors"])
    EXPECT_EQ(tensor["scale"].get<float>(), table->scales.at(tensor["name"].get<std::string>()));
}

TEST_F(CalibrateVerb, TheSeedDecidesWhichPictures) {
  const auto table = [&](const std::string& seed) {
    EXPECT_EQ(on_pictures({"-o", file("s"), "--calib-images", "2", "--seed", seed}).code,
              ExitCode::ok);
    return bytes_of("s");
  };
  EXPECT_EQ(table("1"), table("1"));
  EXPECT_NE(table("1"), table("2"));
}

TEST_F(CalibrateVerb, LeavesOutAPictureThatCannotBeReadAndSaysSo) {
  fs::copy(kExamplePictures, file("pictures"));
  ASSERT_TRUE(write_file(file("pictures/heart.png"), "no picture").ok());
  const Printed made = ask({"calibrate", kExampleModel, "--data", file("pictures"), "--preprocess",
                            kExamplePreprocess, "-o", file("t"), "--json"});
  ASSERT_EQ(made.code, ExitCode::ok) << made.err;
  EXPECT_NE(made.err.find("left out: heart.png: "), std::string::npos) << made.err;
  EXPECT_EQ(made.json()["samples"], 9);
  EXPECT_EQ(made.json()["data"]["skipped"][0]["file"], "heart.png");
}

TEST_F(CalibrateVerb, RefusesWhatCannotBeCalibratedOnAndWritesNothing) {
  const std::string array = rows(2), with_nan = rows(3, std::nanf(""));
  ASSERT_TRUE(make_folder(file("empty")).ok());
  ASSERT_TRUE(write_npy(file("gray.npy"), Tensor(DataType::float32, {2, 1, 48, 48})).ok());
  ASSERT_TRUE(write_npy(file("flat.npy"), Tensor(DataType::float32, {3, 48, 48})).ok());
  ASSERT_TRUE(write_file(file("gray.toml"), "[input]\ncolor = \"gray\"\nresize = [48, 48]\n").ok());
  ASSERT_TRUE(write_file(file("h"), "no histograms").ok());
  const std::string out = file("t");
  const std::vector<std::string> model{"calibrate", kExampleModel};
  struct Row {
    std::vector<std::string> options;
    ExitCode code;
    std::string message;
  };
  const Row refused[] = {
      {{"-o", out}, ExitCode::usage, "there is no data"},
      {{"--data", array}, ExitCode::usage, "give -o TABLE"},
      {{"--data", array, "-o", out, "--calibrator", "max"}, ExitCode::usage, "mse, entropy"},
      {{"--histograms", file("h"), "-o", out, "--seed", "2"}, ExitCode::usage, "--data"},
      {{"--histograms", file("h"), "-o", out}, ExitCode::invalid_input, "not a file of histograms"},
      {{"--histograms", file("none"), "-o", out}, ExitCode::not_found, "none"},
      {{"--data", file("empty"), "-o", out}, ExitCode::invalid_input, "holds no .jpg"},
      {{"--data", file("none"), "-o", out}, ExitCode::not_found, "none"},
      {{"--data", file("gray.npy"), "-o", out}, ExitCode::invalid_input, "float32[2x1x48x48]"},
      {{"--data", file("flat.npy"), "-o", out}, ExitCode::invalid_input, "float32[3x48x48]"},
      {{"--data", kExamplePictures, "--preprocess", file("gray.toml"), "-o", out},
       ExitCode::invalid_input,
       "1x48x48"},
      {{"--data", with_nan, "-o", out}, ExitCode::invalid_input, "tensor 'picture': NaN"},
      {{"--data", array, "-o", kExampleModel}, ExitCode::usage, "shapes.onnx"},
      {{"--data", array, "-o", file("no/t")}, ExitCode::storage, "no/t"},
  };
  for (const Row& row : refused) {
    std::vector<std::string> words = model;
    words.insert(words.end(), row.options.begin(), row.options.end());
    expect_refused({words, row.code, row.message});
    EXPECT_FALSE(fs::exists(out));
  }
  EXPECT_EQ(ask({"calibrate", kExampleModel, "--data", array, "-o", "-", "--json"}).code,
            ExitCode::usage);
  expect_refused({{"calibrate", file("none.onnx"), "--data", array, "-o", out},
                  ExitCode::not_found,
                  "none.onnx"});
}

TEST_F(CalibrateVerb, WritesOverFilesOfTheSameKindAlone) {
  for (const auto& [name, bytes] :
       {std::pair("engine", "ENGINERY..."), std::pair("text", "by hand\n"),
        std::pair("table", "TRT-8601-X\n"), std::pair("histograms", "ENGHIST1...")})
    ASSERT_TRUE(write_file(file(name), bytes).ok());
  fs::copy(kExampleModel, file("model.onnx"));
  const auto refused = [&](const char* option, const char* kept, const std::string& with) {
    std::vector<std::string> words{"calibrate", kExampleModel, "--data", rows(1), option};
    words.push_back(file(kept));
    if (!with.empty()) words.insert(words.end(), {"-o", file(with)});
    const Bytes before = bytes_of(kept);
    expect_refused({words, ExitCode::usage, "a file of another kind is there"});
    EXPECT_EQ(bytes_of(kept), before) << option;
  };
  for (const char* kept : {"engine", "text", "table", "histograms"}) refused("--to-qdq", kept, "");
  for (const char* kept : {"engine", "text", "histograms", "model.onnx"}) refused("-o", kept, "");
  for (const char* kept : {"engine", "text", "table", "model.onnx"})
    refused("--histograms", kept, "new");
  EXPECT_FALSE(fs::exists(file("new")));
  for (int again = 0; again < 2; ++again)
    EXPECT_EQ(on_pictures({"--to-qdq", file("model.onnx"), "--histograms", file("histograms"), "-o",
                           file("table")})
                  .code,
              ExitCode::ok);
}

TEST_F(CalibrateVerb, WritesTheModelWithItsScales) {
  const Printed made = on_pictures({"--to-qdq", file("q.onnx"), "--json"});
  ASSERT_EQ(made.code, ExitCode::ok) << made.err;
  EXPECT_EQ(made.json()["qdq"], file("q.onnx"));
  EXPECT_TRUE(made.json()["table"].is_null());
  const Printed shown = ask({"inspect", file("q.onnx")});
  ASSERT_EQ(shown.code, ExitCode::ok) << shown.err;
  EXPECT_NE(shown.out.find("dequantize"), std::string::npos) << shown.out;
  fs::copy(kExampleModel, file("same.onnx"));
  expect_refused(
      {{"calibrate", file("same.onnx"), "--data", rows(1), "--to-qdq", file("same.onnx")},
       ExitCode::usage,
       "is the model itself"});
}

// How many nodes of each operator the passes leave of a model.
std::map<std::string, int> operators_of(const std::string& path, const TensorScales* scales) {
  BuildOptions options;
  options.precisions.insert(Precision::int8);
  const auto source = read_model(path);
  const auto model = load_model(source.value(), path, options, {}, scales);
  EXPECT_TRUE(model.ok()) << model.error().message;
  std::map<std::string, int> out;
  for (const NodeId id : model->graph.topological_order())
    ++out[std::string(op_name(model->graph.node(id).op))];
  return out;
}

// One rule places the 8 bits in the file and in a build with the table.
TEST_F(CalibrateVerb, TheModelWithItsScalesIsQuantisedAsTheTableQuantises) {
  const Printed made = on_pictures({"--to-qdq", file("q.onnx"), "-o", file("t")});
  ASSERT_EQ(made.code, ExitCode::ok) << made.err;
  const auto table = parse_calibration_table(bytes_of("t"));
  ASSERT_TRUE(table.ok()) << table.error().message;
  const TensorScales scales{table->scales};
  auto of_the_table = operators_of(kExampleModel, &scales);
  EXPECT_EQ(operators_of(file("q.onnx"), nullptr), of_the_table);
  EXPECT_GT(of_the_table["quantize"], 0);
}

TEST_F(CalibrateVerb, MeansOfChannelsCorrectTheBiasesOfTheFile) {
  ASSERT_EQ(on_pictures({"--to-qdq", file("plain.onnx"), "--histograms", file("h")}).code,
            ExitCode::ok);
  expect_refused({{"calibrate", kExampleModel, "--histograms", file("h"), "--bias-correction",
                   "--to-qdq", file("q.onnx")},
                  ExitCode::invalid_input,
                  "no means of channels"});
  expect_refused({{"calibrate", kExampleModel, "--data", kExamplePictures, "--bias-correction",
                   "-o", file("t")},
                  ExitCode::usage,
                  "--histograms FILE"});
  const Printed made = on_pictures(
      {"--bias-correction", "--to-qdq", file("q.onnx"), "--histograms", file("h"), "--json"});
  ASSERT_EQ(made.code, ExitCode::ok) << made.err;
  EXPECT_EQ(made.json()["channel_means"], true);
  EXPECT_NE(made.err.find("biases of "), std::string::npos) << made.err;
  EXPECT_NE(bytes_of("q.onnx"), bytes_of("plain.onnx"));
  EXPECT_EQ(operators_of(file("q.onnx"), nullptr), operators_of(file("plain.onnx"), nullptr));
  ASSERT_EQ(from_histograms({"--to-qdq", file("again.onnx")}).code, ExitCode::ok);
  EXPECT_EQ(bytes_of("again.onnx"), bytes_of("q.onnx")) << "the histograms have them";
}

TEST_F(CalibrateVerb, RefusesHistogramsOfAnotherModel) {
  HistogramSet other;
  other.model = sha256("another");
  other.samples = 1;
  ASSERT_TRUE(write_file(file("h"), encode(other)).ok());
  expect_refused({{"calibrate", kExampleModel, "--histograms", file("h"), "-o", file("t")},
                  ExitCode::invalid_input,
                  "another model"});
}

}  // namespace
}  // namespace enginery
