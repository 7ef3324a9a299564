#include "cli/farm/engine_download.h"

#include <gtest/gtest.h>

#include "tests/support/fake_coordinator.h"

namespace enginery {
namespace {

EngineCandidate engine(const std::string& name, const std::string& sku) {
  EngineCandidate view;
  view.name = name;
  view.sku = sku;
  view.engine = sha256(name + sku);
  return view;
}

TEST(EngineQuery, SplitsTheTagButNotADigest) {
  EXPECT_EQ(parse_engine_query("net@prod").name, "net");
  EXPECT_EQ(parse_engine_query("net@prod").tag, "prod");
  EXPECT_EQ(parse_engine_query("net").tag, "");
  EXPECT_EQ(parse_engine_query("sha256:abcdef01").name, "sha256:abcdef01");
}

EngineQuery query_of(std::vector<std::string> skus) {
  EngineQuery query;
  query.name = "net";
  query.skus = std::move(skus);
  return query;
}

TEST(ChooseEngine, TakesTheQuerysFirstSkuThatHasOne) {
  const std::vector<EngineCandidate> newest_first{
      engine("net", "p4"), engine("net-new", "cpu-avx2"), engine("net-old", "cpu-avx2"),
      engine("net", "cpu-avx")};
  const auto choice = choose_engine(query_of({"cpu-avx512", "cpu-avx2", "cpu-avx"}), newest_first);
  ASSERT_TRUE(choice.ok());
  EXPECT_EQ(choice->engine.name, "net-new") << "of equals the newest";
  ASSERT_EQ(choice->reasons.size(), 4u);
  EXPECT_NE(choice->reasons[0].find("is taken"), std::string::npos);
}

// What an engine of the table below differs in from the newest, and the name that tells it.
struct Kind {
  std::string name;
  double latency_ms = 1;
  std::string shapes = "", precision = "fp32", model = "new";
  bool provisional = false;
};

EngineCandidate of_kind(const Kind& kind) {
  EngineCandidate view = engine(kind.name, "cpu-avx2");
  view.latency_ms = kind.latency_ms;
  view.shapes = kind.shapes;
  view.precision = kind.precision;
  view.model = sha256(kind.model);
  view.provisional = kind.provisional;
  return view;
}

TEST(ChooseEngine, TakesTheFastestOfTheNewestModelForTheAskedShapesAndPrecision) {
  const struct {
    const char* what;
    std::vector<Kind> newest_first;
    std::optional<std::map<std::string, Dims>> shapes;
    std::optional<std::string> precision;
    std::string taken;
  } rows[] = {
      {"a newer one that is slower",
       {{"newest", 1.2}, {"fast", 0.9}, {"older", 1.1}},
       {},
       {},
       "fast"},
      {"one that was not measured", {{"newest", 0}, {"slow", 9}}, {}, {}, "slow"},
      {"an untuned one that claims to be fast",
       {{"newest", 0.1, "", "fp32", "new", true}, {"tuned", 1}},
       {},
       {},
       "tuned"},
      {"an older model", {{"newest", 1.2}, {"old", 0.1, "", "fp32", "old"}}, {}, {}, "newest"},
      {"another batch", {{"newest", 1.2}, {"batch 8", 0.1, "a:8x3"}}, {}, {}, "newest"},
      {"the asked batch",
       {{"newest", 1.2}, {"batch 8", 5, "a:8x3"}},
       std::map<std::string, Dims>{{"a", {8, 3}}},
       {},
       "batch 8"},
      {"another precision", {{"newest", 1.2}, {"half", 0.1, "", "fp32,fp16"}}, {}, {}, "newest"},
      {"the asked precision",
       {{"newest", 1.2}, {"half", 0.1, "", "fp32,fp16"}},
       {},
       "fp32,fp16",
       "half"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.what);
    std::vector<EngineCandidate> candidates;
    for (const Kind& kind : row.newest_first) candidates.push_back(of_kind(kind));
    EngineQuery query = query_of({"cpu-avx2"});
    query.shapes = row.shapes;
    query.precision = row.precision;
    const auto choice = choose_engine(query, candidates);
    ASSERT_TRUE(choice.ok()) << choice.error().message;
    EXPECT_EQ(choice->engine.name, row.taken);
  }
}

TEST(ChooseEngine, SaysWhichOthersThereAre) {
  const auto choice =
      choose_engine(query_of({"cpu-avx2"}),
                    {of_kind({"newest"}), of_kind({"slow", 2}), of_kind({"batch 8", 5, "a:8x3"}),
                     of_kind({"old", 1, "", "fp32", "old"}), engine("net", "p4")});
  ASSERT_TRUE(choice.ok());
  EXPECT_EQ(choice->others,
            "others for cpu-avx2: 1 that are no better, shapes a:8x3 in fp32, 1 of older models "
            "(--explain lists them; --shapes, --precision choose)");
  EXPECT_EQ(
      choose_engine(query_of({"cpu-avx2"}), {of_kind({"newest"}), engine("net", "p4")})->others,
      "");
}

TEST(ChooseEngine, SaysWhichShapesThereAreWhenTheAskedOnesAreNot) {
  EngineQuery query = query_of({"cpu-avx2"});
  query.shapes = {{"a", {4, 3}}};
  const auto choice = choose_engine(query, {of_kind({"newest"}), of_kind({"8", 5, "a:8x3"})});
  ASSERT_FALSE(choice.ok());
  EXPECT_EQ(choice.error().message,
            "net has no engine of these shapes and this precision; it has: cpu-avx2: the model's "
            "own shapes in fp32; cpu-avx2: shapes a:8x3 in fp32");
}

TEST(ChooseEngine, SaysWhatThereIsWhenTheSkuHasNone) {
  const auto choice = choose_engine(
      query_of({"h200"}), {engine("net", "p4"), engine("net", "p4"), engine("net", "cpu-avx")});
  ASSERT_FALSE(choice.ok());
  EXPECT_EQ(choice.error().code, ErrorCode::not_found);
  EXPECT_EQ(choice.error().message, "net has no engine for h200; it has: p4, cpu-avx");
}

TEST(ChooseEngine, AnUnknownNameIsNotFound) {
  EXPECT_EQ(choose_engine(query_of({}), {}).error().code, ErrorCode::not_found);
}

TEST(ChooseEngine, ADigestNamesOneEngineWhateverTheDevice) {
  const auto choice = choose_engine(parse_engine_query("sha256:abcdef01"), {engine("net", "p4")});
  ASSERT_TRUE(choice.ok());
  EXPECT_EQ(choice->engine.sku, "p4");
}

TEST(ChooseEngine, SaysWhyEachOtherCandidateWasNotTaken) {
  const auto choice =
      choose_engine(query_of({"cpu-avx2", "cpu-avx"}),
                    {of_kind({"untuned", 0, "", "fp32", "new", true}), of_kind({"taken", 1}),
                     of_kind({"slow", 2}), of_kind({"equal", 1}), of_kind({"8", 1, "a:8x3"}),
                     of_kind({"half", 1, "", "fp32,fp16"}), of_kind({"old", 1, "", "fp32", "old"}),
                     engine("net", "cpu-avx"), engine("net", "h200")});
  ASSERT_TRUE(choice.ok());
  const char* const ends[] = {", 1.000 ms",
                              " is untuned",
                              " is slower: 2.000 ms",
                              "for cpu-avx2 is older",
                              " is for shapes a:8x3",
                              " allows fp32,fp16",
                              " is of an older model",
                              " runs here too, but cpu-avx2 comes first",
                              " is for another device"};
  ASSERT_EQ(choice->reasons.size(), std::size(ends));
  for (size_t i = 0; i < std::size(ends); ++i)
    EXPECT_TRUE(choice->reasons[i].ends_with(ends[i])) << choice->reasons[i];
}

TEST(ChooseEngine, WhereNothingElseIsThereTakesTheUntunedOneAndSaysSo) {
  const auto choice =
      choose_engine(query_of({"cpu-avx2"}), {of_kind({"untuned", 0, "", "fp32", "new", true})});
  ASSERT_TRUE(choice.ok());
  EXPECT_NE(choice->reasons[0].find("untuned: no worker"), std::string::npos);
}

// A farm whose newest engines of the name are all of another SKU.
TEST(FindCandidates, AsksForEachSkuThatTheMachineRuns) {
  std::vector<std::string> asked;
  const auto client = client_of([&](const Body& request) -> Body {
    if (const auto* ask = std::get_if<AskCatalog>(&request)) {
      EXPECT_EQ(ask->action, "ls");
      return CatalogAnswer{R"({"engines":[{"engine":")" + engine("net", "p4").engine.text() +
                           R"(","shapes":"a:8x3"}]})"};
    }
    const auto& find = std::get<FindEngines>(request);
    asked.push_back(find.sku);
    if (find.sku == "cpu-avx2") return EngineList{{engine("net", "cpu-avx2")}};
    if (find.sku.empty()) return EngineList{{engine("net", "p4"), engine("net", "h200")}};
    return ErrorReply{{ErrorCode::not_found, "no engine 'net' for " + find.sku}};
  });
  const auto found = find_candidates(*client, query_of({"cpu-avx512", "cpu-avx2"}));
  ASSERT_TRUE(found.ok());
  ASSERT_EQ(found->size(), 3u);
  EXPECT_EQ(found->front().sku, "cpu-avx2");
  EXPECT_EQ(found->front().shapes, "not told");
  EXPECT_EQ((*found)[1].shapes, "a:8x3") << "as the catalog says";
  EXPECT_EQ(asked, (std::vector<std::string>{"cpu-avx512", "cpu-avx2", ""}));
}

}  // namespace
}  // namespace enginery
