// Thousands of small damages to a valid model: each import ends, with a verified graph or an error.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <random>

#include "engine/import/importer.h"
#include "tests/engine/import/seed_models.h"

namespace enginery::test {
namespace {

uint32_t seed() {
  const char* given = std::getenv("ENGINERY_TEST_SEED");
  return given ? static_cast<uint32_t>(std::strtoul(given, nullptr, 10)) : 1;
}

Bytes damaged(Bytes bytes, std::mt19937& random) {
  for (int i = static_cast<int>(random() % 4); i >= 0 && !bytes.empty(); --i) {
    size_t at = random() % bytes.size();
    switch (random() % 5) {
      case 0:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << random() % 8));
        break;
      case 1:
        bytes[at] = static_cast<char>(random());
        break;
      case 2:
        bytes.resize(at);
        break;
      case 3:
        bytes.erase(at, random() % 8 + 1);
        break;
      default:
        bytes.insert(at, bytes.substr(random() % bytes.size(), random() % 16));
        break;
    }
  }
  return bytes;
}

TEST(DamagedOnnx, TheSeedsThemselvesImport) {
  for (const Bytes& model : seed_models()) {
    auto imported = import_model(ModelSource{"seed.onnx", model, std::nullopt});
    EXPECT_TRUE(imported.ok()) << imported.error().message;
  }
}

TEST(DamagedOnnx, EndsInAGraphOrAnError) {
  std::mt19937 random(seed());
  std::cout << "seed " << seed() << " (ENGINERY_TEST_SEED)\n";
  int imported = 0, refused = 0;
  for (const Bytes& model : seed_models()) {
    for (int round = 0; round < 3000; ++round) {
      auto result = import_model(ModelSource{"damaged.onnx", damaged(model, random), std::nullopt});
      result.ok() ? ++imported : ++refused;
      if (!result.ok()) {
        EXPECT_NE(result.error().code, ErrorCode::internal) << result.error().message;
      }
    }
  }
  std::cout << imported << " imported, " << refused << " refused\n";
  EXPECT_GT(imported, 0);
  EXPECT_GT(refused, 0);
}

}  // namespace
}  // namespace enginery::test
