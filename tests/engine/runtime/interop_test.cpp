// Executions on a device with memory of its own: what is used in place and what is staged, when
// launches are recorded, and what is given to a stream of the caller's.
#include "engine/device/interop.h"

#include <gtest/gtest.h>

#include "engine/compile/compile.h"
#include "engine/graph/text.h"
#include "engine/runtime/execution.h"
#include "tuner/analytic_choice.h"

namespace enginery {
namespace {

// This machine's CPU behind the face of a GPU: its memory counts as the device's own.
class OwnMemoryDevice final : public Device, public Interop {
 public:
  explicit OwnMemoryDevice(Device& cpu) : cpu_(cpu), info_(cpu.info()) {
    info_.kind = DeviceKind::cuda;
  }
  const DeviceInfo& info() const override { return info_; }
  Result<DeviceMemory> allocate(size_t bytes) override {
    ++allocated;
    return cpu_.allocate(bytes);
  }
  Result<std::unique_ptr<Stream>> create_stream() override { return cpu_.create_stream(); }
  Status copy(Stream& stream, void* to, const void* from, size_t bytes, CopyKind kind) override {
    copies.push_back(kind);
    return cpu_.copy(stream, to, from, bytes, kind);
  }
  Status fill(Stream& stream, void* to, uint8_t byte, size_t bytes) override {
    return cpu_.fill(stream, to, byte, bytes);
  }
  Result<std::unique_ptr<CommandList>> record(Stream& stream, const Enqueue& enqueue) override {
    ++recorded;
    return cpu_.record(stream, enqueue);
  }
  Measurer* measurer() override { return cpu_.measurer(); }
  Result<BorrowedStream> borrow_stream(void* handle) override {
    borrowed.push_back(handle);
    TRY(auto stream, cpu_.create_stream());
    return BorrowedStream{std::move(stream), recording};
  }
  Status require_memory(const void*, size_t) override { return {}; }

  int allocated = 0, recorded = 0;
  std::vector<CopyKind> copies;
  std::vector<void*> borrowed;
  bool recording = false;  // what borrow_stream says of the caller's stream

 private:
  Device& cpu_;
  DeviceInfo info_;
};

constexpr size_t kValues = 8 * 4 * 4;
constexpr char kConvolutionAndTanh[] =
    "graph t { input %x : float32[1x8x4x4]\n %w = constant float32[8x8x1x1] random(1)\n "
    "%c = conv(%x, %w) strides=[1,1] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] groups=1\n "
    "%y = act(%c) kind=tanh\n output %y }";

class InteropTest : public testing::Test {
 protected:
  void SetUp() override {
    BuildOptions options;
    options.threads = 1;
    target_.emplace(open_target("cpu-sse41", options).value());
    const auto network =
        lower(parse_graph(kConvolutionAndTanh).value(), target_->sources, {Precision::fp32})
            .value();
    const auto selection = analytic_choice(network, target_->sources).value();
    device_.emplace(*target_->device);
    program_ =
        Program::make(make_plan(network, selection).value(), *device_, target_->sources).value();
    execution_ = Execution::make(program_).value();
    const void* inputs[] = {x_.data()};
    void* outputs[] = {wanted_.data()};
    auto on_cpu = Program::make(program_->plan(), *target_->device, target_->sources).value();
    ASSERT_TRUE(Execution::make(on_cpu).value()->run(inputs, outputs).ok());
    for (DeviceMemory* memory : {&device_x_, &device_y_, &other_y_})
      *memory = target_->device->allocate(kValues * sizeof(float)).value();
    std::copy(x_.begin(), x_.end(), static_cast<float*>(device_x_.data()));
  }

  static TensorMemory on_device(const DeviceMemory& memory) {
    return {memory.data(), MemoryKind::device};
  }
  Status run(TensorMemory x, TensorMemory y) {
    return execution_->run(std::vector{x}, std::vector{y});
  }
  Status enqueue(const DeviceMemory& y) {
    return execution_->enqueue(std::vector{on_device(device_x_)}, std::vector{on_device(y)},
                               &stream_);
  }
  // What is there, which is then forgotten.
  static std::vector<float> taken(const DeviceMemory& memory) {
    float* const values = static_cast<float*>(memory.data());
    const std::vector<float> out(values, values + kValues);
    std::fill(values, values + kValues, 0.0f);
    return out;
  }

