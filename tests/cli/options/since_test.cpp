// `--since`: durations and times.
#include "cli/options/since.h"

#include <gtest/gtest.h>

namespace enginery {
namespace {

constexpr int64_t kSecondNs = 1'000'000'000;
constexpr int64_t kNow = 1'763'707'812 * kSecondNs;  // 2025-11-21T06:50:12Z

TEST(ParseSince, TakesDurationsAndTimes) {
  const struct {
    const char* text;
    int64_t ns;
  } rows[] = {{"90s", kNow - 90 * kSecondNs},
              {"15m", kNow - 900 * kSecondNs},
              {"2h", kNow - 7200 * kSecondNs},
              {"3d", kNow - 259200 * kSecondNs},
              {"2025-11-21T06:50:12Z", kNow},
              {"2025-11-21T06:50:12", kNow},
              {"2025-11-21", kNow - (6 * 3600 + 50 * 60 + 12) * kSecondNs}};
  for (const auto& row : rows) {
    const auto since = parse_since(row.text, kNow);
    ASSERT_TRUE(since.ok()) << row.text << ": " << since.error().message;
    EXPECT_EQ(*since, row.ns) << row.text;
  }
}

TEST(ParseSince, RefusesEverythingElse) {
  for (const char* text : {"", "s", "-5s", "5", "5w", "5 s", "99999999999d", "yesterday",
                           "2025-11-21T06:50:12+01:00", "2025-13-99"}) {
    const auto since = parse_since(text, kNow);
    ASSERT_FALSE(since.ok()) << text;
    EXPECT_EQ(since.error().code, ErrorCode::usage) << text;
  }
}

}  // namespace
}  // namespace enginery
