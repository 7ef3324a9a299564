#include "tuner/gate/problem_buffers.h"

#include "engine/device/device.h"
#include "tests/tuner/gate/gate_support.h"

namespace enginery {
namespace {

class Nothing : public PreparedTactic {
 public:
  Status enqueue(Stream&, const Arguments&) const override { return {}; }
  int64_t weight_bytes() const override { return 0; }
  int64_t workspace_bytes() const override { return 0; }
};

Tactic writes(DataType type, int64_t pitch) {
  Tactic tactic;
  tactic.inputs = {{type, {LayoutKind::channels_last, 0}}};
  tactic.outputs = {{type, {LayoutKind::channels_last, 0}}};
  if (pitch > 0) tactic.outputs[0] = with_pitch(tactic.outputs[0], pitch);
  return tactic;
}

class Buffers : public testing::Test {
 protected:
  const Problem problem_ = test::problem_of("act kind=relu | float32[1x16x5x5]");
  const ProbeData data_{problem_, {}};
  const std::unique_ptr<Device> device_ = open_device("cpu-sse41", {}).value();
  const std::unique_ptr<ProblemBuffers> buffers_ =
      ProblemBuffers::make(problem_, data_, *device_, 1).value();
  const Nothing nothing_;

  void* output_of(const Tactic& tactic) {
    return buffers_->place(tactic, nothing_, 0).value().outputs[0];
  }
};

TEST_F(Buffers, AreSharedByTacticsThatFitTheSameRoom) {
  EXPECT_EQ(output_of(writes(DataType::float16, 0)), output_of(writes(DataType::float32, 0)));
}

// float32 takes twice as much with the same pitch; what lies behind shows under a sanitizer, too.
TEST_F(Buffers, OfOnePitchHaveTheRoomOfTheirType) {
  const Tactic half = writes(DataType::float16, 1024), whole = writes(DataType::float32, 1024);
  ASSERT_NE(output_of(half), output_of(whole));
  for (const Tactic* tactic : {&half, &whole}) {
    ASSERT_TRUE(buffers_->launch(*tactic, nothing_, 0, {0x7f}).ok());
    EXPECT_EQ(buffers_->written_around(*tactic, nothing_, 0).value(), "");
    const auto stored = buffers_->output(*tactic, 0, 0).value();
    const int64_t bytes = physical_bytes(problem_.outputs[0].type.dims, tactic->outputs[0]);
    EXPECT_EQ(stored, std::vector<uint8_t>(static_cast<size_t>(bytes), 0x7f));
  }
}

}  // namespace
}  // namespace enginery
