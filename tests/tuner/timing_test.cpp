// Timings as data: statistics, JSON, the key of a device.
#include "tuner/timing/timing.h"

#include <gtest/gtest.h>

#include <functional>

namespace enginery {
namespace {

TEST(Summarize, GivesOrderStatistics) {
  auto s = summarize({5, 1, 3, 2, 4});
  EXPECT_EQ(s.median_us, 3);
  EXPECT_EQ(s.least_us, 1);
  EXPECT_EQ(s.mean_us, 3);
  EXPECT_LE(s.low_us, s.median_us);
  EXPECT_GE(s.high_us, s.median_us);
  EXPECT_EQ(summarize({}).samples, 0);
}

TEST(Timing, RoundTripsThroughJson) {
  Timing t;
  t.tactic = "onednn:x(a->b)";
  t.failure = "because \"quoted\" \xff";
  t.statistics = summarize({1, 2, 3});
  t.worker = "w1";
  t.probe = {"kernel:probe", 50};
  t.cold_us = 3;
  t.disturbed_samples = 4;
  t.attempts = 2;
  auto back = parse_timing(to_json(t));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->tactic, t.tactic);
  EXPECT_EQ(back->statistics.median_us, 2);
  EXPECT_FALSE(back->failure.empty());
  EXPECT_EQ(back->worker, "w1");
  EXPECT_EQ(back->probe.us, 50);
  EXPECT_EQ(back->probe.tactic, "kernel:probe");
  EXPECT_EQ(back->cold_us, 3);
  EXPECT_EQ(back->disturbed_samples, 4);
  EXPECT_EQ(back->attempts, 2);
  EXPECT_FALSE(parse_timing("[]"));
  EXPECT_FALSE(parse_timing("{\"tactic\": 7}"));
}

TEST(Timing, KeepsTheKindOfItsFailureByItsWord) {
  Timing t;
  t.tactic = "kernel:x";
  t.failure = "relative error 2 is above 0.01";
  t.failure_kind = FailureKind::wrong_result;
  EXPECT_NE(to_json(t).find(R"("failure_kind":"wrong_result")"), std::string::npos);
  EXPECT_EQ(parse_timing(to_json(t))->failure_kind, FailureKind::wrong_result);
  t.failure.clear();
  EXPECT_EQ(to_json(t).find("failure"), std::string::npos) << "it ran";
}

// An entry as catalogs have it from before kinds existed, and one of a later version.
TEST(Timing, ReadsEntriesOfOtherVersions) {
  const auto old = parse_timing(
      R"({"tactic":"a","failure":"does not compile","median_us":0,"guard_ratio":1.5})");
  ASSERT_TRUE(old.ok());
  EXPECT_EQ(old->failure, "does not compile");
  EXPECT_EQ(old->failure_kind, FailureKind::unknown);
  EXPECT_EQ(old->probe_ratio, 1.5);
  const auto later =
      parse_timing(R"({"tactic":"a","failure":"x","failure_kind":"melted","more":[1]})");
  ASSERT_TRUE(later.ok());
  EXPECT_EQ(later->failure_kind, FailureKind::unknown);
}

// The fields of an entry: what tools read and older workers understand.
TEST(Timing, HasTheseFields) {
  Timing t;
  t.tactic = "a";
  t.statistics = summarize({2});
  EXPECT_EQ(
      to_json(t),
      R"({"clock_mhz":0.0,"cold_us":0.0,"deviation_us":0.0,"disturbed_samples":0,"error":0.0,)"
      R"("foreign_load":0.0,"guard":"","guard_ratio":1.0,"guard_us":0.0,"high_us":2.0,"least_us":2.0,"low_us":2.0,"mean_us":2.0,"median_us":2.0,)"
      R"("memory_clock_mhz":0.0,"p95_us":2.0,"power_w":0.0,"samples":1,"seed":0,"tactic":"a",)"
      R"("temperature_c":0.0,"throttle_bits":0,"unix_seconds":0.0,"worker":""})");
}

DeviceInfo some_device() {
  DeviceInfo info;
  info.sku = "h200";
  info.name = "NVIDIA H200";
  info.hardware = {{"pci", "2335"}, {"sms", "132"}};
  info.software = {{"driver", "580"}, {"cudnn", "9.1"}};
  return info;
}

// Stale timings after an upgrade, or those of another card, must not be found.
TEST(DeviceKey, ChangesWithEveryFactOfTheDevice) {
  const std::string key = device_key(some_device());
  EXPECT_EQ(key, "sku=h200\npci=2335\nsms=132\ndriver=580\ncudnn=9.1\n");
  std::set<std::string> keys = {key};
  auto changed = [&](const std::function<void(DeviceInfo&)>& change) {
    DeviceInfo info = some_device();
    change(info);
    return keys.insert(device_key(info)).second;
  };
  EXPECT_TRUE(changed([](DeviceInfo& d) { d.sku = "h100"; }));
  for (const auto facts : {&DeviceInfo::hardware, &DeviceInfo::software}) {
    for (size_t i = 0; i < 2; ++i) {
      EXPECT_TRUE(changed([&](DeviceInfo& d) { (d.*facts)[i].second += "1"; })) << i;
      EXPECT_TRUE(changed([&](DeviceInfo& d) { (d.*facts)[i].first += "1"; })) << i;
      EXPECT_TRUE(changed([&](DeviceInfo& d) {
        (d.*facts).erase((d.*facts).begin() + static_cast<std::ptrdiff_t>(i));
      })) << i;
    }
    EXPECT_TRUE(changed([&](DeviceInfo& d) { (d.*facts).emplace_back("new", "1"); }));
  }
}

// The same card in another slot, or with more threads asked for elsewhere, is the same key.
TEST(DeviceKey, IsThatOfTheKindOfDeviceNotOfThePiece) {
  DeviceInfo other = some_device();
  other.physical_id = "another";
  other.name = "a nickname";
  EXPECT_EQ(device_key(other), device_key(some_device()));
}

}  // namespace
}  // namespace enginery
