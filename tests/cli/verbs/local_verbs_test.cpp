// The verbs that need no service, on an engine that they build themselves: the example network,
// untuned (level 0), for one thread.
#include <nlohmann/json.hpp>

#include "tests/cli/verbs/example_engine.h"

namespace enginery {
namespace {

using LocalVerbs = ExampleEngineTest;

TEST_F(LocalVerbs, BuildSaysWhatItMadeAndKeepsTheThreadsAsked) {
  const Json report = ExampleHome::report();
  EXPECT_EQ(report["name"], "shapes");
  const Json info = ask({"inspect", engine(), "--json"}).json();
  EXPECT_EQ(info["threads"], 1);
  EXPECT_EQ(info["level"], 0);
  EXPECT_EQ(info["content_digest"], report["content_digest"]);
}

TEST_F(LocalVerbs, TheSameBuildComesFromTheCatalogAndOtherThreadsDoNot) {
  const Printed again = ask(
      {"build", kExampleModel, "-o", file("2.engine"), "--level", "0", "--threads", "1", "--json"});
  ASSERT_EQ(again.code, ExitCode::ok) << again.err;
  EXPECT_EQ(again.json()["source"], "cache");
  EXPECT_EQ(*read_file(file("2.engine")), *read_file(engine()));
  const Printed other = ask(
      {"build", kExampleModel, "-o", file("3.engine"), "--level", "0", "--threads", "2", "--json"});
  ASSERT_EQ(other.code, ExitCode::ok) << other.err;
  EXPECT_EQ(other.json()["source"], "built");
  EXPECT_NE(other.json()["key"], again.json()["key"]);
}

TEST_F(LocalVerbs, AnotherNumberOfThreadsWarns) {
  const std::vector<std::string> words{
      "run", engine(), "--input", kExamplePictures, "--preprocess", kExamplePreprocess};
  const auto with_threads = [&](const std::string& threads) {
    std::vector<std::string> all = words;
    all.insert(all.end(), {"--threads", threads});
    return ask(all);
  };
  const Printed two = with_threads("2");
  ASSERT_EQ(two.code, ExitCode::ok) << two.err;
  EXPECT_NE(two.err.find("was tuned for 1 threads and runs with 2"), std::string::npos) << two.err;
  EXPECT_EQ(with_threads("1").err.find("was tuned for"), std::string::npos);
}

TEST_F(LocalVerbs, ANameThatTheCatalogLacksIsNotFoundWithTheNearest) {
  expect_refused({{"catalog", "ls", "shape"}, ExitCode::not_found, "; did you mean shapes?"});
  EXPECT_EQ(ask({"catalog", "ls", "shapes"}).code, ExitCode::ok);
}

TEST_F(LocalVerbs, TheCatalogShowsTagsAndVerifiesWhatWasBuilt) {
  const std::string digest = ExampleHome::report()["engine"];
  ASSERT_EQ(ask({"catalog", "tag", digest, "prod"}).code, ExitCode::ok);
  const Json listed = ask({"catalog", "ls", "shapes", "--json"}).json();
  ASSERT_EQ(listed["tags"].size(), 1u);
  EXPECT_EQ(listed["tags"][0]["tag"], "prod");
  EXPECT_EQ(ask({"catalog", "show", digest, "--json"}).json()["name"], "shapes");
  EXPECT_EQ(ask({"catalog", "verify", "--json"}).json()["clean"], true);
  EXPECT_EQ(ask({"catalog", "shwo"}).code, ExitCode::usage);
  ASSERT_EQ(ask({"catalog", "export", file("bundle"), digest}).code, ExitCode::ok);
  const std::string other = file("a site without a catalog");
  EXPECT_EQ(ask({"catalog", "ls", "--data", other}).code, ExitCode::not_found);
  ASSERT_EQ(ask({"catalog", "import", file("bundle"), "--data", other}).code, ExitCode::ok);
  EXPECT_EQ(ask({"catalog", "show", digest, "--data", other, "--json"}).json()["name"], "shapes");
  EXPECT_EQ(ask({"why-miss", ExampleHome::report()["key"], "--json"}).json()["present"], true);
}

}  // namespace
}  // namespace enginery
