// `inspect` and `verify`: models and engines as text and JSON, and engines that are not to be
// trusted.
#include <nlohmann/json.hpp>

#include "engine/base/signed_file.h"
#include "tests/cli/verbs/example_engine.h"

namespace enginery {
namespace {

class InspectVerb : public ExampleEngineTest {};

TEST_F(InspectVerb, AnEnginesJsonHasTheFieldsOfTheContract) {
  const Json json = ask({"inspect", engine(), "--json"}).json();
  expect_fields(json, {"schema", "kind", "name", "digest", "content_digest", "sku", "precision",
                       "threads", "level", "provisional", "median_ms", "inputs", "outputs",
                       "layers", "profiles", "provenance", "memory", "size_bytes"});
  EXPECT_EQ(json["schema"], "enginery.inspect/1");
  EXPECT_EQ(json["kind"], "engine");
  EXPECT_EQ(json["digest"], ExampleHome::report()["engine"]);
  EXPECT_EQ(json["inputs"],
            Json::array({{{"name", "picture"}, {"type", "float32"}, {"dims", {1, 3, 48, 48}}}}));
  const Json& input = json["profiles"][0]["inputs"][0];
  for (const char* end : {"min", "opt", "max"})
    EXPECT_EQ(input[end], Json({1, 3, 48, 48})) << "a fixed shape is a range of one";
  expect_fields(json["layers"][0], {"name", "op", "tactic", "problem", "stream", "median_us",
                                    "flops", "bytes", "inputs", "outputs", "workspace_bytes"});
  EXPECT_EQ(json["provenance"]["model_digest"], ExampleHome::report()["model"]);
  expect_fields(json["memory"], {"weights_bytes", "arena_bytes"});
  EXPECT_GT(json["memory"]["weights_bytes"], 0);
}

TEST_F(InspectVerb, ForPeopleAnEngineIsItsFactsAndATableOfLayers) {
  const Printed shown = ask({"inspect", engine()});
  ASSERT_EQ(shown.code, ExitCode::ok) << shown.err;
  EXPECT_TRUE(shown.out.starts_with("engine shapes for cpu-")) << shown.out;
  const Json json = ask({"inspect", engine(), "--json"}).json();
  for (const std::string& part :
       {"\ncontent " + std::string(json["content_digest"]),
        std::string("\nfp32, 1 threads, level 0, signed by "), std::string("\ninput  picture "),
        std::string("\noutput scores "), std::string("\nLAYER ")})
    EXPECT_NE(shown.out.find(part), std::string::npos) << part << "\n" << shown.out;
  EXPECT_EQ(shown.out.find("streams"), std::string::npos) << "a CPU's engine has one";
}

TEST_F(InspectVerb, APageHasEveryLayerAndPrintsItsPath) {
  const Printed shown = ask({"inspect", engine(), "--html", file("page.html")});
  ASSERT_EQ(shown.code, ExitCode::ok) << shown.err;
  EXPECT_EQ(shown.out, file("page.html") + "\n");
  const std::string page = *read_file(file("page.html"));
  EXPECT_LT(page.size(), 2u << 20);
  const Json facts = ask({"inspect", engine(), "--json"}).json();
  for (const Json& layer : facts["layers"])
    EXPECT_NE(page.find("<td>" + layer["name"].get<std::string>()), std::string::npos) << layer;
  for (const char* part : {"Timeline", "Memory", "<svg", "relu_3"})
    EXPECT_NE(page.find(part), std::string::npos) << part;
  expect_refused(
      {{"inspect", kExampleModel, "--html", file("m.html")}, ExitCode::usage, "is a model"});
}

TEST_F(InspectVerb, ProvenanceIsTheStatementAsJson) {
  const Json statement = ask({"inspect", engine(), "--provenance"}).json();
  EXPECT_EQ(statement["_type"], "https://in-toto.io/Statement/v1");
  const Json info = ask({"inspect", engine(), "--json"}).json();
  EXPECT_EQ(info["content_digest"],
            "sha256:" + std::string(statement["subject"][0]["digest"]["sha256"]));
  EXPECT_EQ(statement["predicate"]["runDetails"]["builder"]["id"],
            "urn:enginery:key:" + std::string(info["provenance"]["signer"]));
  EXPECT_EQ(statement["predicate"]["buildDefinition"]["internalParameters"]["tactics"].size(),
            info["layers"].size());
  EXPECT_EQ(ask({"verify", engine(), "--json"}).json()["statement"], true);
}

TEST_F(InspectVerb, ProvenanceIsNotOfAModel) {
  expect_refused({{"inspect", kExampleModel, "--provenance"}, ExitCode::usage, "is a model"});
}

TEST_F(InspectVerb, AModelIsItsGraphAsText) {
  const Printed shown = ask({"inspect", kExampleModel});
  ASSERT_EQ(shown.code, ExitCode::ok) << shown.err;
  EXPECT_NE(shown.out.find("= conv("), std::string::npos) << shown.out;
}

TEST_F(InspectVerb, AModelsJsonHasLayersWithTheirTypes) {
  const Json json = ask({"inspect", kExampleModel, "--json"}).json();
  expect_fields(json,
                {"schema", "kind", "name", "digest", "symbols", "inputs", "outputs", "layers"});
  EXPECT_EQ(json["kind"], "model");
  EXPECT_EQ(json["digest"], sha256(*read_file(kExampleModel)).text());
  expect_fields(json["layers"][0], {"name", "op", "inputs", "outputs"});
  expect_fields(json["layers"][0]["outputs"][0], {"name", "type", "dims"});
  EXPECT_EQ(json["inputs"][0]["dims"], Json({json["symbols"][0], 3, 48, 48}));
}

TEST_F(InspectVerb, ShapesAreOfTheModelAsItWouldBeBuilt) {
  const Printed eight = ask({"inspect", kExampleModel, "--shapes", "picture:8x3x48x48", "--json"});
  ASSERT_EQ(eight.code, ExitCode::ok) << eight.err;
  EXPECT_EQ(eight.json()["inputs"][0]["dims"], Json({8, 3, 48, 48}));
  EXPECT_EQ(eight.json()["outputs"][0]["dims"], Json({8, 10})) << "outputs are computed again";
}

TEST_F(InspectVerb, OptimizedIsWhatTuningSees) {
  const Json plain = ask({"inspect", kExampleModel, "--json"}).json();
  const Json optimized = ask({"inspect", kExampleModel, "--optimized", "--json"}).json();
  EXPECT_LT(optimized["layers"].size(), plain["layers"].size()) << "normalisation is folded";
  for (const Json& layer : optimized["layers"]) EXPECT_NE(layer["op"], "batch_norm");
}

TEST_F(InspectVerb, RefusesWhatIsNeither) {
  ASSERT_TRUE(write_file(file("text.onnx"), "no model").ok());
  ASSERT_TRUE(write_file(file("text.engine"), "no engine").ok());
  const Refusal rows[] = {
      {{"inspect"}, ExitCode::usage, "FILE is missing"},
      {{"inspect", file("no.onnx")}, ExitCode::not_found, "no.onnx"},
      {{"inspect", file("text.onnx")}, ExitCode::invalid_input, "text.onnx"},
      {{"inspect", kExampleModel, "--shapes", "picture"}, ExitCode::usage, "picture"},
      {{"inspect", kExampleModel, "--shapes", "nope:1x3"}, ExitCode::invalid_input, "nope"},
      {{"inspect", kExampleModel, "--shapes", "picture:1x4x48x48"},
       ExitCode::invalid_input,
       "conv_1"},
      // By its name, its first or its last bytes an engine: then it is refused as one.
      {{"inspect", file("text.engine")}, ExitCode::untrusted, "text.engine"},
  };
  for (const Refusal& row : rows) expect_refused(row);
}

// Whatever was done to an engine's bytes, no verb reads it, and the message names the file.
TEST_F(InspectVerb, ADamagedEngineIsExit5InEveryVerbThatReadsOne) {
  const Bytes whole = *read_file(engine());
  Bytes flipped = whole, renamed = whole;
  flipped[whole.size() / 3] ^= 0x10;
  renamed[0] = 'X';
  const std::pair<const char*, Bytes> rows[] = {
      {"cut", whole.substr(0, whole.size() - 1)},
      {"half", whole.substr(0, whole.size() / 2)},
      {"longer", whole + "x"},
      {"flipped", flipped},
      {"renamed", renamed},
      {"signature only", whole.substr(whole.size() - kSignatureTrailerBytes)}};
  for (const auto& [name, bytes] : rows) {
    const std::string damaged = file(std::string(name) + ".engine");
    ASSERT_TRUE(write_file(damaged, bytes).ok());
    for (const std::vector<std::string>& words :
         std::vector<std::vector<std::string>>{{"verify", damaged},
                                               {"inspect", damaged},
                                               {"bench", damaged},
                                               {"run", damaged, "--input", "x.npy"}})
      expect_refused({words, ExitCode::untrusted, std::string(name) + ".engine"});
  }
}

TEST_F(InspectVerb, VerifySaysWhatIsSignedByWhom) {
  const Printed text = ask({"verify", engine()});
  ASSERT_EQ(text.code, ExitCode::ok) << text.err;
  const Json json = ask({"verify", engine(), "--json"}).json();
  expect_fields(json, {"schema", "ok", "engine", "content_digest", "sku", "signer", "size_bytes"});
  EXPECT_EQ(json["schema"], "enginery.verify/1");
  EXPECT_EQ(json["engine"], ExampleHome::report()["engine"]);
  EXPECT_EQ(text.out, "ok " + std::string(json["content_digest"]) + " for " +
                          std::string(json["sku"]) + ", signed by " + std::string(json["signer"]) +
                          "\n");
  EXPECT_EQ(json["signer"], ask({"keys", "show", "--json"}).json()["keys"][0]["id"]);
}

TEST_F(InspectVerb, AnEngineOfAnUnknownKeyNamesTheKeyAndHowToTrustIt) {
  const std::string signer = ask({"verify", engine(), "--json"}).json()["signer"];
  const std::string copy = file("copy.engine");
  ASSERT_TRUE(write_file(copy, *read_file(engine())).ok());
  const TemporaryHome stranger;
  for (const char* verb : {"verify", "inspect", "bench"}) {
    expect_refused({{verb, copy}, ExitCode::untrusted, signer});
    expect_refused({{verb, copy}, ExitCode::untrusted, "enginery keys trust"});
  }
}

}  // namespace
}  // namespace enginery
