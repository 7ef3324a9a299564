// How often a program's kernels run: what the caller asked for and no more.
#include <gtest/gtest.h>

#include "engine/runtime/execution.h"
#include "tests/engine/format/small_engine.h"

namespace enginery {
namespace {

// A source whose only tactic counts its launches.
class CountingSource final : public TacticSource {
 public:
  SourceTraits traits() const override { return {.name = "counting"}; }
  Result<std::vector<Tactic>> offer(const Problem&, const std::set<Precision>&) const override {
    return Error{ErrorCode::unsupported, "nothing is offered"};
  }
  Result<std::shared_ptr<const PreparedTactic>> prepare(const Problem&, const Tactic&,
                                                        Weights) const override {
    return std::shared_ptr<const PreparedTactic>(std::make_shared<Counting>(launches));
  }
  std::shared_ptr<int> launches = std::make_shared<int>(0);

 private:
  class Counting final : public PreparedTactic {
   public:
    explicit Counting(std::shared_ptr<int> launches) : launches_(std::move(launches)) {}
    Status enqueue(Stream&, const Arguments&) const override { return ++*launches_, Status(); }
    int64_t weight_bytes() const override { return 0; }
    int64_t workspace_bytes() const override { return 0; }

   private:
    const std::shared_ptr<int> launches_;
  };
};

TEST(Execution, ComputesOnceEachRunTheFirstOneToo) {
  DeviceOptions one_thread;
  one_thread.threads = 1;
  const auto device = open_device("cpu-sse41", one_thread).value();
  auto source = std::make_unique<CountingSource>();
  const std::shared_ptr<int> launches = source->launches;
  TacticSources sources;
  sources.push_back(std::move(source));
  const TensorType type{DataType::float32, {4}};
  Plan plan = test::one_step_plan(Activation{}, {type}, {type});
  plan.steps[0].tactic.source = "counting";
  const auto program = Program::make(plan, *device, sources).value();
  const auto execution = Execution::make(program).value();
  float x[4] = {}, y[4];
  const void* inputs[] = {x};
  void* outputs[] = {y};
  for (int runs = 1; runs <= 3; ++runs) {
    ASSERT_TRUE(execution->run(inputs, outputs).ok());
    EXPECT_EQ(*launches, runs);
  }
}

}  // namespace
}  // namespace enginery
