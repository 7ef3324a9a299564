#include "engine/base/log.h"

#include <gtest/gtest.h>

#include <string>

namespace enginery {
namespace {

// What `print` writes to stderr.
template <typename F>
std::string printed(F&& print) {
  testing::internal::CaptureStderr();
  print();
  return testing::internal::GetCapturedStderr();
}

TEST(Log, QuotesMessagesInItsJsonFormOnly) {
  const std::string message = "say \"hi\"\n\ttwice";
  set_up_log(LogLevel::debug, true);
  const std::string json = printed([&] { log_info(message); });
  EXPECT_NE(json.find(R"("level":"info","message":"say \"hi\"\n\ttwice"})"), std::string::npos)
      << json;
  EXPECT_EQ(json.find('\n'), json.size() - 1) << "one line for each message: " << json;
  set_up_log(LogLevel::debug, false);
  const std::string human = printed([&] { log_info(message); });
  EXPECT_NE(human.find(message), std::string::npos) << human;
  EXPECT_EQ(human.find("\"level\""), std::string::npos) << human;
}

TEST(Log, SurvivesBytesThatAreNoText) {
  set_up_log(LogLevel::debug, true);
  const std::string line = printed([] { log_warning("\xff\xfe name"); });
  EXPECT_NE(line.find(" name\"}"), std::string::npos) << line;
  set_up_log(LogLevel::warning, false);
}

TEST(Log, PrintsWhatIsAtLeastOfItsLevel) {
  set_up_log(LogLevel::warning, false);
  EXPECT_EQ(printed([] { log_info("quiet"); }), "");
  EXPECT_NE(printed([] { log_error("loud"); }).find("loud"), std::string::npos);
  set_up_log(LogLevel::off, false);
  EXPECT_EQ(printed([] { log_error("nothing"); }), "");
  set_up_log(LogLevel::warning, false);
}

}  // namespace
}  // namespace enginery
