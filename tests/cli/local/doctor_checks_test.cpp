#include "cli/local/doctor_checks.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "engine/base/file.h"
#include "tests/cli/temporary_home.h"
#include "worker/runner/sandbox.h"

namespace enginery {
namespace {

std::vector<Finding> look(std::string_view name) {
  for (const DoctorCheck& check : doctor_checks()) {
    if (check.name == name) return check.look();
  }
  ADD_FAILURE() << "no check is called " << name;
  return {};
}

TEST(DoctorChecks, EachHasItsNameAndEveryWarningSaysSomething) {
  const TemporaryHome home;
  std::set<std::string_view> names;
  for (const DoctorCheck& check : doctor_checks()) {
    EXPECT_TRUE(names.insert(check.name).second) << check.name << " twice";
    if (check.name == "coordinator") continue;  // waits four seconds for one
    const auto findings = check.look();
    EXPECT_FALSE(findings.empty()) << check.name;
    for (const Finding& finding : findings) {
      EXPECT_FALSE(finding.subject.empty());
      EXPECT_FALSE(finding.detail.empty()) << finding.subject;
      EXPECT_TRUE(finding.health == Health::warn || finding.fix.empty()) << finding.subject;
    }
  }
}

// It tries what a worker does, and says no more than that.
TEST(DoctorChecks, TheSandboxIsTheOneThatWorkersUse) {
  const auto findings = look("sandbox");
  ASSERT_EQ(findings.size(), 1u);
  const SandboxState state = probe_sandbox();
  EXPECT_EQ(findings[0].health == Health::ok, state.in_force) << findings[0].detail;
  EXPECT_NE(findings[0].detail.find(state.text), std::string::npos) << findings[0].detail;
  EXPECT_EQ(findings[0].fix, state.fix);
}

TEST(DoctorChecks, AFolderIsMadeAndLeftEmpty) {
  const TemporaryHome home;
  const Finding finding = check_folder("data folder", home.path() / "a/b");
  EXPECT_EQ(finding.subject, "data folder");
  EXPECT_EQ(finding.health, Health::ok) << finding.detail;
  EXPECT_TRUE(std::filesystem::is_empty(home.path() / "a/b"));
}

TEST(DoctorChecks, AFolderThatCannotBeMadeComesWithTheCommandThatHelps) {
  const TemporaryHome home;
  ASSERT_TRUE(write_file(home.file("file"), "in the way").ok());
  const Finding finding = check_folder("data folder", home.path() / "file/data");
  EXPECT_EQ(finding.health, Health::warn);
  EXPECT_NE(finding.fix.find("ENGINERY_HOME"), std::string::npos);
}

TEST(DoctorChecks, OpenMpsOwnSettingIsAWarning) {
  const char* before = std::getenv("OMP_NUM_THREADS");
  const std::string kept = before ? before : "";
  setenv("OMP_NUM_THREADS", "3", 1);
  EXPECT_EQ(look("openmp").at(0).health, Health::warn);
  EXPECT_NE(look("openmp").at(0).detail.find("OMP_NUM_THREADS=3"), std::string::npos);
  unsetenv("OMP_NUM_THREADS");
  EXPECT_EQ(look("openmp").at(0).health, Health::ok);
  if (before) setenv("OMP_NUM_THREADS", kept.c_str(), 1);
}

TEST(DoctorChecks, ASigningKeyIsNoneAtFirst) {
  const TemporaryHome home;
  EXPECT_EQ(look("signing key").at(0).health, Health::ok);
  EXPECT_NE(look("signing key").at(0).detail.find("none yet"), std::string::npos);
}

}  // namespace
}  // namespace enginery
