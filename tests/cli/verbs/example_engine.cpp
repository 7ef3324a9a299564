#include "tests/cli/verbs/example_engine.h"

#include <cstdlib>
#include <nlohmann/json.hpp>

namespace enginery {
namespace {

// The home that is built; it lasts until the process ends.
struct BuiltHome {
  TemporaryHome home;
  Json report;

  BuiltHome() {
    // These tests must not wait for others that measure on this host, nor disturb them.
    setenv("ENGINERY_LOCKS", home.path().c_str(), 1);
    auto words = build_words(home.file("shapes.engine"));
    words.push_back("--json");
    const Printed built = ask(words);
    EXPECT_EQ(built.code, ExitCode::ok) << built.err;
    report = built.json();
  }
};

const BuiltHome& built_home() {
  static const BuiltHome home;
  return home;
}

}  // namespace

std::vector<std::string> build_words(const std::string& output) {
  return {"build", kExampleModel, "-o", output, "--level", "0", "--threads", "1"};
}

ExampleHome::ExampleHome() {
  std::filesystem::copy(
      built_.path(), home_.path(),
      std::filesystem::copy_options::recursive | std::filesystem::copy_options::overwrite_existing);
}

const TemporaryHome& ExampleHome::built() {
  return built_home().home;
}

const Json& ExampleHome::report() {
  return built_home().report;
}

std::string ExampleHome::sku() {
  return report()["sku"];
}

Printed ExampleEngineTest::on_engine(const std::string& verb, std::vector<std::string> options) {
  options.insert(options.begin(), {verb, engine()});
  options.insert(options.end(), {"--threads", "1"});
  return ask(options);
}

}  // namespace enginery
