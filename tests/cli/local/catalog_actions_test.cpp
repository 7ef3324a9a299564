#include "cli/local/catalog_actions.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/output/json_output.h"
#include "engine/base/file.h"
#include "engine/base/signed_file.h"
#include "tests/cli/fake_console.h"
#include "tests/cli/temporary_home.h"

namespace enginery {
namespace {

// A catalog with two engines of one name, for p4 and h200, and the key of the first.
class CatalogActions : public testing::Test {
 protected:
  CatalogActions() : catalog_(std::move(*Catalog::open(home_.path() / "catalog"))) {
    key_.add("model", "m").add("sku", "p4");
    p4_ = add("p4", 4.5);
    h200_ = add("h200", 0.25);
    ActionResult result;
    result.key = key_.digest();
    result.outputs.push_back({"engine", p4_, 0});
    EXPECT_TRUE(catalog_->results().commit(key_, result).ok());
  }

  // What is pinned, with the reasons.
  std::vector<std::pair<Digest, std::string>> pins() {
    std::vector<std::pair<Digest, std::string>> out;
    auto rows = catalog_->database().prepare("SELECT blob, reason FROM pin");
    EXPECT_TRUE(rows.ok());
    while (rows.ok() && *rows->step()) out.emplace_back(rows->digest(0), rows->text(1));
    return out;
  }

  Digest add(const std::string& sku, double latency_ms) {
    const Bytes bytes = "engine for " + sku;
    EXPECT_TRUE(catalog_->blobs().put(as_bytes(bytes)).ok());
    EngineRow row;
    row.digest = sha256(bytes);
    row.content_digest = sha256("content " + sku);
    row.name = "net";
    row.sku = sku;
    row.precision = "fp16";
    row.key = sku == "p4" ? key_.digest() : sha256("another key");
    row.size_bytes = bytes.size();
    row.latency_ms = latency_ms;
    EXPECT_TRUE(catalog_->engines().add(row).ok());
    return row.digest;
  }

  using Act = CatalogVerb*;
  CatalogDoor door() { return door_to(*catalog_, *catalog_); }
  std::string printed(Act act, CatalogArguments arguments) {
    FakeConsole fake;
    const auto code = act(door(), arguments, fake.console());
    EXPECT_TRUE(code.ok()) << code.error().message;
    return fake.out();
  }
  Json json(Act act, CatalogArguments arguments) {
    arguments.json = true;
    return Json::parse(printed(act, std::move(arguments)));
  }
  ErrorCode error(Act act, CatalogArguments arguments) {
    FakeConsole fake;
    const auto code = act(door(), arguments, fake.console());
    return code.ok() ? ErrorCode::internal : code.error().code;
  }

