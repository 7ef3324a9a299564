// The example network as an engine, for tests of the verbs that work on one: untuned (level 0), for
// one thread, signed by the key of the home in which it lies.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "engine/base/file.h"
#include "tests/cli/temporary_home.h"
#include "tests/cli/verbs/ask.h"

namespace enginery {

inline const std::string kExampleFolder =
    std::string(ENGINERY_SOURCE_DIR) + "/deploy/examples/shapes";
inline const std::string kExampleModel = kExampleFolder + "/shapes.onnx";
inline const std::string kExamplePictures = kExampleFolder + "/pictures";
inline const std::string kExamplePreprocess = kExampleFolder + "/preprocess.toml";

// The words of the build that every home begins with; more may follow.
std::vector<std::string> build_words(const std::string& output);

// A home with the catalog, the key and the engine of that build. It is built once for all tests of
// a process and copied from then on.
class ExampleHome {
 public:
  ExampleHome();
  std::string file(const std::string& name) const { return home_.file(name); }
  std::string engine() const { return file("shapes.engine"); }
  // What `build --json` said of it, and the SKU that it names.
  static const Json& report();
  static std::string sku();

 private:
  static const TemporaryHome& built();

  const TemporaryHome& built_ = built();  // first: ENGINERY_HOME is then that of `home_`
  TemporaryHome home_;
};

// A test of an engine; the home lasts for the whole suite.
class ExampleEngineTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { home_ = std::make_unique<ExampleHome>(); }
  static void TearDownTestSuite() { home_.reset(); }
  static std::string file(const std::string& name) { return home_->file(name); }
  static std::string engine() { return home_->engine(); }

  // The verb on the engine, with `--threads 1` behind the options: what it was tuned for.
  static Printed on_engine(const std::string& verb, std::vector<std::string> options);

 private:
  static inline std::unique_ptr<ExampleHome> home_;
};

}  // namespace enginery
