// What a device does at most, measured once and kept like a timing.
#include "tuner/ceilings.h"

#include <gtest/gtest.h>

#include "tests/tuner/planted_tactics.h"
#include "tuner/timing/read_only_store.h"

namespace enginery {
namespace {

using test::Behaviour;
using test::TestDevice;
using test::TestSource;

struct Ceiled {
  TestDevice device;
  TacticSources sources;
  MemoryTimingStore store;
  explicit Ceiled(std::vector<Behaviour> behaviours) {
    device.device_info.kind = DeviceKind::cuda;
    sources.push_back(std::make_unique<TestSource>(device, std::move(behaviours)));
  }
  std::map<std::string, double> measure(TimingStore& from) {
    const auto ceilings = measured_ceilings(device, sources, from, {});
    EXPECT_TRUE(ceilings.ok()) << ceilings.error().message;
    return ceilings.ok() ? *ceilings : std::map<std::string, double>();
  }
};

// The tactics apply activations, and copy otherwise, which is wrong for a product.
constexpr double kStreamedBytes = 2.0 * 4 * 1024 * 1024;

TEST(Ceilings, AreThoseOfTheFastestThatIsRight) {
  Ceiled ceiled({{"slow", 50}, {"fast", 20}, {"wrong", 1, Behaviour::wrong}});
  const auto ceilings = ceiled.measure(ceiled.store);
  ASSERT_TRUE(ceilings.contains("bytes_per_second"));
  EXPECT_NEAR(ceilings.at("bytes_per_second") * 20e-6 / kStreamedBytes, 1, 1e-6);
  EXPECT_FALSE(ceilings.contains("fp32_flops")) << "no tactic multiplies";
}

TEST(Ceilings, AreNotMeasuredOnACpu) {
  Ceiled ceiled({{"fast", 20}});
  ceiled.device.device_info.kind = DeviceKind::cpu;
  EXPECT_TRUE(ceiled.measure(ceiled.store).empty());
  EXPECT_EQ(ceiled.device.timed, 0);
}

TEST(Ceilings, AreMeasuredOnce) {
  Ceiled ceiled({{"fast", 20}});
  const auto first = ceiled.measure(ceiled.store);
  const int timed = ceiled.device.timed;
  EXPECT_EQ(ceiled.measure(ceiled.store), first);
  EXPECT_EQ(ceiled.device.timed, timed);
  ReadOnlyTimingStore read_only(ceiled.store);
  EXPECT_EQ(ceiled.measure(read_only), first);
  MemoryTimingStore empty;
  ReadOnlyTimingStore nothing(empty);
  EXPECT_TRUE(ceiled.measure(nothing).empty()) << "nothing may be measured";
  EXPECT_EQ(ceiled.device.timed, timed);
}

}  // namespace
}  // namespace enginery