  const TemporaryHome home_;
  ActionKey key_{"engine", "local"};
  std::unique_ptr<Catalog> catalog_;
  Digest p4_, h200_;
};

// A time that was measured beside other programs is not to be trusted.
TEST_F(CatalogActions, ALatencyMeasuredUnderLoadIsMarked) {
  EXPECT_EQ(printed(catalog_ls, {}).find('!'), std::string::npos);
  ActionResult again;
  again.key = key_.digest();
  again.generation = 2;
  again.outcome = R"({"metrics":{"foreign_load":0.59}})";
  again.outputs.push_back({"engine", p4_, 0});
  ASSERT_TRUE(catalog_->results().commit(key_, again).ok());
  const std::string listed = printed(catalog_ls, {});
  EXPECT_NE(listed.find("! "), std::string::npos) << listed;
  EXPECT_NE(listed.find("\n! measured while other programs used the device"), std::string::npos);
  EXPECT_NE(printed(catalog_show, {{p4_.text()}}).find("measured while other programs used 59 %"),
            std::string::npos);
  EXPECT_EQ(json(catalog_show, {{p4_.text()}})["foreign_load"], 0.59);
  EXPECT_TRUE(json(catalog_show, {{h200_.text()}})["foreign_load"].is_null());
}

TEST_F(CatalogActions, LsListsNewestFirstWithTheContractsFields) {
  const Json listed = json(catalog_ls, {});
  EXPECT_EQ(listed["schema"], "enginery.catalog/1");
  ASSERT_EQ(listed["engines"].size(), 2u);
  EXPECT_EQ(listed["engines"][0]["sku"], "h200");
  for (const char* field :
       {"engine", "content_digest", "name", "sku", "precision", "model", "key", "size_bytes",
        "latency_ms", "provisional", "created", "shapes", "foreign_load"})
    EXPECT_TRUE(listed["engines"][0].contains(field)) << field;
  CatalogArguments one;
  one.limit = 1;
  EXPECT_EQ(json(catalog_ls, one)["engines"].size(), 1u);
  EXPECT_EQ(json(catalog_ls, {{"nothing"}})["engines"].size(), 0u);
  EXPECT_NE(printed(catalog_ls, {}).find("4.500"), std::string::npos);
}

TEST_F(CatalogActions, ShowFindsAnEngineByDigestAndByNameForASku) {
  EXPECT_EQ(json(catalog_show, {{p4_.text()}})["sku"], "p4");
  CatalogArguments named{{"net"}};
  named.target = "h200";
  EXPECT_EQ(json(catalog_show, named)["engine"], h200_.text());
  EXPECT_EQ(error(catalog_show, {{"nosuch"}}), ErrorCode::not_found);
}

TEST_F(CatalogActions, ShowOfAKeyGivesItsFieldsAndItsResult) {
  const Json shown = json(catalog_show, {{key_.digest().text()}});
  EXPECT_EQ(shown["schema"], "enginery.catalog.key/1");
  EXPECT_EQ(shown["present"], true);
  EXPECT_EQ(shown["success"], true);
  EXPECT_EQ(shown["outputs"][0]["digest"], p4_.text());
  EXPECT_EQ(shown["fields"][2]["field"], "model");
  EXPECT_EQ(shown["fields"][2]["value"], "m");
  EXPECT_NE(printed(catalog_show, {{key_.digest().text()}}).find("has a result"),
            std::string::npos);
}

TEST_F(CatalogActions, ATagIsOfTheEnginesNameAndSku) {
  const Json tagged = json(catalog_tag, {{p4_.text(), "prod"}});
  EXPECT_EQ(tagged["name"], "net");
  EXPECT_EQ(tagged["sku"], "p4");
  const auto found = catalog_->engines().tagged("net", "prod", "p4");
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->digest, p4_);
  EXPECT_NE(printed(catalog_ls, {}).find("prod"), std::string::npos);
}

TEST_F(CatalogActions, APinIsKeptWithItsReasonUntilItIsTakenBack) {
  CatalogArguments pin{{p4_.text()}};
  pin.reason = "in use";
  EXPECT_EQ(json(catalog_pin, pin)["pinned"], true);
  EXPECT_EQ(pins(), (std::vector<std::pair<Digest, std::string>>{{p4_, "in use"}}));
  EXPECT_EQ(json(catalog_unpin, {{p4_.text()}})["pinned"], false);
  EXPECT_TRUE(pins().empty());
}

TEST_F(CatalogActions, VerifyOfADamagedBlobIsAFailureThatNamesIt) {
  FakeConsole clean;
  EXPECT_EQ(*catalog_verify(door(), {}, clean.console()), ExitCode::ok);
  EXPECT_NE(clean.out().find(": clean\n"), std::string::npos) << clean.out();
  ASSERT_TRUE(catalog_->blobs().remove(h200_).ok());
  FakeConsole broken;
  CatalogArguments arguments;
  arguments.json = true;
  EXPECT_EQ(*catalog_verify(door(), arguments, broken.console()), ExitCode::failed);
  EXPECT_EQ(Json::parse(broken.out())["clean"], false);
  EXPECT_NE(broken.out().find(h200_.text().substr(7)), std::string::npos) << broken.out();
}

TEST_F(CatalogActions, TheWrongNumberOfWordsIsUsage) {
  EXPECT_EQ(error(catalog_ls, {{"a", "b"}}), ErrorCode::usage);
  EXPECT_EQ(error(catalog_show, {}), ErrorCode::usage);
  EXPECT_EQ(error(catalog_verify, {{"a"}}), ErrorCode::usage);
  EXPECT_EQ(error(catalog_pin, {}), ErrorCode::usage);
  EXPECT_EQ(error(catalog_unpin, {}), ErrorCode::usage);
  EXPECT_EQ(error(catalog_tag, {{"a"}}), ErrorCode::usage);
}

TEST_F(CatalogActions, GcSaysWhatItWouldFreeAndThenFreesIt) {
  CatalogArguments arguments;
  arguments.keep = 0;
  arguments.grace_hours = 0;
  arguments.dry_run = true;
  const Json nothing = json(catalog_gc, arguments);  // small and young
  EXPECT_EQ(nothing["schema"], "enginery.gc/1");
  EXPECT_EQ(nothing["blobs_before"], 2);
  EXPECT_EQ(nothing["freed_bytes"], 0);
  EXPECT_TRUE(nothing["dropped"].empty());
  const Bytes large(200'000, 'x');
  EXPECT_TRUE(catalog_->blobs().put(as_bytes(large)).ok());
  const Json planned = json(catalog_gc, arguments);
  EXPECT_EQ(planned["dry_run"], true);
  EXPECT_EQ(planned["freed_bytes"], 200'000);
  EXPECT_EQ(planned["kept_bytes"], nothing["kept_bytes"]);
  EXPECT_EQ(planned["blobs"], 1);
  ASSERT_EQ(planned["dropped"].size(), 1u);
  EXPECT_EQ(planned["dropped"][0]["blob"], sha256(large).text());
  EXPECT_EQ(printed(catalog_gc, arguments).substr(0, 10), "would free");
  arguments.dry_run = false;
  EXPECT_EQ(printed(catalog_gc, arguments).substr(0, 5), "freed");
  EXPECT_FALSE(*has_blob(catalog_->blobs(), sha256(large)));
  arguments.words = {"net"};
  EXPECT_EQ(error(catalog_gc, arguments), ErrorCode::usage);
}

TEST_F(CatalogActions, TimingsTravelInAFile) {
  ActionKey device("timing-device", "local"), problem("timing-problem", "local");
  device.add("sku", "p4").add("device", "Tesla P4");
  problem.add("problem", "conv 3x3");
  for (const ActionKey& key : {device, problem})
    ASSERT_TRUE(catalog_->timings().record_key(key).ok());
  const TimingRow row{device.digest(), problem.digest(), "direct", R"({"median_us":12.5})", 7};
  ASSERT_TRUE(catalog_->timings().put({&row, 1}).ok());
  EXPECT_NE(printed(timing_ls, {}).find("Tesla P4"), std::string::npos);
  EXPECT_NE(printed(timing_query, {{"3x3"}}).find("12.50"), std::string::npos);
  EXPECT_TRUE(json(timing_query, {{"gemm"}})["timings"].empty());
  const std::string file = (home_.path() / "timings.json").string();
  for (int again = 0; again < 2; ++again) EXPECT_EQ(json(timing_export, {{file}})["rows"], 1);
  const std::string engine = (home_.path() / "engine").string();
  ASSERT_TRUE(write_file(engine, "ENGINERY...").ok());
  EXPECT_EQ(error(timing_export, {{engine}}), ErrorCode::usage) << "an engine is written over";
  EXPECT_EQ(json(timing_clear, {})["removed"], 1);
  EXPECT_TRUE(json(timing_ls, {})["devices"].empty());
  EXPECT_EQ(json(timing_import, {{file}})["stored"], 1);
  EXPECT_EQ(json(timing_import, {{file}})["stored"], 0) << "nothing there is newer";
  EXPECT_EQ(json(timing_ls, {})["devices"][0]["sku"], "p4");
  EXPECT_EQ(error(timing_import, {{(home_.path() / "catalog" / "catalog.db").string()}}),
            ErrorCode::corrupt_data);
}

// Another site: another catalog, and the same keys, which TemporaryHome gives both.
class CatalogBundles : public CatalogActions {
 protected:
  CatalogBundles() : other_(std::move(*Catalog::open(home_.path() / "other"))) {}
  ErrorCode import_error() {
    FakeConsole fake;
    const auto code = catalog_import(door_to(*other_, *other_), {{file_}}, fake.console());
    return code.ok() ? ErrorCode::internal : code.error().code;
  }

  std::unique_ptr<Catalog> other_;
  const std::string file_ = (home_.path() / "bundle").string();
};

TEST_F(CatalogBundles, AnEngineArrivesWithItsKeyItsResultAndItsTags) {
  ASSERT_EQ(json(catalog_tag, {{p4_.text(), "prod"}})["tag"], "prod");
  ASSERT_TRUE(write_file(file_, "ENGINERY...").ok());
  EXPECT_EQ(error(catalog_export, {{file_, p4_.text()}}), ErrorCode::usage) << "over an engine";
  std::filesystem::remove(file_);
  for (int again = 0; again < 2; ++again)
    EXPECT_EQ(json(catalog_export, {{file_, p4_.text()}})["engines"], 1);
  for (int again = 0; again < 2; ++again) {
    FakeConsole fake;
    const auto code = catalog_import(door_to(*other_, *other_), {{file_}}, fake.console());
    ASSERT_TRUE(code.ok()) << code.error().message;
  }
  const auto found = other_->engines().tagged("net", "prod", "p4");
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->digest, p4_);
  EXPECT_EQ(found->latency_ms, 4.5);
  const auto result = other_->results().lookup(key_.digest());
  ASSERT_TRUE(result.ok() && *result);
  EXPECT_EQ((*result)->generation, 1);
  EXPECT_EQ((*result)->outputs.at(0).digest, p4_);
  EXPECT_EQ(*other_->blobs().get(p4_), "engine for p4");
}

TEST_F(CatalogBundles, AChangedCutOrStrangeFileIsRefusedAndLeavesNothing) {
  EXPECT_EQ(json(catalog_export, {{file_, p4_.text()}})["engines"], 1);
  const Bytes whole = *read_file(file_);
  Bytes changed = whole;
  changed[whole.size() / 2] ^= 1;
  for (const Bytes& bytes :
       {changed, whole.substr(0, whole.size() - 1), whole + "x", Bytes("nothing")}) {
    ASSERT_TRUE(write_file(file_, bytes).ok());
    EXPECT_EQ(import_error(), ErrorCode::untrusted);
  }
  EXPECT_TRUE(other_->engines().list("", 10)->empty());
  EXPECT_FALSE(*has_blob(other_->blobs(), p4_));
}

TEST_F(CatalogBundles, AStrangersFileIsRefused) {
  EXPECT_EQ(json(catalog_export, {{file_, p4_.text()}})["engines"], 1);
  const Bytes whole = *read_file(file_);
  const Bytes body = whole.substr(0, whole.size() - kSignatureTrailerBytes);
  ASSERT_TRUE(
      write_file(file_, body + signature_trailer(sha256(body), SigningKey::generate())).ok());
  EXPECT_EQ(import_error(), ErrorCode::untrusted);
}

}  // namespace
}  // namespace enginery
