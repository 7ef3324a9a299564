#include "cli/options/environment.h"

#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "cli/options/configuration.h"
#include "engine/base/did_you_mean.h"

namespace enginery {
namespace {

constexpr std::string_view kPrefix = "ENGINERY_";

// Read by engine/base/file, engine/device/cuda, engine/tactics/cuda, worker/runner; by
// python/enginery.
constexpr std::string_view kBesideSettings[] = {
    "ENGINERY_HOME", "ENGINERY_CUDA_LIBRARIES", "ENGINERY_EARLY_LAUNCH", "ENGINERY_LOCKS",
    "ENGINERY_BIN",  "ENGINERY_LIBRARY",        "ENGINERY_BUILD_LIBRARY"};

// Of this project's tests and benchmarks, which run the command in their own environment.
constexpr std::string_view kOfTests[] = {
    "ENGINERY_TEST_",         "ENGINERY_E2E_",        "ENGINERY_GPU_",       "ENGINERY_LOAD_",
    "ENGINERY_SOAK_",         "ENGINERY_SIM_",        "ENGINERY_FUZZ_",      "ENGINERY_PYTHON",
    "ENGINERY_SHARED",        "ENGINERY_ONNX_",       "ENGINERY_SLOW_TESTS", "ENGINERY_BENCHMARKS",
    "ENGINERY_UPDATE_GOLDEN", "ENGINERY_WRITE_GOLDEN"};

bool is_of_tests(std::string_view name) {
  return std::ranges::any_of(kOfTests,
                             [&](std::string_view begin) { return name.starts_with(begin); });
}

// "; did you mean ...?" by what stands behind the prefix, which all have in common.
std::string nearest(const std::string& name, const std::vector<std::string>& known) {
  std::vector<std::string> endings;
  for (const std::string& one : known) endings.push_back(one.substr(kPrefix.size()));
  std::string out;
  for (const std::string& ending : nearest_names(name.substr(kPrefix.size()), endings))
    out += (out.empty() ? "; did you mean " : " or ") + std::string(kPrefix) + ending;
  return out.empty() ? out : out + "?";
}

}  // namespace

std::vector<std::string> known_variables() {
  std::vector<std::string> out(std::begin(kBesideSettings), std::end(kBesideSettings));
  for (const Setting& setting : settings()) out.push_back(environment_name(setting.name));
  return out;
}

std::vector<std::string> unknown_variables(const std::vector<std::string>& variables) {
  const std::vector<std::string> known = known_variables();
  std::vector<std::string> names, out;
  for (const std::string& variable : variables) {
    const std::string name = variable.substr(0, variable.find('='));
    const bool is_ours = name.starts_with(kPrefix) && !is_of_tests(name);
    if (is_ours && std::ranges::find(known, name) == known.end()) names.push_back(name);
  }
  std::ranges::sort(names);
  for (const std::string& name : names) {
    const std::string near = nearest(name, known);
    out.push_back("the environment variable " + name +
                  " changes nothing: there is no such setting" +
                  (near.empty() ? " (enginery config show lists them)" : near));
  }
  return out;
}

std::vector<std::string> environment_of_this_process() {
  std::vector<std::string> out;
  for (char** variable = environ; *variable != nullptr; ++variable) out.emplace_back(*variable);
  return out;
}

}  // namespace enginery
