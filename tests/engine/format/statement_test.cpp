// The in-toto statement inside an engine: what it says, and that `verify` believes none that is not
// the file's.
#include "engine/format/statement.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/engine/format/small_engine.h"

namespace enginery {
namespace {

using Json = nlohmann::ordered_json;

class Statement : public testing::Test {
 protected:
  Statement() {
    manifest_.model_digest = sha256("model").text();
    manifest_.software = {{"onednn", "2.7"}};
    provenance_.facts = {{"choices", sha256("choices").text()},
                         {"key", sha256("key").text()},
                         {"worker", "host/cpu-avx2"},
                         {"built", "2026-11-22T10:00:00Z"}};
    provenance_.hardware = {{"model", "a CPU"}};
  }
  // The engine as it reads back, signed, with the statement that `edit` makes of the true one.
  template <typename Edit>
  EngineFile engine(const Edit& edit) const {
    const Bytes content = *write_content(manifest_, test::small_plan());
    Provenance provenance = provenance_;
    const auto plain = read_unsigned_engine(
        std::make_shared<const Bytes>(content + *write_provenance(provenance)));
    provenance.statement = edit(make_statement(*plain, key_id(key_.public_key())));
    const Bytes body = content + *write_provenance(provenance);
    const auto file = std::make_shared<const Bytes>(body + signature_trailer(sha256(body), key_));
    auto read = read_engine(file, {{key_.public_key()}});
    EXPECT_TRUE(read.ok()) << read.error().message;
    return std::move(*read);
  }
  EngineFile engine() const {
    return engine([](const std::string& statement) { return statement; });
  }

