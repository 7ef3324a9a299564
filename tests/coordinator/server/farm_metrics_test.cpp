// /metrics of made facts.
#include "coordinator/server/farm_metrics.h"

#include <gtest/gtest.h>

#include "tests/coordinator/web/openmetrics_check.h"

namespace enginery {
namespace {

TEST(FarmMetrics, HaveASampleForEachSensorThatADeviceHas) {
  FarmFacts facts;
  WorkerView card{"lab/h200", "h200"}, silent{"lab/cpu", "cpu-avx2"};
  card.reading = {1980, 2619, 0, 352.5, 4};
  facts.workers = {card, silent};
  const std::string text = farm_metrics(facts);
  auto checked = test::check_openmetrics(text);
  ASSERT_EQ(checked.problem, "") << text;
  const std::string of_card = "{worker=\"lab/h200\",sku=\"h200\"}";
  EXPECT_EQ(checked.samples["enginery_device_clock_hertz" + of_card], 1.98e9);
  EXPECT_EQ(checked.samples["enginery_device_memory_clock_hertz" + of_card], 2.619e9);
  EXPECT_EQ(checked.samples["enginery_device_power_watts" + of_card], 352.5);
  EXPECT_EQ(checked.samples["enginery_device_throttled" + of_card], 1);
  EXPECT_FALSE(checked.samples.contains("enginery_device_temperature_celsius" + of_card));
  EXPECT_EQ(text.find("enginery_device_throttled{worker=\"lab/cpu\""), std::string::npos);
}

}  // namespace
}  // namespace enginery
