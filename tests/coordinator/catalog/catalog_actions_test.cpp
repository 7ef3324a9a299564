// The catalog's questions and orders, through a coordinator as a client asks them.
#include "coordinator/catalog/catalog_actions.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/coordinator/farm_fixture.h"

namespace enginery {
namespace {

using nlohmann::json;

class RemoteCatalog : public testing::Test {
 protected:
  RemoteCatalog() {
    const FakeWorker worker(farm_, "w", "x");
    while (must(client_->workers()).empty())
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    must(client_->put_blob(as_bytes(std::string_view("model"))));
    const JobView job = must(client_->submit(make_submit("model", {"x"}), make_request_id()));
    const JobView end = must(wait_for_end(*client_, job.id));
    engine_ = end.targets.at(0).engine.value().text();
  }
  json ask(const std::string& action, std::vector<std::string> words = {},
           const std::string& options = "") {
    return json::parse(must(client_->ask_catalog({action, std::move(words), options})));
  }
  json order(const std::string& action, std::vector<std::string> words = {},
             const std::string& options = "") {
    return json::parse(must(client_->order_catalog({action, std::move(words), options})));
  }

  const Farm farm_;
  std::unique_ptr<Client> client_ = farm_.client();
  std::string engine_;
};

TEST_F(RemoteCatalog, EnginesAreListedShownTaggedAndPinned) {
  EXPECT_EQ(ask("ls").at("engines").at(0).at("engine"), engine_);
  EXPECT_EQ(ask("show", {"net"}, R"({"skus":["y","x"]})").at("engine"), engine_);
  EXPECT_EQ(order("tag", {engine_, "prod"}).at("sku"), "x");
  EXPECT_EQ(ask("ls").at("tags").at(0).at("tag"), "prod");
  EXPECT_EQ(order("pin", {engine_}, R"({"reason":"ours"})").at("pinned"), true);
  EXPECT_EQ(order("unpin", {engine_}).at("pinned"), false);
  EXPECT_EQ(client_->ask_catalog({"show", {"nosuch"}, ""}).error().code, ErrorCode::not_found);
}

TEST_F(RemoteCatalog, IsExaminedAndCollected) {
  EXPECT_EQ(ask("verify").at("clean"), true);
  const Digest nobodys = must(client_->put_blob(as_bytes(Bytes(200'000, 'x'))));
  const json planned = order("gc", {}, R"({"dry_run":true,"grace_hours":0})");
  EXPECT_EQ(planned.at("freed_bytes"), 200'000);
  EXPECT_EQ(order("gc", {}, R"({"grace_hours":0})").at("freed_bytes"), 200'000);
  EXPECT_FALSE(must(client_->has_blobs({nobodys})).at(0).present);
  EXPECT_EQ(ask("ls").at("engines").size(), 1u);
}

// Two roles: who may ask may not order.
TEST_F(RemoteCatalog, AnOrderIsNoQuestion) {
  for (const char* action :
       {"gc", "pin", "unpin", "tag", "repair", "timing-import", "timing-clear"})
    EXPECT_EQ(client_->ask_catalog({action, {engine_, "x"}, ""}).error().code,
              ErrorCode::invalid_argument)
        << action;
  for (const char* action : {"ls", "show", "verify", "timing-ls", "timing-export", "nothing"})
    EXPECT_EQ(client_->order_catalog({action, {engine_}, ""}).error().code,
              ErrorCode::invalid_argument)
        << action;
  EXPECT_TRUE(must(client_->has_blobs({*Digest::parse(engine_)})).at(0).present);
}

TEST_F(RemoteCatalog, WhatNobodyKnowsIsRefused) {
  const std::pair<AskCatalog, const char*> table[] = {
      {{"nothing", {}, ""}, "is nothing that this version can do"},
      {{"show", {}, ""}, "needs a word more"},
      {{"ls", {}, "[]"}, "has options that are no JSON object"},
      {{"ls", {}, "{"}, "has options that are no JSON object"},
      {{"timing-export", {"x", "y"}, ""}, "digest"},
  };
  for (const auto& [question, message] : table) {
    const Result<std::string> answer = client_->ask_catalog(question);
    ASSERT_FALSE(answer.ok()) << question.action;
    if (question.action != "timing-export") {
      EXPECT_NE(answer.error().message.find(message), std::string::npos) << answer.error().message;
    }
  }
}

TEST_F(RemoteCatalog, TimingsTravelInPages) {
  TemporaryFolder folder;
  const auto source = must(Catalog::open(folder.path));
  ActionKey device("timing-device", "local");
  device.add("sku", "x");
  ASSERT_TRUE(source->timings().record_key(device).ok());
  std::vector<TimingRow> rows;
  for (int i = 0; i < 1000; ++i) {
    ActionKey problem("timing-problem", "local");
    problem.add("problem", i);
    ASSERT_TRUE(source->timings().record_key(problem).ok());
    rows.push_back({device.digest(), problem.digest(), "t", Bytes(800, 'e'), 5});
  }
  ASSERT_TRUE(source->timings().put(rows).ok());
  const CatalogAccess access{*source, *source};
  std::vector<std::string> from;
  int pages = 0, stored = 0;
  while (true) {
    const std::string page = must(carry_out(access, {"timing-export", from, ""}));
    EXPECT_LT(page.size(), size_t{900'000});
    stored += order("timing-import", {}, page).at("stored").get<int>();
    ++pages;
    const json next = json::parse(page).at("next");
    if (next.is_null()) break;
    from = next.get<std::vector<std::string>>();
  }
  EXPECT_GT(pages, 1);
  EXPECT_EQ(stored, 1000);
  EXPECT_EQ(ask("timing-ls").at("devices").at(0).at("timings"), 1000);
  EXPECT_EQ(order("timing-clear", {}, R"({"sku":"other"})").at("removed"), 0);
  EXPECT_EQ(order("timing-clear", {}, R"({"sku":"x"})").at("removed"), 1000);
}

}  // namespace
}  // namespace enginery
