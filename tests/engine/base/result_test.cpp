// Expected failure as a value: what Result, Status and the two macros pass on, and that a broken
// promise ends the process with its reason.
#include "enginery/result.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>

namespace enginery {
namespace {

Error error_of(const std::string& message) {
  return {ErrorCode::unsupported, message};
}

TEST(Error, EachLayerAddsItsVerbInFront) {
  const Error error = error_of("no bias").within("node 'c'").within("import");
  EXPECT_EQ(error.message, "import: node 'c': no bias");
  EXPECT_EQ(error.code, ErrorCode::unsupported);
}

TEST(ErrorCode, EveryCodeHasAWordOfItsOwn) {
  std::set<std::string> words;
  for (int code = 0; code <= static_cast<int>(kLastErrorCode); ++code)
    EXPECT_TRUE(words.insert(to_string(static_cast<ErrorCode>(code))).second) << code;
  EXPECT_EQ(words.count("unknown"), 0u);
}

TEST(Result, MovesAValueThatCannotBeCopied) {
  Result<std::unique_ptr<int>> made(std::make_unique<int>(5));
  ASSERT_TRUE(made.ok());
  const std::unique_ptr<int> taken = std::move(made).value();
  EXPECT_EQ(*taken, 5);
}

TEST(ResultDeathTest, TheValueOfAnErrorEndsTheProcessWithItsMessage) {
  const Result<int> none(error_of("no reason"));
  EXPECT_DEATH((void)none.value(), "value\\(\\) of an error: no reason");
  EXPECT_DEATH(ENSURE(1 + 1 == 3, "arithmetic holds"), "broken promise: arithmetic holds");
}

Result<int> half(int n) {
  if (n % 2) return error_of(std::to_string(n) + " is odd");
  return n / 2;
}

Result<int> quarter(int n, int& steps) {
  TRY(const int once, half(n));
  ++steps;
  TRY(int twice, half(once));
  ++steps;
  return twice;
}

TEST(Try, LeavesAtTheFirstErrorAndNotBefore) {
  int steps = 0;
  EXPECT_EQ(*quarter(12, steps), 3);
  EXPECT_EQ(steps, 2);
  EXPECT_EQ(quarter(6, steps).error().message, "3 is odd");
  EXPECT_EQ(steps, 3);
}

Status require_even(int n) {
  CHECK_OK(half(n));
  return {};
}

TEST(CheckOk, PassesTheErrorOfAResultOn) {
  EXPECT_TRUE(require_even(4).ok());
  EXPECT_EQ(require_even(5).error().message, "5 is odd");
}

}  // namespace
}  // namespace enginery
