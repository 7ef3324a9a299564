#include "cli/farm/engine_download.h"

#include <gtest/gtest.h>

#include "tests/support/fake_coordinator.h"

namespace enginery {
namespace {

EngineView engine(const std::string& name, const std::string& sku) {
  EngineView view;
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

TEST(ChooseEngine, TakesTheNewestOfTheQuerysFirstSkuThatHasOne) {
  const std::vector<EngineView> newest_first{engine("net", "p4"), engine("net-new", "cpu-avx2"),
                                             engine("net-old", "cpu-avx2"),
                                             engine("net", "cpu-avx")};
  const auto choice =
      choose_engine({"net", "", {"cpu-avx512", "cpu-avx2", "cpu-avx"}}, newest_first);
  ASSERT_TRUE(choice.ok());
  EXPECT_EQ(choice->engine.name, "net-new");
  ASSERT_EQ(choice->reasons.size(), 4u);
  EXPECT_NE(choice->reasons[0].find("is taken"), std::string::npos);
}

TEST(ChooseEngine, SaysWhatThereIsWhenTheSkuHasNone) {
  const auto choice = choose_engine(
      {"net", "", {"h200"}}, {engine("net", "p4"), engine("net", "p4"), engine("net", "cpu-avx")});
  ASSERT_FALSE(choice.ok());
  EXPECT_EQ(choice.error().code, ErrorCode::not_found);
  EXPECT_EQ(choice.error().message, "net has no engine for h200; it has: p4, cpu-avx");
}

TEST(ChooseEngine, AnUnknownNameIsNotFound) {
  EXPECT_EQ(choose_engine({"net", "", {}}, {}).error().code, ErrorCode::not_found);
}

TEST(ChooseEngine, ADigestNamesOneEngineWhateverTheDevice) {
  const auto choice = choose_engine({"sha256:abcdef01", "", {}}, {engine("net", "p4")});
  ASSERT_TRUE(choice.ok());
  EXPECT_EQ(choice->engine.sku, "p4");
}

TEST(ChooseEngine, SaysWhyEachOtherCandidateWasNotTaken) {
  EngineView untuned = engine("net", "cpu-avx2");
  untuned.provisional = true;
  const auto choice = choose_engine(
      {"net", "", {"cpu-avx2", "cpu-avx"}},
      {untuned, engine("old", "cpu-avx2"), engine("net", "cpu-avx"), engine("net", "h200")});
  ASSERT_TRUE(choice.ok());
  ASSERT_EQ(choice->reasons.size(), 4u);
  EXPECT_NE(choice->reasons[0].find("untuned"), std::string::npos);
  EXPECT_TRUE(choice->reasons[1].ends_with("for cpu-avx2 is older"));
  EXPECT_TRUE(choice->reasons[2].ends_with("runs here too, but cpu-avx2 comes first"));
  EXPECT_TRUE(choice->reasons[3].ends_with("for h200 is for another device"));
}

// A farm whose newest engines of the name are all of another SKU.
TEST(FindCandidates, AsksForEachSkuThatTheMachineRuns) {
  std::vector<std::string> asked;
  const auto client = client_of([&](const Body& request) -> Body {
    const auto& find = std::get<FindEngines>(request);
    asked.push_back(find.sku);
    if (find.sku == "cpu-avx2") return EngineList{{engine("net", "cpu-avx2")}};
    if (find.sku.empty()) return EngineList{{engine("net", "p4"), engine("net", "h200")}};
    return ErrorReply{{ErrorCode::not_found, "no engine 'net' for " + find.sku}};
  });
  const auto found = find_candidates(*client, {"net", "", {"cpu-avx512", "cpu-avx2"}});
  ASSERT_TRUE(found.ok());
  ASSERT_EQ(found->size(), 3u);
  EXPECT_EQ(found->front().sku, "cpu-avx2");
  EXPECT_EQ(asked, (std::vector<std::string>{"cpu-avx512", "cpu-avx2", ""}));
}

}  // namespace
}  // namespace enginery
