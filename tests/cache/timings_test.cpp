// Timings: which of two measurements stays, and which key comes closest to a wanted one.
#include "cache/timings.h"

#include <tuple>

#include "cache/memory_blob_store.h"
#include "tests/cache/support.h"

namespace enginery {
namespace {

class TimingsTest : public testing::Test {
 protected:
  test::FakeClock clock_;
  MemoryBlobStore store_;
  std::unique_ptr<Catalog> catalog_ = VALUE(Catalog::open_in_memory(store_, clock_));
};

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

TEST_F(TimingsTest, OfEqualAgeTheFirstStays) {
  Timings& timings = catalog_->timings();
  const Digest device = device_key("550").digest(), problem = problem_key(64).digest();
  EXPECT_OK(timings.record_key(device_key("550")));
  EXPECT_OK(timings.record_key(problem_key(64)));
  const std::vector<TimingRow> twice{{device, problem, "a", "{1}", 10},
                                     {device, problem, "a", "{2}", 10}};
  EXPECT_EQ(VALUE(timings.put(twice)), 1);
  EXPECT_EQ(VALUE(timings.of_device(device)).at(0).entry, "{1}");
  const std::vector<TimingRow> again{{device, problem, "a", "{3}", 11},
                                     {device, problem, "a", "{4}", 12}};
  EXPECT_EQ(VALUE(timings.put(again)), 2);  // each replaced the one before
  EXPECT_EQ(VALUE(timings.of_device(device)).at(0).entry, "{4}");
}

TEST_F(TimingsTest, ADeviceWithOtherSoftwareHasRowsOfItsOwn) {
  Timings& timings = catalog_->timings();
  for (const char* driver : {"550", "555"}) EXPECT_OK(timings.record_key(device_key(driver)));
  for (const int channels : {64, 128}) EXPECT_OK(timings.record_key(problem_key(channels)));
  const Digest old = device_key("550").digest(), now = device_key("555").digest();
  EXPECT_OK(timings.put(std::vector<TimingRow>{{old, problem_key(64).digest(), "a", "{1}", 1},
                                               {old, problem_key(128).digest(), "a", "{2}", 1},
                                               {now, problem_key(64).digest(), "a", "{3}", 1}}));
  EXPECT_EQ(VALUE(timings.of_device(old)).size(), 2u);
  EXPECT_EQ(VALUE(timings.of_problem(now, problem_key(64).digest())).at(0).entry, "{3}");
  const auto devices = VALUE(timings.devices());
  ASSERT_EQ(devices.size(), 2u);
  for (const auto& [device, rows] : devices) EXPECT_EQ(rows, device == old ? 2 : 1);
}

TEST_F(TimingsTest, RowsOfADeviceComeByProblemAndThenByTactic) {
  Timings& timings = catalog_->timings();
  const Digest device = device_key("550").digest();
  EXPECT_OK(timings.record_key(device_key("550")));
  std::vector<TimingRow> rows;
  for (const int channels : {32, 64, 128}) {
    EXPECT_OK(timings.record_key(problem_key(channels)));
    for (const char* tactic : {"c", "a", "b"})
      rows.push_back({device, problem_key(channels).digest(), tactic, "{}", 1});
  }
  EXPECT_OK(timings.put(rows));
  const auto stored = VALUE(timings.of_device(device));
  ASSERT_EQ(stored.size(), 9u);
  for (size_t i = 1; i < stored.size(); ++i)
    EXPECT_LT(std::tie(stored[i - 1].problem, stored[i - 1].tactic),
              std::tie(stored[i].problem, stored[i].tactic));
}

TEST_F(TimingsTest, TheNearestKeyDiffersInTheFewestFieldsAndIsTheNewestOfThose) {
  Timings& timings = catalog_->timings();
  ActionKey far = device_key("540");
  far.add("clock_mhz", 900);
  EXPECT_OK(timings.record_key(device_key("550")));
  EXPECT_OK(timings.record_key(device_key("551")));
  EXPECT_OK(timings.record_key(far));
  const auto nearest = VALUE(timings.nearest(device_key("555")));
  ASSERT_TRUE(nearest);
  EXPECT_EQ(nearest->digest, device_key("551").digest());
  EXPECT_OK(timings.record_key(device_key("555")));
  EXPECT_EQ(VALUE(timings.nearest(device_key("555")))->digest, device_key("551").digest());
}

TEST_F(TimingsTest, ADamagedKeyIsPassedOver) {
  Timings& timings = catalog_->timings();
  EXPECT_OK(timings.record_key(device_key("550")));
  EXPECT_OK(timings.record_key(device_key("551")));
  EXPECT_OK(catalog_->database().execute("UPDATE timing_key SET bytes=x'00' WHERE digest=?1",
                                         device_key("551").digest()));
  EXPECT_EQ(VALUE(timings.nearest(device_key("555")))->digest, device_key("550").digest());
  EXPECT_ERROR(ErrorCode::corrupt_data, timings.find_key(device_key("551").digest()));
}

// A worker whose clock is a year ahead measured now; whoever measures later replaces it.
TEST_F(TimingsTest, NothingCountsAsMeasuredInTheFuture) {
  Timings& timings = catalog_->timings();
  const Digest device = device_key("550").digest(), problem = problem_key(64).digest();
  EXPECT_OK(timings.record_key(device_key("550")));
  EXPECT_OK(timings.record_key(problem_key(64)));
  const int64_t ahead = (clock_.now + std::chrono::hours(24 * 365)).count();
  EXPECT_EQ(VALUE(timings.put(std::vector<TimingRow>{{device, problem, "a", "{1}", ahead}})), 1);
  EXPECT_EQ(VALUE(timings.of_device(device)).at(0).measured_ns, clock_.now.count());
  clock_.now += std::chrono::seconds(1);
  EXPECT_EQ(
      VALUE(timings.put(std::vector<TimingRow>{{device, problem, "a", "{2}", clock_.now.count()}})),
      1);
  // One from before this rule.
  EXPECT_OK(catalog_->database().execute("UPDATE timing SET measured_ns=?1", ahead));
  EXPECT_EQ(VALUE(timings.put(std::vector<TimingRow>{{device, problem, "a", "{3}", 5}})), 1);
  EXPECT_EQ(VALUE(timings.of_device(device)).at(0).entry, "{3}");
}

}  // namespace
}  // namespace enginery
