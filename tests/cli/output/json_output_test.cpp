#include "cli/output/json_output.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/fake_console.h"

namespace enginery {
namespace {

TEST(JsonOutput, KeepsTheOrderOfFieldsAndIndentsByTwo) {
  FakeConsole fake;
  print_json(fake.console(), {{"schema", "enginery.x/1"}, {"b", 1}, {"a", nullptr}});
  EXPECT_EQ(fake.out(), "{\n  \"schema\": \"enginery.x/1\",\n  \"b\": 1,\n  \"a\": null\n}\n");
}

TEST(ValidUtf8, ReplacesWhatIsNot) {
  EXPECT_EQ(valid_utf8("caf\xC3\xA9 \"x\""), "caf\xC3\xA9 \"x\"");
  EXPECT_EQ(valid_utf8("a\xFFz"), "a\xEF\xBF\xBDz");
}

TEST(JsonTime, IsUtcWithMillisecondsAndNullForZero) {
  EXPECT_TRUE(json_time(0).is_null());
  EXPECT_EQ(json_time(1'763'707'812'345'678'901), "2025-11-21T06:50:12.345Z");
}

TEST(JsonKnown, IsNullForWhatWasNotMeasured) {
  EXPECT_TRUE(json_known(0).is_null());
  EXPECT_EQ(json_known(1.5), 1.5);
}

TEST(OutputForm, IsJsonWhereItIsAskedFor) {
  EXPECT_EQ(output_form(true), OutputForm::json);
  EXPECT_EQ(output_form(false), OutputForm::text);
}

}  // namespace
}  // namespace enginery
