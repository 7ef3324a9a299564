// The farm on one screen.
#include "cli/output/farm_overview.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace enginery {
namespace {

FarmOverview busy_farm() {
  FarmOverview farm;
  farm.skus = {{"cpu-avx2", "cpu", "t", 2, 1, 5}, {"h200", "cuda", "t", 1, 0, 2}};
  WorkerView lost{"gone", "h200", WorkerCondition::lost};
  WorkerView busy{"host/a", "cpu-avx2", WorkerCondition::busy};
  busy.job = "j9";
  busy.step = "tune";
  busy.progress = {"tuning", 12, 40, 65};
  WorkerView idle{"host/b", "cpu-avx2", WorkerCondition::idle};
  farm.workers = {lost, busy, idle};
  for (int i = 0; i < 8; ++i)
    farm.jobs.push_back({"j" + std::to_string(10 - i), "net", JobState::done, 1, 1, 1});
  farm.jobs[1].state = JobState::running;
  farm.jobs[7].state = JobState::queued;
  return farm;
}

TEST(FarmOverviewText, BeginsWithTheSums) {
  const std::string text = overview_text(busy_farm());
  const std::string head = text.substr(0, text.find('\n'));
  EXPECT_NE(head.find("jobs: 2 open  steps: 7 queued  workers: 1 busy, 1 idle, 1 lost"),
            std::string::npos)
      << head;
}

TEST(FarmOverviewText, ShowsWhatWorksFirst) {
  const std::string text = overview_text(busy_farm());
  EXPECT_LT(text.find("host/a"), text.find("gone")) << text;
  EXPECT_LT(text.find("\nj9 "), text.find("\nj10 ")) << text;
  EXPECT_LT(text.find("\nj3 "), text.find("\nj10 ")) << text;
  EXPECT_EQ(text.find("\nj4 "), std::string::npos) << "five ended jobs are enough\n" << text;
  EXPECT_NE(text.find("tuning 12/40, 1 min 5 s left"), std::string::npos) << text;
}

TEST(FarmOverviewText, ShowsWhatDevicesSayWhereOneDoes) {
  FarmOverview farm = busy_farm();
  EXPECT_EQ(overview_text(farm).find("DEVICE"), std::string::npos);
  farm.workers[1].reading = {1980, 2619, 45, 352.4, 4};
  const std::string text = overview_text(farm);
  EXPECT_NE(text.find("1980 MHz, 45 C, 352 W, throttled"), std::string::npos) << text;
  const Json rows = overview_json(farm)["workers"];
  EXPECT_TRUE(rows[0]["device_state"].is_null());
  EXPECT_EQ(rows[1]["device_state"]["power_w"], 352.4);
}

TEST(FarmOverviewText, OfAnEmptyFarmIsItsHead) {
  const std::string text = overview_text({});
  EXPECT_EQ(text.find('\n') + 1, text.size()) << text;
  EXPECT_NE(text.find("jobs: 0 open"), std::string::npos) << text;
}

TEST(FarmOverviewText, FitsTheTerminal) {
  EXPECT_EQ(fitted("abcdef\nb\nc\n", 4, 2), "abcd\nb\n");
  EXPECT_EQ(fitted("caf\xC3\xA9s\n", 4, 5), "caf\xC3\xA9\n") << "characters, not bytes";
  EXPECT_EQ(fitted("", 4, 5), "");
}

TEST(FarmOverviewJson, HasTheRowsOfTheOtherVerbs) {
  const Json json = overview_json(busy_farm());
  EXPECT_EQ(json["schema"], "enginery.top/1");
  EXPECT_EQ(json["skus"][0]["queued"], 5);
  EXPECT_EQ(json["workers"].size(), 3u);
  EXPECT_EQ(json["jobs"][0]["id"], "j10");
}

}  // namespace
}  // namespace enginery