  SigningKey key_ = SigningKey::generate();
  Manifest manifest_ = test::small_manifest();
  Provenance provenance_ = test::small_provenance();
};

TEST_F(Statement, IsAnInTotoStatementWithAnSlsaPredicate) {
  const EngineFile file = engine();
  const Json json = Json::parse(file.provenance.statement);
  EXPECT_EQ(json["_type"], "https://in-toto.io/Statement/v1");
  EXPECT_EQ(json["predicateType"], "https://slsa.dev/provenance/v1");
  EXPECT_EQ(json["subject"][0]["digest"]["sha256"], file.content_digest.hex());
  const Json& build = json["predicate"]["buildDefinition"];
  EXPECT_EQ(build["externalParameters"]["sku"], manifest_.sku);
  ASSERT_EQ(build["internalParameters"]["tactics"].size(), file.plan.steps.size());
  EXPECT_EQ(build["internalParameters"]["tactics"][1]["tactic"],
            tactic_key(file.plan.steps[1].tactic));
  const Json& run = json["predicate"]["runDetails"];
  EXPECT_EQ(run["builder"]["id"], "urn:enginery:key:" + key_id(key_.public_key()));
  EXPECT_EQ(run["builder"]["builderDependencies"][0]["annotations"]["worker"], "host/cpu-avx2");
  EXPECT_EQ(run["metadata"]["finishedOn"], "2026-11-22T10:00:00Z");
}

TEST_F(Statement, NamesWhatTheEngineDependsOn) {
  const Json json = Json::parse(engine().provenance.statement);
  const Json& needs = json["predicate"]["buildDefinition"]["resolvedDependencies"];
  ASSERT_EQ(needs.size(), 4u) << needs.dump(2);
  EXPECT_EQ(needs[0]["name"], "model");
  EXPECT_EQ(needs[0]["digest"]["sha256"], sha256("model").hex());
  EXPECT_EQ(needs[1]["name"], "choices");
  EXPECT_EQ(needs[1]["digest"]["sha256"], sha256("choices").hex());
  EXPECT_EQ(needs[2], (Json{{"name", "software/onednn"}, {"annotations", {{"version", "2.7"}}}}));
  EXPECT_EQ(needs[3], (Json{{"name", "device"}, {"annotations", {{"model", "a CPU"}}}}));
}

TEST_F(Statement, SaysWhatScalesComeFromAndHowNearTheFloatModelTheEngineIs) {
  provenance_.facts.insert(provenance_.facts.end(), {{"calibration", sha256("scales").text()},
                                                     {"calibrator", "mse"},
                                                     {"held_out", sha256("rows").text()},
                                                     {"accuracy.rows", "400"},
                                                     {"accuracy.sqnr_db", "26.30"}});
  const EngineFile file = engine();
  const Json predicate = Json::parse(file.provenance.statement)["predicate"];
  const Json& needs = predicate["buildDefinition"]["resolvedDependencies"];
  EXPECT_EQ(needs[2], (Json{{"name", "calibration"},
                            {"digest", {{"sha256", sha256("scales").hex()}}},
                            {"annotations", {{"calibrator", "mse"}}}}));
  EXPECT_EQ(needs[3]["digest"]["sha256"], sha256("rows").hex());
  EXPECT_EQ(predicate["runDetails"]["byproducts"][0]["annotations"],
            (Json{{"rows", "400"}, {"sqnr_db", "26.30"}}));
  EXPECT_TRUE(check_statement(file).ok()) << check_statement(file).error().message;
}

TEST_F(Statement, SaysWhatWasAskedForAndCalibratedOn) {
  provenance_.facts.insert(provenance_.facts.end(), {{"calibration", sha256("scales").text()},
                                                     {"calibrator", "mse"},
                                                     {"calibration.data", sha256("rows").text()},
                                                     {"calibration.seed", "1"},
                                                     {"requested.precisions", "fp32,int8"}});
  const EngineFile file = engine();
  const Json build = Json::parse(file.provenance.statement)["predicate"]["buildDefinition"];
  EXPECT_EQ(build["externalParameters"]["requested"], (Json{{"precisions", "fp32,int8"}}));
  EXPECT_EQ(build["resolvedDependencies"][2]["annotations"],
            (Json{{"calibrator", "mse"}, {"data", sha256("rows").text()}, {"seed", "1"}}));
  EXPECT_TRUE(check_statement(file).ok()) << check_statement(file).error().message;
}

TEST_F(Statement, IsTrueOfItsFile) {
  EXPECT_TRUE(check_statement(engine()).ok()) << check_statement(engine()).error().message;
}

TEST_F(Statement, IsTrueOfAFileWhoseNamesAreNoText) {
  manifest_.name = "caf\xe9";
  const EngineFile file = engine();
  EXPECT_TRUE(check_statement(file).ok()) << check_statement(file).error().message;
}

// The signer wrote it, so it is signed: and still none of it is believed that the file denies.
TEST_F(Statement, IsRefusedWhereTheFileSaysSomethingElse) {
  const struct {
    const char* pointer;
    Json value;
    const char* reason;
  } rows[] = {
      {"/subject/0/digest/sha256", sha256("another").hex(), "/subject/0/digest/sha256"},
      {"/predicate/buildDefinition/externalParameters/sku", "h200", "externalParameters/sku"},
      {"/predicate/buildDefinition/internalParameters/tactics/0/tactic", "other", "tactics/0"},
      {"/predicate/buildDefinition/resolvedDependencies/0/digest/sha256", "00", "Dependencies/0"},
      {"/predicate/buildDefinition/resolvedDependencies/2/annotations/version", "3", "version"},
      {"/predicate/runDetails/builder/id", "urn:enginery:key:0000000000000000", "builder/id"},
      {"/predicate/runDetails/metadata/reviewedBy", "somebody", "is not known of the file"},
  };
  for (const auto& row : rows) {
    const EngineFile file = engine([&](const std::string& statement) {
      Json json = Json::parse(statement);
      json[Json::json_pointer(row.pointer)] = row.value;
      return json.dump();
    });
    const Status checked = check_statement(file);
    ASSERT_FALSE(checked.ok()) << row.pointer;
    EXPECT_EQ(checked.error().code, ErrorCode::untrusted);
    EXPECT_NE(checked.error().message.find(row.reason), std::string::npos)
        << checked.error().message;
  }
}

TEST_F(Statement, IsRefusedWithoutWhatEveryStatementHas) {
  for (const char* text :
       {"no JSON", "[]", "{}", "{\"_type\":\"https://in-toto.io/Statement/v1\"}"}) {
    const Status checked = check_statement(engine([&](const std::string&) { return text; }));
    ASSERT_FALSE(checked.ok()) << text;
    EXPECT_EQ(checked.error().code, ErrorCode::untrusted) << text;
  }
}

TEST_F(Statement, AnEngineFromBeforeItHasNoneAndPasses) {
  const EngineFile file = engine([](const std::string&) { return ""; });
  EXPECT_TRUE(check_statement(file).ok());
  EXPECT_EQ(readable_statement(file).error().code, ErrorCode::not_found);
}

TEST_F(Statement, IsPrintedIndented) {
  const auto text = readable_statement(engine());
  ASSERT_TRUE(text.ok()) << text.error().message;
  EXPECT_TRUE(text->starts_with("{\n  \"_type\": \"https://in-toto.io/Statement/v1\",\n")) << *text;
}

}  // namespace
}  // namespace enginery
