// Engines with their tags and pins, timings, events.
#include "cache/memory_blob_store.h"
#include "tests/cache/support.h"

namespace enginery {
namespace {

class TablesTest : public testing::Test {
 protected:
  EngineRow engine(const std::string& bytes, const std::string& name, const std::string& sku) {
    EngineRow row;
    row.digest = VALUE(store_.put(as_bytes(bytes)));
    row.content_digest = sha256("content of " + bytes);
    row.name = name;
    row.model = sha256("model");
    row.sku = sku;
    row.precision = "fp32";
    row.key = sha256("key");
    row.size_bytes = bytes.size();
    row.latency_ms = 1.25;
    return row;
  }

  test::FakeClock clock_;
  MemoryBlobStore store_;
  std::unique_ptr<Catalog> catalog_ = VALUE(Catalog::open_in_memory(store_, clock_));
  Engines& engines_ = catalog_->engines();
};

using EnginesTest = TablesTest;
using TimingsTest = TablesTest;
using EventsTest = TablesTest;

TEST_F(EnginesTest, FindsTheNewestOfANameForASku) {
  EXPECT_OK(engines_.add(engine("a", "net", "p4")));
  EXPECT_OK(engines_.add(engine("b", "net", "p4")));
  EXPECT_OK(engines_.add(engine("c", "net", "h200")));
  EngineRow row = VALUE(engines_.newest("net", "p4"));
  EXPECT_EQ(row.digest, sha256("b"));
  EXPECT_EQ(row.content_digest, sha256("content of b"));
  EXPECT_EQ(row.precision, "fp32");
  EXPECT_EQ(row.latency_ms, 1.25);
  EXPECT_EQ(row.created_ns, clock_.now.count());
  EXPECT_ERROR(ErrorCode::not_found, engines_.newest("net", "t4"));
  EXPECT_OK(engines_.add(
      engine("a", "net", "p4")));  // built again, or answered from the catalog: now the newest
  EXPECT_EQ(VALUE(engines_.newest("net", "p4")).digest, sha256("a"));
  EXPECT_EQ(VALUE(engines_.list("net", 100)).size(), 3u);
}

TEST_F(EnginesTest, KeepsSeveralNamesOfOneEngine) {
  EXPECT_OK(engines_.add(engine("a", "net", "p4")));
  EXPECT_OK(engines_.add(engine("a", "other", "p4")));
  EXPECT_EQ(VALUE(engines_.newest("net", "p4")).digest,
            VALUE(engines_.newest("other", "p4")).digest);
  EXPECT_EQ(VALUE(engines_.newest("other", "p4")).name, "other");
}

TEST_F(EnginesTest, FindsByDigestPrefixOnly) {
  EXPECT_OK(engines_.add(engine("a", "net", "p4")));
  std::string hex = sha256("a").hex();
  EXPECT_EQ(VALUE(engines_.find("sha256:" + hex.substr(0, 8))).digest, sha256("a"));
  EXPECT_EQ(VALUE(engines_.find(hex.substr(0, 9))).digest, sha256("a"));
  EXPECT_EQ(VALUE(engines_.find(hex)).digest, sha256("a"));
  EXPECT_ERROR(ErrorCode::invalid_argument, engines_.find(hex.substr(0, 7)));
  EXPECT_ERROR(ErrorCode::not_found, engines_.find(sha256("b").hex()));
}

TEST_F(EnginesTest, RefusesAnAmbiguousPrefix) {
  EXPECT_OK(engines_.add(engine("a", "net", "p4")));
  Digest sibling = sha256("a");
  sibling.bytes[31] ^= 1;
  EXPECT_OK(catalog_->database().execute(
      "INSERT INTO engine SELECT ?1, content_digest, model, sku, precision, "
      "key, size_bytes, latency_ms, provisional, "
      "created_ns, gone_ns FROM engine",
      sibling));
  EXPECT_ERROR(ErrorCode::invalid_argument, engines_.find(sibling.hex().substr(0, 20)));
}

TEST_F(EnginesTest, NeverAnswersWithAnEngineWhoseFileIsGone) {
  EXPECT_OK(engines_.add(engine("a", "net", "p4")));
  EXPECT_OK(engines_.add(engine("b", "net", "p4")));
  EXPECT_OK(store_.remove(sha256("b")));
  EXPECT_EQ(VALUE(engines_.newest("net", "p4")).digest, sha256("a"));
  EXPECT_ERROR(ErrorCode::not_found, engines_.find(sha256("b").hex()));
  EXPECT_EQ(VALUE(engines_.list("net", 100)).size(), 1u);
  EXPECT_OK(engines_.add(engine("b", "net", "p4")));  // rebuilt
  EXPECT_EQ(VALUE(engines_.newest("net", "p4")).digest, sha256("b"));
}

TEST_F(EnginesTest, RefusesAnEngineWithoutAFile) {
  EngineRow row = engine("a", "net", "p4");
  row.digest = sha256("nowhere");
  EXPECT_ERROR(ErrorCode::not_found, engines_.add(row));
}

TEST_F(EnginesTest, MovesTags) {
  EXPECT_OK(engines_.add(engine("a", "net", "p4")));
  EXPECT_OK(engines_.add(engine("b", "net", "p4")));
  EXPECT_OK(engines_.set_tag({"net", "prod", "p4", sha256("a")}));
  EXPECT_EQ(VALUE(engines_.tagged("net", "prod", "p4")).digest, sha256("a"));
  EXPECT_OK(engines_.set_tag({"net", "prod", "p4", sha256("b")}));
  EXPECT_EQ(VALUE(engines_.tagged("net", "prod", "p4")).digest, sha256("b"));
  EXPECT_EQ(VALUE(engines_.tags()).size(), 1u);
  EXPECT_ERROR(ErrorCode::not_found, engines_.tagged("net", "test", "p4"));
  EXPECT_ERROR(ErrorCode::not_found, engines_.set_tag({"net", "prod", "p4", sha256("nowhere")}));
}

TEST_F(EnginesTest, PinsAndUnpins) {
  Digest blob = VALUE(store_.put(as_bytes(std::string_view("a"))));
  EXPECT_OK(engines_.pin(blob, "release"));
  EXPECT_EQ(VALUE(catalog_->database().find_integer(
                "SELECT count(*) FROM pin WHERE blob=?1 AND reason='release'", blob)),
            1);
  EXPECT_OK(engines_.unpin(blob));
  EXPECT_ERROR(ErrorCode::not_found, engines_.unpin(blob));
  EXPECT_ERROR(ErrorCode::not_found, engines_.pin(sha256("nowhere"), ""));
}

ActionKey device_key(const std::string& driver) {
  ActionKey key("device", "local");
  key.add("sku", "p4").add("driver", driver);
  return key;
}
ActionKey problem_key(int channels) {
  ActionKey key("problem", "local");
  key.add("op", "Conv").add("channels", channels);
  return key;
}

TEST_F(TimingsTest, KeepsTheLatestMeasurementOfEachTactic) {
  Timings& timings = catalog_->timings();
  Digest device = device_key("550").digest(), problem = problem_key(64).digest();
  EXPECT_OK(timings.record_key(device_key("550")));
  EXPECT_OK(timings.record_key(problem_key(64)));
  std::vector<TimingRow> rows{{device, problem, "a", "{1}", 10}, {device, problem, "b", "{2}", 10}};
  EXPECT_EQ(VALUE(timings.put(rows)), 2);
  EXPECT_EQ(VALUE(timings.put(rows)), 0);  // repeated
  rows = {{device, problem, "a", "{3}", 11}, {device, problem, "b", "{4}", 9}};
  EXPECT_EQ(VALUE(timings.put(rows)), 1);
  auto stored = VALUE(timings.of_device(device));
  ASSERT_EQ(stored.size(), 2u);
  EXPECT_EQ(stored[0].entry, "{3}");
  EXPECT_EQ(stored[1].entry, "{2}");
  EXPECT_EQ(VALUE(timings.of_problem(device, problem)).size(), 2u);
  EXPECT_TRUE(VALUE(timings.of_problem(device, sha256("x"))).empty());
  ASSERT_EQ(VALUE(timings.devices()).size(), 1u);
  EXPECT_EQ(VALUE(timings.devices())[0].second, 2);
}

TEST_F(TimingsTest, RefusesABatchWhoseKeyWasNotRecordedAsAWhole) {
  Timings& timings = catalog_->timings();
  EXPECT_OK(timings.record_key(device_key("550")));
  EXPECT_OK(timings.record_key(problem_key(64)));
  Digest device = device_key("550").digest();
  std::vector<TimingRow> rows{{device, problem_key(64).digest(), "a", "{}", 1},
                              {device, sha256("x"), "a", "{}", 1}};
  EXPECT_ERROR(ErrorCode::not_found, timings.put(rows));
  EXPECT_TRUE(VALUE(timings.of_device(device)).empty());
}

TEST_F(TimingsTest, SaysInWhatTheNearestKeyDiffers) {
  Timings& timings = catalog_->timings();
  EXPECT_OK(timings.record_key(device_key("550")));
  EXPECT_OK(timings.record_key(problem_key(64)));
  auto nearest = VALUE(timings.nearest(device_key("555")));
  ASSERT_TRUE(nearest);
  ASSERT_EQ(nearest->differs.size(), 1u);
  EXPECT_EQ(nearest->differs[0].field, "driver");
  EXPECT_EQ(VALUE(timings.find_key(nearest->digest)), device_key("550"));
  EXPECT_FALSE(VALUE(timings.nearest(ActionKey("unknown", "local"))));
}

TEST_F(EventsTest, ComeInOrderAndGoOnFromAnywhere) {
  Events& events = catalog_->events();
  int64_t first = VALUE(events.append({0, "j1", 5, "submitted", "{}"}));
  EXPECT_OK(events.append({0, "j2", 6, "submitted", "{}"}));
  int64_t third = VALUE(events.append({0, "j1", 4, "queued", R"({"x":1})"}));
  EXPECT_LT(first, third);
  auto all = VALUE(events.list("", 0, 10));
  ASSERT_EQ(all.size(), 3u);
  auto mine = VALUE(events.list("j1", first, 10));
  ASSERT_EQ(mine.size(), 1u);
  EXPECT_EQ(mine[0].sequence, third);
  EXPECT_EQ(mine[0].kind, "queued");
  EXPECT_EQ(mine[0].json, R"({"x":1})");
  EXPECT_EQ(VALUE(events.list("", 0, 2)).size(), 2u);
}

}  // namespace
}  // namespace enginery
