// What an execution runs before the run that it times.
#include "engine/runtime/execution.h"

#include "engine/runtime/sample_inputs.h"
#include "tests/tuner/fake_tactics.h"
#include "tuner/analytic_choice.h"

namespace enginery {
namespace {

// Launches of a plan of three steps of that many microseconds and bytes of weights while it is
// timed three times, on a device with a cache of 1000 bytes.
int launches(double step_us, int64_t weight_bytes) {
  test::Tuning made({{"only", step_us, test::Behaviour::right, 0, 0, weight_bytes}});
  made.device.device_info.cache_bytes = 1000;
  const Plan plan =
      make_plan(made.network, analytic_choice(made.network, made.sources).value()).value();
  const auto execution =
      Execution::make(Program::make(plan, made.device, made.sources).value()).value();
  std::vector<Tensor> host = sample_inputs(plan);
  host.emplace_back(DataType::float32, Dims{1, 4, 8, 8});
  const void* inputs[] = {host[0].raw()};
  void* outputs[] = {host[1].mutable_bytes()};
  EXPECT_TRUE(execution->run(inputs, outputs).ok());
  const int before = made.device.launches;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(execution->time_us().value(), 3 * step_us);
  return (made.device.launches - before) / 3;
}

TEST(ExecutionTime, IsOfARunBehindAnotherUnlessThatWouldWarmNothing) {
  EXPECT_EQ(launches(10, 100), 3 * 2);
  EXPECT_EQ(launches(10'000, 100), 3 * 2) << "what fits into the cache is found there";
  EXPECT_EQ(launches(10, 1000), 3 * 2) << "a short run is timed in a device that is awake";
  EXPECT_EQ(launches(10'000, 1000), 3 + 1) << "before the first one its length is not known";
}

}  // namespace
}  // namespace enginery
