#include "cli/options/configuration.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

#include "engine/base/file.h"

namespace enginery {
namespace {

namespace fs = std::filesystem;

class ConfigurationFixture : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / ("configuration." + std::to_string(getpid()));
    fs::create_directories(folder_);
    for (const Setting& setting : settings()) unsetenv(environment_name(setting.name).c_str());
    files_ = {folder_ / "project.toml", folder_ / "user.toml", folder_ / "system.toml"};
  }
  void TearDown() override {
    unsetenv("ENGINERY_THREADS");
    fs::remove_all(folder_);
  }
  std::string value_of(std::string_view name) {
    const auto configuration = Configuration::load(files_);
    if (!configuration.ok()) return configuration.error().message;
    const auto value = configuration->find(name);
    return value ? value->value + " from " + value->origin : "nothing";
  }

  fs::path folder_;
  ConfigurationFiles files_;
};

using Precedence = ConfigurationFixture;

TEST_F(Precedence, EnvironmentThenProjectThenUserThenSystem) {
  EXPECT_EQ(value_of("threads"), "nothing");
  ASSERT_TRUE(write_file(files_.system, "threads = 1\n").ok());
  EXPECT_EQ(value_of("threads"), "1 from system file " + files_.system.string());
  ASSERT_TRUE(write_file(files_.user, "threads = 2\n").ok());
  EXPECT_EQ(value_of("threads"), "2 from user file " + files_.user.string());
  ASSERT_TRUE(write_file(files_.project, "threads = 3\n").ok());
  EXPECT_EQ(value_of("threads"), "3 from project file " + files_.project.string());
  setenv("ENGINERY_THREADS", "4", 1);
  EXPECT_EQ(value_of("threads"), "4 from environment ENGINERY_THREADS");
  EXPECT_EQ(value_of("log-level"), "warning from default");
}

TEST_F(Precedence, AnUnknownKeyIsUsageWithFileLineAndNearestName) {
  ASSERT_TRUE(write_file(files_.user, "\nthread = 2\n").ok());
  const auto configuration = Configuration::load(files_);
  ASSERT_FALSE(configuration.ok());
  EXPECT_EQ(configuration.error().code, ErrorCode::usage);
  const std::string& message = configuration.error().message;
  EXPECT_NE(message.find("user.toml:2"), std::string::npos) << message;
  EXPECT_NE(message.find("did you mean threads?"), std::string::npos) << message;
}

TEST_F(Precedence, BrokenTomlAndTablesAreUsage) {
  for (const char* text : {"threads = ", "[threads]\nx = 1\n", "threads = [1]\n", "\xff\xfe"}) {
    ASSERT_TRUE(write_file(files_.user, text).ok());
    const auto configuration = Configuration::load(files_);
    ASSERT_FALSE(configuration.ok()) << text;
    EXPECT_EQ(configuration.error().code, ErrorCode::usage) << text;
  }
}

}  // namespace
}  // namespace enginery
