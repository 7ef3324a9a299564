// A build whose steps run in a sandbox: the same engine, and a runner that was taken over by its
// model finds neither the key nor anything else of the user's.
#include "tests/worker/local/local_build.h"

namespace enginery {
namespace {

struct SandboxedBuild : test::LocalBuild {
  void SetUp() override {
    LocalBuild::SetUp();
    const SandboxState state = probe_sandbox();
    if (!state.in_force) GTEST_SKIP() << "no sandbox here: " << state.text;
    request_.sandbox = SandboxMode::require;
  }
};

TEST_F(SandboxedBuild, MakesTheEngineThatAPlainOneMakes) {
  const LocalBuildReport plain = build();
  request_.rebuild = true;
  request_.runner = {ENGINERY_TEST_RUNNER};
  const LocalBuildReport sandboxed = build();
  EXPECT_EQ(sandboxed.content_digest, plain.content_digest);
  write_model(2);
  request_.timing_cache = "none";
  EXPECT_GT(build().timings_measured, 0u) << "its timings arrive";
}

TEST_F(SandboxedBuild, KeepsTheSigningKeyAndTheCatalogOutOfReach) {
  ASSERT_FALSE(build().content_digest == Digest());  // makes the key
  const std::string key = (request_.keys / "signing.key").string();
  ASSERT_TRUE(std::filesystem::exists(key));
  write_model(3);
  request_.runner = {"/bin/sh", "-c",
                     "for f in " + key + " " + (folder_.path / "catalog").string() + " " +
                         request_.model.string() +
                         "; do [ -e $f ] && echo \"found $f\"; done; echo looked"};
  std::string log;
  StepHooks hooks;
  hooks.log = [&](const std::string& line) { log += line + "\n"; };
  EXPECT_FALSE(build_local(*catalog_, request_, hooks).ok()) << "it leaves nothing";
  EXPECT_NE(log.find("looked"), std::string::npos) << log;
  EXPECT_EQ(log.find("found"), std::string::npos) << log;
}

// A model that took its runner over plants a kernel: no runner of another model's build finds it.
TEST_F(SandboxedBuild, KeepsItsCompiledKernelsFromOtherBuilds) {
  setenv("ENGINERY_HOME", (folder_.path / "home").c_str(), 1);
  const std::filesystem::path shared = data_folder() / "kernels";
  ASSERT_TRUE(make_folder(shared).ok());
  request_.timing_cache = "none";
  request_.runner = {"/bin/sh", "-c",
                     "[ -e $ENGINERY_HOME/planted ] && echo found; echo > $ENGINERY_HOME/planted; "
                     "echo > " +
                         (shared / "planted").string() + "; echo end"};
  const auto log_of_build = [&] {
    std::string log;
    StepHooks hooks;
    hooks.log = [&](const std::string& line) { log += line + "\n"; };
    EXPECT_FALSE(build_local(*catalog_, request_, hooks).ok()) << "it leaves nothing";
    return log;
  };
  EXPECT_NE(log_of_build().find("end"), std::string::npos);
  const std::string again = log_of_build();
  EXPECT_LT(again.find("found"), again.find("end")) << "its own stay for the next time: " << again;
  write_model(4);
  const std::string other = log_of_build();
  unsetenv("ENGINERY_HOME");
  // A second runner of this build finds what its first one left.
  EXPECT_GT(other.find("found"), other.find("end")) << other;
  EXPECT_TRUE(std::filesystem::is_empty(shared));
}

// The runner's own /tmp has no lock that anybody else sees.
TEST_F(SandboxedBuild, MeasuresAloneOnItsDevice) {
  setenv("ENGINERY_LOCKS", folder_.path.c_str(), 1);
  request_.runner = {"/bin/sh", "-c", "sleep 1"};
  request_.timing_cache = "none";
  bool held = false;
  StepHooks hooks;
  hooks.cancelled = [&] {
    for (const auto& file : std::filesystem::directory_iterator(folder_.path)) {
      if (file.path().extension() != ".lock") continue;
      const std::string probe = "flock -n " + file.path().string() + " true";
      held = held || std::system(probe.c_str()) != 0;
    }
    return false;
  };
  EXPECT_FALSE(build_local(*catalog_, request_, hooks).ok());
  unsetenv("ENGINERY_LOCKS");
  EXPECT_TRUE(held);
}

}  // namespace
}  // namespace enginery
