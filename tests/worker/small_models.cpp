#include "tests/worker/small_models.h"

#include <cstdlib>
#include <random>

#include "engine/device/sku_table.h"
#include "tests/engine/import/model_builder.h"

namespace enginery::test {

namespace {

std::minstd_rand random_of(int seed) {
  return std::minstd_rand(static_cast<unsigned>(seed + 1));
}

std::uniform_real_distribution<float> weight_values() {
  return std::uniform_real_distribution<float>(-0.3f, 0.3f);
}

}  // namespace

float first_weight(int seed) {
  std::minstd_rand random = random_of(seed);
  return weight_values()(random);
}

Bytes convolutions(int layers, int seed) {
  ModelBuilder model;
  std::minstd_rand random = random_of(seed);
  std::uniform_real_distribution<float> values = weight_values();
  int64_t width = 4;
  model.input("x", {Size(1), Size(width), Size(12), Size(12)});
  std::string value = "x";
  for (int i = 0; i < layers; ++i) {
    const int64_t next = 8 + 4 * i;
    const std::string n = std::to_string(i);
    std::vector<float> weights(static_cast<size_t>(next * width * 9));
    for (float& w : weights) w = values(random);
    model.weights("w" + n, {next, width, 3, 3}, weights);
    model.node("Conv", {value, "w" + n}, {"c" + n},
               {Attr("pads", std::vector<int64_t>{1, 1, 1, 1})});
    value = i + 1 == layers ? "y" : "r" + n;
    model.node("Relu", {"c" + n}, {value});
    width = next;
  }
  model.output("y");
  return model.bytes();
}

std::string best_cpu_sku() {
  for (const LocalSku& sku : local_skus()) {
    if (sku.kind == DeviceKind::cpu) return sku.name;
  }
  return "";
}

// These tests must not wait for a farm that measures on this host, nor disturb it.
static const TemporaryFolder kLocks;
[[maybe_unused]] static const int kIsolated = setenv("ENGINERY_LOCKS", kLocks.path.c_str(), 1);

}  // namespace enginery::test
