// `fetch`: which engine comes, where it goes, and that nothing untrusted is written.
#include <nlohmann/json.hpp>

#include "cli/command_line.h"
#include "tests/cli/fake_console.h"
#include "tests/cli/verbs/farm_home.h"

namespace enginery {
namespace {

namespace fs = std::filesystem;

class FetchVerb : public FarmHomeTest {
 protected:
  static Printed fetch(const std::string& name, std::vector<std::string> options = {}) {
    options.insert(options.begin(), {"fetch", name, "-o", file("fetched.engine")});
    return ask(options);
  }
  void TearDown() override {
    fs::remove(file("fetched.engine"));
    FarmHomeTest::TearDown();
  }
};

TEST_F(FetchVerb, BringsTheBytesThatWereBuiltAndPrintsThePath) {
  const Printed fetched = fetch("shapes", {"--target", built_sku()});
  ASSERT_EQ(fetched.code, ExitCode::ok) << fetched.err;
  EXPECT_EQ(fetched.out, file("fetched.engine") + "\n");
  EXPECT_EQ(*read_file(file("fetched.engine")), *read_file(engine()));
}

TEST_F(FetchVerb, JsonSaysWhatCame) {
  const Json json = fetch("shapes", {"--target", built_sku(), "--json"}).json();
  expect_fields(
      json, {"schema", "name", "sku", "engine", "path", "provisional", "latency_ms", "size_bytes"});
  EXPECT_EQ(json["schema"], "enginery.fetch/1");
  EXPECT_EQ(json["engine"], ExampleHome::report()["engine"]);
  EXPECT_EQ(json["path"], file("fetched.engine"));
  EXPECT_EQ(json["size_bytes"], fs::file_size(engine()));
}

TEST_F(FetchVerb, TakesADigestAJobAndATagForAName) {
  const std::string digest = ExampleHome::report()["engine"];
  const std::string id = submitted(built_sku(), {"--tag", "prod"});
  ASSERT_EQ(ask({"wait", id}).code, ExitCode::ok);
  for (const std::string& name :
       {digest, digest.substr(0, 7 + 8), id, std::string("shapes@prod")}) {
    const Printed fetched = fetch(name, {"--json"});
    ASSERT_EQ(fetched.code, ExitCode::ok) << name << ": " << fetched.err;
    EXPECT_EQ(fetched.json()["engine"], digest) << name;
  }
}

TEST_F(FetchVerb, ADashIsTheEngineOnStdoutAndNothingElse) {
  const Printed fetched = ask({"fetch", "shapes", "--target", built_sku(), "-o", "-", "--json"});
  ASSERT_EQ(fetched.code, ExitCode::ok) << fetched.err;
  EXPECT_EQ(fetched.out, *read_file(engine()));
}

TEST_F(FetchVerb, ExplainSaysWhyThisOneOnStderr) {
  const Printed fetched = fetch("shapes", {"--target", built_sku(), "--explain"});
  ASSERT_EQ(fetched.code, ExitCode::ok) << fetched.err;
  EXPECT_NE(fetched.err.find(" is taken: the best for " + built_sku()), std::string::npos)
      << fetched.err;
  EXPECT_EQ(fetched.out, file("fetched.engine") + "\n");
}

TEST_F(FetchVerb, AskedShapesAreFoundOrSaidToBeMissing) {
  const Printed own = fetch("shapes", {"--target", built_sku(), "--precision", "fp32"});
  EXPECT_EQ(own.code, ExitCode::ok) << own.err;
  expect_refused({{"fetch", "shapes", "--target", built_sku(), "--shapes", "picture:8x3x48x48"},
                  ExitCode::not_found,
                  "it has: " + built_sku() + ": the model's own shapes in fp32"});
}

TEST_F(FetchVerb, WhatIsNotThereIsNotFoundAndSaysWhatIs) {
  const Refusal rows[] = {
      {{"fetch"}, ExitCode::usage, "NAME is missing"},
      {{"fetch", "shapes", "--target", "p5"}, ExitCode::usage, "unknown target 'p5'"},
      {{"fetch", "shapes", "--target", "h200"},
       ExitCode::not_found,
       "shapes has no engine for h200; it has: " + built_sku()},
      {{"fetch", "shapes@nosuch"}, ExitCode::not_found, "shapes@nosuch"},
      {{"fetch", "nosuch"}, ExitCode::not_found, "'nosuch'"},
      {{"fetch", "sha256:00000000"}, ExitCode::not_found, "sha256:00000000"},
  };
  for (const Refusal& row : rows) expect_refused(row);
}

// The farm's key is another user's until it is trusted: what came is checked before it is written.
TEST_F(FetchVerb, AnEngineOfAnUnknownKeyIsNeverWritten) {
  const std::string output = file("fetched.engine"), there = address(), sku = built_sku();
  const std::string key = ask({"keys", "show", "--json"}).json()["keys"][0]["public"];
  const TemporaryHome stranger;
  const std::vector<std::string> words{"fetch", "shapes", "--target",      sku,
                                       "-o",    output,   "--coordinator", there};
  expect_refused({words, ExitCode::untrusted, "enginery keys trust"});
  EXPECT_FALSE(fs::exists(output));
  ASSERT_EQ(ask({"keys", "trust", key}).code, ExitCode::ok);
  const Printed trusted = ask(words);
  EXPECT_EQ(trusted.code, ExitCode::ok) << trusted.err;
  EXPECT_TRUE(fs::exists(output));
}

TEST_F(FetchVerb, ShowsProgressOnATerminalAlone) {
  FakeConsole terminal(Terminal{true, false});
  ASSERT_EQ(
      run_command_line({"fetch", "shapes", "--target", built_sku(), "-o", file("fetched.engine")},
                       terminal.console()),
      ExitCode::ok);
  EXPECT_NE(terminal.err().find("fetching"), std::string::npos) << terminal.err();
  EXPECT_TRUE(terminal.err().ends_with("\x1b[1A\r\x1b[J")) << "the bar is gone at the end";
  EXPECT_EQ(fetch("shapes").err.find("fetching"), std::string::npos);
}

TEST_F(FetchVerb, AnOutputThatCannotBeWrittenIsStorage) {
  expect_refused({{"fetch", "shapes", "--target", built_sku(), "-o", file("no/such/x.engine")},
                  ExitCode::storage,
                  "no/such/x.engine"});
}

}  // namespace
}  // namespace enginery
