// The environment of a runner: what is kept of the agent's own, and what its SKU adds.
#include "worker/runner/runner_environment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

namespace enginery {
namespace {

bool has(const std::vector<std::string>& all, const std::string& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

bool names(const std::vector<std::string>& all, const std::string& name) {
  return std::any_of(all.begin(), all.end(),
                     [&](const std::string& one) { return one.starts_with(name + "="); });
}

// A variable of the process, as it was before once the test is over.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    const char* before = std::getenv(name);
    had_ = before != nullptr;
    before_ = before ? before : "";
    value ? setenv(name, value, 1) : unsetenv(name);
  }
  ~Variable() { had_ ? setenv(name_, before_.c_str(), 1) : unsetenv(name_); }
  Variable(const Variable&) = delete;

 private:
  const char* name_;
  bool had_ = false;
  std::string before_;
};

TEST(RunnerEnvironment, KeepsSearchPathsAndNothingElse) {
  const Variable secret("SECRET_TOKEN", "x"), home("HOME", "/home/worker"),
      config("XDG_CONFIG_HOME", "/home/worker/.config"), key("ENGINERY_KEY", "/home/worker/key"),
      coordinator("ENGINERY_COORDINATOR", "ipc:///run/farm.sock"),
      libraries("LD_LIBRARY_PATH", "/opt/lib"), own("ENGINERY_LOCKS", "/locks"),
      preload("LD_PRELOAD", ""), isa("DNNL_MAX_CPU_ISA", "SSE41"), gomp("GOMP_CPU_AFFINITY", "0");
  const auto environment = runner_environment("cpu-avx2", 0, 0);
  for (const char* kept : {"LD_LIBRARY_PATH=/opt/lib", "ENGINERY_LOCKS=/locks"})
    EXPECT_TRUE(has(environment, kept)) << kept;
  for (const char* dropped : {"SECRET_TOKEN", "LD_PRELOAD", "GOMP_CPU_AFFINITY", "HOME",
                              "XDG_CONFIG_HOME", "ENGINERY_KEY", "ENGINERY_COORDINATOR"})
    EXPECT_FALSE(names(environment, dropped)) << dropped;
}

// The kernels of a local build's runner are those of the build; a worker's runners have their own.
TEST(RunnerEnvironment, SaysWhereCompiledKernelsAreKept) {
  const Variable none("ENGINERY_HOME", nullptr), no_xdg("XDG_DATA_HOME", nullptr),
      home("HOME", "/home/user");
  EXPECT_TRUE(has(runner_environment("p4", 0, 0), "XDG_DATA_HOME=/home/user/.local/share"));
  const Variable xdg("XDG_DATA_HOME", "/srv/data");
  EXPECT_TRUE(has(runner_environment("p4", 0, 0), "XDG_DATA_HOME=/srv/data"));
  const Variable own("ENGINERY_HOME", "/srv/farm");
  EXPECT_TRUE(has(runner_environment("p4", 0, 0), "ENGINERY_HOME=/srv/farm"));
  const auto of_worker = runner_environment("p4", 0, 0, "/srv/worker/home");
  EXPECT_TRUE(has(of_worker, "ENGINERY_HOME=/srv/worker/home"));
  EXPECT_FALSE(names(of_worker, "XDG_DATA_HOME"));
}

TEST(RunnerEnvironment, SetsTheCapOfItsInstructionSet) {
  const Variable inherited("DNNL_MAX_CPU_ISA", "DEFAULT");
  const std::pair<const char*, const char*> rows[] = {{"cpu-sse41", "SSE41"},
                                                      {"cpu-avx", "AVX"},
                                                      {"cpu-avx2", "AVX2"},
                                                      {"cpu-avx512", "AVX512_CORE"}};
  for (const auto& [sku, cap] : rows) {
    const auto environment = runner_environment(sku, 1, 0);
    EXPECT_TRUE(has(environment, std::string("DNNL_MAX_CPU_ISA=") + cap)) << sku;
    EXPECT_FALSE(has(environment, "DNNL_MAX_CPU_ISA=DEFAULT")) << sku << ": the agent's own";
  }
}

TEST(RunnerEnvironment, SetsOpenMpsTeamOnlyWhereAStepSaysHowLarge) {
  const Variable inherited("OMP_NUM_THREADS", "64");
  EXPECT_TRUE(has(runner_environment("cpu-avx2", 2, 0), "OMP_NUM_THREADS=2"));
  EXPECT_FALSE(names(runner_environment("cpu-avx2", 0, 0), "OMP_NUM_THREADS"));
  EXPECT_FALSE(names(runner_environment("p4", 2, 0), "OMP_NUM_THREADS"));
}

TEST(RunnerEnvironment, ShowsAGpusRunnerOneDeviceOfThoseThatTheAgentSees) {
  const struct {
    const char* visible;
    int index;
    const char* expected;
  } rows[] = {{nullptr, 1, "1"},           {"4,6", 0, "4"}, {"4,6", 1, "6"},
              {"GPU-abc,7", 0, "GPU-abc"}, {"4,6", 2, ""},  {"", 0, ""}};
  for (const auto& row : rows) {
    const Variable visible("CUDA_VISIBLE_DEVICES", row.visible);
    const auto environment = runner_environment("h200", 0, row.index);
    EXPECT_TRUE(has(environment, std::string("CUDA_VISIBLE_DEVICES=") + row.expected))
        << (row.visible ? row.visible : "unset") << " " << row.index;
    EXPECT_EQ(std::count_if(
                  environment.begin(), environment.end(),
                  [](const std::string& one) { return one.starts_with("CUDA_VISIBLE_DEVICES="); }),
              1)
        << "the agent's own list is replaced, not followed by another";
  }
}

}  // namespace
}  // namespace enginery
