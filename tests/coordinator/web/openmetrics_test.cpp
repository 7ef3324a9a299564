// The text format of metrics, and that the checker of these tests refuses what is not it.
#include "coordinator/web/openmetrics.h"

#include <gtest/gtest.h>

#include "tests/coordinator/web/openmetrics_check.h"

namespace enginery {
namespace {

using Type = OpenMetrics::Type;

TEST(OpenMetricsText, IsWhatTheStandardSays) {
  OpenMetrics out;
  out.family("farm_build", Type::info, "", "what runs");
  out.sample({{"version", "1"}}, 1);
  out.family("farm_free_bytes", Type::gauge, "bytes", "room");
  out.sample({}, 12345678901234);
  out.family("farm_jobs_ended", Type::counter, "", "ends, by \"state\"\nand a \\");
  out.sample({{"state", "done"}, {"who", "a\"b\\c\nd"}}, 3);
  MetricHistogram waits({0.5, 1});
  for (const double seconds : {0.5, 0.25, 0.75, 2.0}) waits.observe(seconds);
  out.family("farm_wait_seconds", Type::histogram, "seconds", "waits");
  out.histogram({}, waits);
  const std::string text = std::move(out).finish();
  EXPECT_EQ(text,
            "# TYPE farm_build info\n"
            "# HELP farm_build what runs\n"
            "farm_build_info{version=\"1\"} 1\n"
            "# TYPE farm_free_bytes gauge\n"
            "# UNIT farm_free_bytes bytes\n"
            "# HELP farm_free_bytes room\n"
            "farm_free_bytes 12345678901234\n"
            "# TYPE farm_jobs_ended counter\n"
            "# HELP farm_jobs_ended ends, by \\\"state\\\"\\nand a \\\\\n"
            "farm_jobs_ended_total{state=\"done\",who=\"a\\\"b\\\\c\\nd\"} 3\n"
            "# TYPE farm_wait_seconds histogram\n"
            "# UNIT farm_wait_seconds seconds\n"
            "# HELP farm_wait_seconds waits\n"
            "farm_wait_seconds_bucket{le=\"0.5\"} 2\n"
            "farm_wait_seconds_bucket{le=\"1.0\"} 3\n"
            "farm_wait_seconds_bucket{le=\"+Inf\"} 4\n"
            "farm_wait_seconds_count 4\n"
            "farm_wait_seconds_sum 3.5\n"
            "# EOF\n");
  EXPECT_EQ(test::check_openmetrics(text).problem, "");
}

TEST(OpenMetricsCheck, RefusesWhatIsNoOpenMetrics) {
  const struct {
    const char* text;
    const char* problem;
  } rows[] = {
      {"# TYPE a gauge\na 1\n", "EOF"},
      {"a 1\n# EOF\n", "no family"},
      {"# TYPE a gauge\nb 1\n# EOF\n", "no family"},
      {"# TYPE a gauge\na 1\na 1\n# EOF\n", "a sample twice"},
      {"# TYPE a gauge\na 1\n# TYPE b gauge\nb 1\n# TYPE a gauge\n# EOF\n", "a family twice"},
      {"# TYPE a counter\na 1\n# EOF\n", "a suffix"},
      {"# TYPE a counter\na_total -1\n# EOF\n", "negative"},
      {"# TYPE a gauge\n# UNIT a bytes\na 1\n# EOF\n", "unit"},
      {"# TYPE a gauge\n\na 1\n# EOF\n", "no sample"},
      {"# TYPE a gauge\na{b=1} 1\n# EOF\n", "no sample"},
      {"# TYPE a gauge\na{b=\"x\ny\"} 1\n# EOF\n", "no sample"},
      {"# TYPE a histogram\na_bucket{le=\"1.0\"} 1\na_count 1\n# EOF\n", "without +Inf"},
      {"# TYPE a histogram\na_bucket{le=\"1.0\"} 2\na_bucket{le=\"+Inf\"} 1\na_count 1\n# EOF\n",
       "do not grow"},
      {"# TYPE a histogram\na_bucket{le=\"+Inf\"} 1\na_count 2\n# EOF\n", "not its last bucket"},
  };
  for (const auto& row : rows)
    EXPECT_NE(test::check_openmetrics(row.text).problem.find(row.problem), std::string::npos)
        << row.text << "said: " << test::check_openmetrics(row.text).problem;
}

}  // namespace
}  // namespace enginery
