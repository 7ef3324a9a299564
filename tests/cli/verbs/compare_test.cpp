// `compare`: engines, models and saved outputs against each other, and what it refuses.
#include <nlohmann/json.hpp>

#include "engine/data/npy.h"
#include "tests/cli/verbs/example_engine.h"

namespace enginery {
namespace {

class CompareVerb : public ExampleEngineTest {
 protected:
  static Printed compare(const std::string& a, const std::string& b,
                         std::vector<std::string> options = {}) {
    std::vector<std::string> words{"compare", a, b};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"--threads", "1"});
    return ask(words);
  }
  // The engine's outputs and inputs for a seed, as files in folders.
  static void run_and_save(const std::string& seed) {
    const Printed ran =
        on_engine("run", {"--seed", seed, "--output", file("out"), "--save-inputs", file("in")});
    ASSERT_EQ(ran.code, ExitCode::ok) << ran.err;
  }
};

TEST_F(CompareVerb, AnEngineAgreesWithItsModel) {
  const Printed compared = compare(engine(), kExampleModel, {"--json"});
  ASSERT_EQ(compared.code, ExitCode::ok) << compared.err << compared.out;
  const Json json = compared.json();
  expect_fields(json, {"schema", "outputs", "first_diverging", "within", "tolerance", "a", "b",
                       "rows", "seed", "tensors"});
  EXPECT_TRUE(json["tensors"].is_null());
  EXPECT_EQ(json["schema"], "enginery.compare/1");
  EXPECT_TRUE(json["first_diverging"].is_null());
  EXPECT_EQ(json["seed"], 1);
  ASSERT_EQ(json["outputs"].size(), 1u);
  const Json& scores = json["outputs"][0];
  expect_fields(scores, {"name", "error", "sqnr_db", "top1_agree", "type", "dims", "max_abs",
                         "elements", "differing"});
  EXPECT_EQ(scores["name"], "scores");
  EXPECT_EQ(scores["top1_agree"], 1.0);
  EXPECT_LT(scores["error"].get<double>(), 1e-4);
}

TEST_F(CompareVerb, SavedInputsAndOutputsAreWhatTheEngineComputes) {
  run_and_save("5");
  const Printed again =
      compare(engine(), file("out"), {"--input", file("in/picture.npy"), "--json"});
  ASSERT_EQ(again.code, ExitCode::ok) << again.err << again.out;
  EXPECT_EQ(again.json()["outputs"][0]["differing"], 0);
  EXPECT_TRUE(again.json()["seed"].is_null());
  EXPECT_EQ(compare(engine(), file("out"), {"--seed", "5"}).code, ExitCode::ok);
}

TEST_F(CompareVerb, BeyondTheToleranceIsExitCodeOneAndNamesNoLayerOfSavedOutputs) {
  run_and_save("5");
  auto saved = NpyFile::open(file("out/scores.npy"));
  Tensor scores = *saved->read_all();
  scores.mutable_data<float>()[3] += 0.25f;
  ASSERT_TRUE(write_npy(file("out/scores.npy"), scores).ok());
  const Printed text = compare(engine(), file("out"), {"--seed", "5"});
  EXPECT_EQ(text.code, ExitCode::failed);
  EXPECT_NE(text.out.find("beyond the tolerance"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("no layers"), std::string::npos) << text.out;
  const Json json = compare(engine(), file("out"), {"--seed", "5", "--json"}).json();
  EXPECT_NEAR(json["outputs"][0]["max_abs"].get<double>(), 0.25, 1e-6);
  EXPECT_EQ(json["outputs"][0]["differing"], 1);
  EXPECT_EQ(compare(engine(), file("out"), {"--seed", "5", "--tolerance", "1"}).code, ExitCode::ok);
}

// With no tolerance at all rounding is a difference, and the first layer that rounds is named.
TEST_F(CompareVerb, NamesTheFirstLayerThatDiverges) {
  const Printed compared = compare(kExampleModel, engine(), {"--tolerance", "0", "--json"});
  ASSERT_EQ(compared.code, ExitCode::failed) << compared.err << compared.out;
  const Json json = compared.json();
  ASSERT_TRUE(json["first_diverging"].is_object()) << compared.out;
  const Json first_layer = ask({"inspect", engine(), "--json"}).json()["layers"][0];
  EXPECT_EQ(json["first_diverging"]["layer"], first_layer["name"]) << compared.out;
  EXPECT_EQ(json["first_diverging"]["op"], "conv");
}

TEST_F(CompareVerb, ShowsTheErrorsOfTensorsThatBothName) {
  const Printed compared = compare(engine(), kExampleModel, {"--tensors", "--json"});
  ASSERT_EQ(compared.code, ExitCode::ok) << compared.err << compared.out;
  const Json tensors = compared.json()["tensors"];
  ASSERT_GT(tensors.size(), 2u) << compared.out;
  for (const Json& tensor : tensors) {
    expect_fields(tensor, {"name", "op", "relative", "sqnr_db"});
    EXPECT_LT(tensor["relative"].get<double>(), 1e-4) << tensor;
  }
  EXPECT_EQ(tensors.back()["name"], "scores");
  const Printed text = compare(engine(), kExampleModel, {"--tensors"});
  EXPECT_NE(text.out.find("\nTENSOR "), std::string::npos) << text.out;
  EXPECT_EQ(compare(engine(), kExampleModel).out.find("TENSOR"), std::string::npos);
}

TEST_F(CompareVerb, SaysWhyThereAreNoTensors) {
  run_and_save("5");
  const std::vector<std::string> options{"--seed", "5", "--tensors"};
  const Printed text = compare(engine(), file("out"), options);
  EXPECT_EQ(text.code, ExitCode::ok) << text.err;
  EXPECT_NE(text.out.find("no tensors were compared: saved outputs have no layers"),
            std::string::npos)
      << text.out;
  const Printed json = compare(engine(), file("out"), {"--seed", "5", "--tensors", "--json"});
  EXPECT_TRUE(json.json()["tensors"].is_null());
  EXPECT_NE(json.err.find("saved outputs have no layers"), std::string::npos) << json.err;
}

TEST_F(CompareVerb, RefusesWhatCannotBeCompared) {
  run_and_save("1");
  ASSERT_TRUE(write_npy(file("two.npy"), Tensor(DataType::float32, {2, 10})).ok());
  const std::string data = file("in/picture.npy");
  const Refusal rows[] = {
      {{"compare", engine()}, ExitCode::usage, "B is missing"},
      {{"compare", engine(), file("no.engine")}, ExitCode::not_found, "no.engine"},
      {{"compare", engine(), engine(), "--input", data, "--seed", "1"}, ExitCode::usage, "--seed"},
      {{"compare", file("out"), file("out"), "--input", data}, ExitCode::usage, "neither"},
      {{"compare", engine(), file("two.npy"), "--threads", "1"},
       ExitCode::invalid_input,
       "float32[2x10] in B"},
  };
  for (const Refusal& row : rows) expect_refused(row);
}

}  // namespace
}  // namespace enginery