  std::optional<Target> target_;
  std::optional<OwnMemoryDevice> device_;
  std::shared_ptr<const Program> program_;
  std::unique_ptr<Execution> execution_;
  std::vector<float> x_ = std::vector<float>(kValues, 0.25f), wanted_ = x_;
  DeviceMemory device_x_, device_y_, other_y_;
  int stream_ = 0;  // its address stands for a stream of the caller's
};

TEST_F(InteropTest, MemoryOfTheDeviceIsUsedInPlace) {
  const int allocated = device_->allocated;
  ASSERT_TRUE(run(on_device(device_x_), on_device(device_y_)).ok());
  EXPECT_EQ(taken(device_y_), wanted_);
  EXPECT_TRUE(device_->copies.empty());
  EXPECT_EQ(device_->allocated, allocated);
}

TEST_F(InteropTest, HostMemoryIsStagedInMemoryThatIsAllocatedOnce) {
  const int allocated = device_->allocated;
  std::vector<float> y(kValues);
  for (int round = 0; round < 2; ++round) {
    std::ranges::fill(y, 0.0f);
    ASSERT_TRUE(run({x_.data()}, {y.data()}).ok());
    EXPECT_EQ(y, wanted_);
  }
  EXPECT_EQ(device_->copies, (std::vector{CopyKind::to_device, CopyKind::to_host,
                                          CopyKind::to_device, CopyKind::to_host}));
  EXPECT_EQ(device_->allocated, allocated + 2);
  EXPECT_EQ(device_->recorded, 1);
}

TEST_F(InteropTest, BothKindsGoTogether) {
  std::vector<float> y(kValues);
  ASSERT_TRUE(run(on_device(device_x_), {y.data()}).ok());
  EXPECT_EQ(y, wanted_);
  EXPECT_EQ(device_->copies, std::vector{CopyKind::to_host});
}

// As cudaMemcpy: what a program gave to the default stream before is over.
TEST_F(InteropTest, ARunOnMemoryOfTheDeviceFollowsTheDefaultStream) {
  std::vector<float> y(kValues);
  ASSERT_TRUE(run({x_.data()}, {y.data()}).ok());
  EXPECT_TRUE(device_->borrowed.empty());
  ASSERT_TRUE(run({x_.data()}, on_device(device_y_)).ok());
  EXPECT_EQ(device_->borrowed, std::vector<void*>{nullptr});
}

TEST_F(InteropTest, EnqueuesOnTheCallersStreamWhatItRecorded) {
  for (int round = 0; round < 3; ++round) {
    ASSERT_TRUE(enqueue(device_y_).ok());
    EXPECT_EQ(taken(device_y_), wanted_);
  }
  EXPECT_EQ(device_->borrowed, (std::vector<void*>(3, &stream_)));
  EXPECT_EQ(device_->recorded, 1);
  EXPECT_TRUE(device_->copies.empty());
}

// A recording has the addresses in it; one for memory that is used once would cost more than it
// saves.
TEST_F(InteropTest, RecordsAgainForTheSecondRunInOtherMemory) {
  ASSERT_TRUE(enqueue(device_y_).ok());
  ASSERT_TRUE(enqueue(other_y_).ok());
  EXPECT_EQ(taken(other_y_), wanted_);
  EXPECT_EQ(device_->recorded, 1);
  for (int round = 0; round < 2; ++round) {
    ASSERT_TRUE(enqueue(other_y_).ok());
    EXPECT_EQ(taken(other_y_), wanted_);
  }
  EXPECT_EQ(device_->recorded, 2);
}

TEST_F(InteropTest, IntoARecordingGivesTheStepsAndAllocatesNothing) {
  device_->recording = true;
  const int allocated = device_->allocated;
  for (int round = 0; round < 2; ++round) {
    ASSERT_TRUE(enqueue(device_y_).ok());
    EXPECT_EQ(taken(device_y_), wanted_);
  }
  EXPECT_EQ(device_->recorded, 0);
  EXPECT_EQ(device_->allocated, allocated);
}

TEST_F(InteropTest, HostMemoryIsNotEnqueued) {
  const Status refused = execution_->enqueue(std::vector{TensorMemory{x_.data()}},
                                             std::vector{on_device(device_y_)}, &stream_);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
  EXPECT_NE(refused.error().message.find("input 'x' is in host memory"), std::string::npos)
      << refused.error().message;
  EXPECT_TRUE(device_->borrowed.empty());
}

TEST_F(InteropTest, IsTimedAfterItsMemoryChanged) {
  ASSERT_TRUE(run(on_device(device_x_), on_device(device_y_)).ok());
  ASSERT_TRUE(execution_->profile(1).ok());
  ASSERT_TRUE(enqueue(other_y_).ok());
  ASSERT_TRUE(run(on_device(device_x_), on_device(device_y_)).ok());
  const auto us = execution_->time_us();
  ASSERT_TRUE(us.ok()) << us.error().message;
  const auto layers = execution_->profile(1);
  ASSERT_TRUE(layers.ok()) << layers.error().message;
  EXPECT_EQ(layers->size(), program_->plan().steps.size());
}

}  // namespace
}  // namespace enginery
