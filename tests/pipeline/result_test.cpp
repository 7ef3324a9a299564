#include "pipeline/result.h"

#include <gtest/gtest.h>

#include <limits>

namespace enginery {
namespace {

StepResult sample() {
  StepResult result;
  result.outputs = {{"content", sha256("c"), 5}};
  result.metrics = {{"latency_ms", 0.25}, {"layers", 3}};
  result.facts = {{"notes", "line\nline"}, {"precision", "fp32"}};
  result.generation = 4;
  return result;
}

TEST(StepResult, SurvivesTheCatalogsRow) {
  const ActionResult row = to_action_result(sha256("key"), sample());
  EXPECT_EQ(row.key, sha256("key"));
  EXPECT_EQ(
      row.outcome,
      R"({"facts":{"notes":"line\nline","precision":"fp32"},"metrics":{"latency_ms":0.25,"layers":3.0}})");
  EXPECT_EQ(to_step_result(row), sample());
}

TEST(StepResult, KeepsAFailuresCodeAndMessage) {
  StepResult failure;
  failure.success = false;
  failure.fault = {ErrorCode::unsupported, "node 'x' (Foo): no such operator"};
  const ActionResult row = to_action_result(sha256("key"), failure);
  EXPECT_EQ(
      row.outcome,
      R"({"facts":{},"fault":{"code":"unsupported","message":"node 'x' (Foo): no such operator"},"metrics":{}})");
  EXPECT_EQ(to_step_result(row), failure);
}

TEST(StepResult, ReadsWhatItCanOfAnyText) {
  for (const char* text : {"", "[]", "{", R"({"metrics":3,"facts":[],"fault":"x"})"}) {
    StepResult result;
    read_outcome_json(text, result);
    EXPECT_EQ(result, StepResult()) << text;
  }
  // A fault whose parts have another shape is a fault all the same.
  for (const char* text : {R"({"fault":{"code":3,"message":["x"]}})", R"({"fault":{"code":null}})",
                           R"({"fault":{}})", R"({"fault":{"code":"of a newer program"}})"}) {
    StepResult result;
    read_outcome_json(text, result);
    EXPECT_EQ(result.fault, (Fault{ErrorCode::internal, ""})) << text;
  }
  StepResult result;
  read_outcome_json(R"({"metrics":{"a":"text","b":2},"facts":{"c":1,"d":"e"}})", result);
  EXPECT_EQ(result.metrics, (std::vector<NamedNumber>{{"b", 2}}));
  EXPECT_EQ(result.facts, (std::vector<NamedText>{{"d", "e"}}));
}

TEST(StepResult, IsUtf8WhateverAWorkerSays) {
  StepResult result;
  result.facts = {{"notes", "\xff"}};
  EXPECT_NE(outcome_json(result).find("\xef\xbf\xbd"), std::string::npos);
}

TEST(NamedValues, AreNothingWhereTheyAreAbsent) {
  const StepResult result = sample();
  EXPECT_EQ(blob_named(result.outputs, "choices"), nullptr);
  EXPECT_EQ(number_named(result.metrics, "latency_ms"), 0.25);
  EXPECT_EQ(number_named(result.metrics, "absent"), 0);
  EXPECT_EQ(text_named(result.facts, "absent"), "");
}

TEST(NamedValues, CountsAreNeverNegativeOrHuge) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<NamedNumber> numbers = {{"a", 3.0}, {"b", -1}, {"c", 1e30}, {"d", nan}};
  EXPECT_EQ(count_named(numbers, "a"), 3u);
  for (const char* name : {"b", "c", "d", "e"}) EXPECT_EQ(count_named(numbers, name), 0u) << name;
}

// Only what the same input always meets is kept as the key's answer.
TEST(OutcomeKinds, OnlyFaultsOfTheInputAreDeterministic) {
  for (int i = 0; i <= static_cast<int>(kLastErrorCode); ++i) {
    const auto code = static_cast<ErrorCode>(i);
    const bool of_the_input = code == ErrorCode::invalid_argument ||
                              code == ErrorCode::unsupported || code == ErrorCode::usage;
    EXPECT_EQ(outcome_kind(code) == OutcomeKind::failed, of_the_input) << to_string(code);
  }
  const Outcome outcome = failed_outcome({ErrorCode::timed_out, "busy"});
  EXPECT_EQ(outcome.kind, OutcomeKind::back_pressure);
  EXPECT_EQ(outcome.fault.message, "busy");
}

TEST(StepResult, KeepsEveryErrorCodeByItsName) {
  for (int i = 0; i <= static_cast<int>(kLastErrorCode); ++i) {
    StepResult failure;
    failure.success = false;
    failure.fault = {static_cast<ErrorCode>(i), "m"};
    StepResult back;
    read_outcome_json(outcome_json(failure), back);
    EXPECT_EQ(back.fault, failure.fault) << to_string(failure.fault.code);
  }
}

TEST(StepResult, ANumberThatJsonLacksIsLeftOut) {
  StepResult result;
  result.metrics = {{"nan", std::numeric_limits<double>::quiet_NaN()},
                    {"inf", std::numeric_limits<double>::infinity()},
                    {"right", 1e-300}};
  StepResult back;
  read_outcome_json(outcome_json(result), back);
  EXPECT_EQ(back.metrics, (std::vector<NamedNumber>{{"right", 1e-300}}));
}

TEST(StepResult, ANameThatIsThereTwiceHasItsLastValue) {
  StepResult result, back;
  result.facts = {{"n", "first"}, {"n", "last"}};
  read_outcome_json(outcome_json(result), back);
  EXPECT_EQ(back.facts, (std::vector<NamedText>{{"n", "last"}}));
  EXPECT_EQ(fields_json(result.facts), R"({"n":"last"})");
  EXPECT_EQ(read_fields_json(R"({"n":"last","number":1})"),
            (std::vector<NamedText>{{"n", "last"}}));
  EXPECT_TRUE(read_fields_json("[]").empty());
  EXPECT_TRUE(read_fields_json("no json").empty());
}

TEST(StepResult, NamesAreDataAndNeverStructure) {
  StepResult result, back;
  result.facts = {{"\"},\"x\":{", "a \"quoted\" value\n"}, {"", "nameless"}};
  read_outcome_json(outcome_json(result), back);
  ASSERT_EQ(back.facts.size(), 2u);
  EXPECT_EQ(text_named(back.facts, "\"},\"x\":{"), "a \"quoted\" value\n");
  EXPECT_EQ(text_named(back.facts, ""), "nameless");
}

}  // namespace
}  // namespace enginery
