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

// Cloning a repository must not send models elsewhere.
TEST_F(Precedence, AProjectNamesACoordinatorOnlyWhereItIsTrusted) {
  ASSERT_TRUE(write_file(files_.project, "coordinator = \"tcp://evil:1\"\nlevel = 5\n").ok());
  const auto trusted = [&](std::string_view name) {
    return Configuration::load(files_).value().find(name)->trusted;
  };
  ASSERT_FALSE(trusted("coordinator").ok());
  EXPECT_EQ(trusted("coordinator").error().code, ErrorCode::untrusted);
  EXPECT_NE(trusted("coordinator").error().message.find("trust-projects"), std::string::npos);
  EXPECT_TRUE(trusted("level").ok());
  ASSERT_TRUE(write_file(files_.project, "coordinator = \"tcp://evil:1\"\ntrust-projects = \"" +
                                             folder_.string() + "\"\n")
                  .ok());
  EXPECT_FALSE(trusted("coordinator").ok()) << "a project does not trust itself";
  ASSERT_TRUE(
      write_file(files_.user, "trust-projects = \"/nowhere:" + folder_.string() + "\"\n").ok());
  EXPECT_TRUE(trusted("coordinator").ok());
  ASSERT_TRUE(write_file(files_.user, "coordinator = \"tcp://mine:1\"\n").ok());
  EXPECT_FALSE(trusted("coordinator").ok()) << "it hides the user's, and that is said";
  ASSERT_TRUE(write_file(files_.project, "level = 5\n").ok());
  EXPECT_TRUE(trusted("coordinator").ok());
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

TEST_F(Precedence, AnEmptyVariableIsNone) {
  ASSERT_TRUE(write_file(files_.user, "threads = 2\n").ok());
  setenv("ENGINERY_THREADS", "", 1);
  EXPECT_EQ(value_of("threads"), "2 from user file " + files_.user.string());
}

TEST_F(Precedence, AFileLeavesTheOthersSettingsAlone) {
  ASSERT_TRUE(write_file(files_.system, "threads = 1\nlevel = 1\n").ok());
  ASSERT_TRUE(write_file(files_.project, "level = 5\n").ok());
  EXPECT_EQ(value_of("threads"), "1 from system file " + files_.system.string());
  EXPECT_EQ(value_of("level"), "5 from project file " + files_.project.string());
}

TEST_F(Precedence, ScalarsAreTheTextThatTheOptionWouldGet) {
  const std::pair<const char*, const char*> rows[] = {
      {"'p4,h200'", "p4,h200"}, {"7", "7"},       {"1_000", "1000"}, {"0x10", "16"},
      {"1.5", "1.5"},           {"true", "true"}, {"false", "false"}};
  for (const auto& [toml, text] : rows) {
    ASSERT_TRUE(write_file(files_.user, std::string("skus = ") + toml + "\n").ok());
    EXPECT_EQ(value_of("skus"), text + (" from user file " + files_.user.string())) << toml;
  }
}

TEST(EnvironmentName, IsTheSettingsInCapitals) {
  EXPECT_EQ(environment_name("coordinator"), "ENGINERY_COORDINATOR");
  EXPECT_EQ(environment_name("bulk-listen"), "ENGINERY_BULK_LISTEN");
}

// The folders of this process while a test has others.
class Places : public testing::Test {
 protected:
  Places() : working_(fs::current_path()) {
    for (const char* name : kNames) {
      const char* value = std::getenv(name);
      before_.emplace_back(name, value ? std::optional<std::string>(value) : std::nullopt);
      unsetenv(name);
    }
    fs::create_directories(folder_ / "a/b/c");
    fs::current_path(folder_ / "a/b/c");
  }
  ~Places() override {
    fs::current_path(working_);
    fs::remove_all(folder_);
    for (const auto& [name, value] : before_)
      value ? setenv(name.c_str(), value->c_str(), 1) : unsetenv(name.c_str());
  }

  static constexpr const char* kNames[] = {"ENGINERY_HOME", "XDG_CONFIG_HOME", "HOME"};
  const fs::path working_;
  const fs::path folder_ =
      fs::canonical(testing::TempDir()) / ("places." + std::to_string(getpid()));
  std::vector<std::pair<std::string, std::optional<std::string>>> before_;
};

TEST_F(Places, TheUsersFileIsInTheHomeElseXdgElseDotConfig) {
  EXPECT_EQ(ConfigurationFiles::of_this_process().user, "");
  setenv("HOME", "/home/u", 1);
  EXPECT_EQ(ConfigurationFiles::of_this_process().user, "/home/u/.config/enginery/config.toml");
  setenv("XDG_CONFIG_HOME", "/xdg", 1);
  EXPECT_EQ(ConfigurationFiles::of_this_process().user, "/xdg/enginery/config.toml");
  setenv("ENGINERY_HOME", "/e", 1);
  EXPECT_EQ(ConfigurationFiles::of_this_process().user, "/e/config.toml");
  EXPECT_EQ(ConfigurationFiles::of_this_process().system, "/etc/enginery/config.toml");
}

TEST_F(Places, TheProjectsFileIsTheNearestAbove) {
  EXPECT_EQ(ConfigurationFiles::of_this_process().project, "");
  ASSERT_TRUE(write_file(folder_ / "enginery.toml", "").ok());
  EXPECT_EQ(ConfigurationFiles::of_this_process().project, folder_ / "enginery.toml");
  ASSERT_TRUE(write_file(folder_ / "a/b/enginery.toml", "").ok());
  EXPECT_EQ(ConfigurationFiles::of_this_process().project, folder_ / "a/b/enginery.toml");
  ASSERT_TRUE(write_file(folder_ / "a/b/c/enginery.toml", "").ok());
  EXPECT_EQ(ConfigurationFiles::of_this_process().project, folder_ / "a/b/c/enginery.toml");
}

}  // namespace
}  // namespace enginery
