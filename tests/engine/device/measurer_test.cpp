// Batches of short launches: as many as the instrument resolves, in whole turns of the ring.
#include "engine/device/measurer.h"

#include <gtest/gtest.h>

namespace enginery {
namespace {

// Time passes only by launches, `launch_us` each.
class FakeDevice final : public Device, public Measurer {
 public:
  struct List final : CommandList {
    Status launch(Stream&) override { return {}; }
    std::vector<int> launches;
  };
  struct NoStream final : Stream {
    Status synchronize() override { return {}; }
    Result<std::unique_ptr<Event>> mark() override { return std::make_unique<Event>(); }
    Status wait(const Event&) override { return {}; }
  };

  const DeviceInfo& info() const override { return info_; }
  Result<DeviceMemory> allocate(size_t) override { return DeviceMemory(); }
  Result<std::unique_ptr<Stream>> create_stream() override {
    return std::unique_ptr<Stream>(std::make_unique<NoStream>());
  }
  Status copy(Stream&, void*, const void*, size_t, CopyKind) override { return {}; }
  Status fill(Stream&, void*, uint8_t, size_t) override { return {}; }
  Result<std::unique_ptr<CommandList>> record(Stream& stream, const Enqueue& enqueue) override {
    enqueued.clear();
    CHECK_OK(enqueue(stream));
    ++recorded;
    auto list = std::make_unique<List>();
    list->launches = enqueued;
    return std::unique_ptr<CommandList>(std::move(list));
  }
  Measurer* measurer() override { return this; }

  Result<double> time_us(Stream&, CommandList& list) override {
    ++timed;
    const auto launches = static_cast<double>(static_cast<List&>(list).launches.size());
    const bool cold = timed == 1;
    return launches * launch_us * (cold ? 1000 : 1);
  }
  double min_resolvable_us() const override { return 200; }
  DeviceState state() override { return {}; }

  double launch_us = 1;
  int recorded = 0, timed = 0;
  std::vector<int> enqueued;

 private:
  DeviceInfo info_;
};

struct Batch {
  FakeDevice device;
  FakeDevice::NoStream stream;
  Result<LaunchBatch> record(int ring, int max_turns) {
    return record_batch(
        device, stream,
        [&](Stream&, int launch) {
          device.enqueued.push_back(launch);
          return Status();
        },
        ring, max_turns);
  }
};

TEST(LaunchBatch, TakesAsManyTurnsAsTheInstrumentResolves) {
  Batch batch;
  batch.device.launch_us = 3;
  const auto made = batch.record(4, 1000);  // a turn of 12 us: 17 of them pass 200 us
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(made->launches, 17 * 4);
  EXPECT_EQ(batch.device.enqueued.size(), 17u * 4);
  for (size_t i = 0; i < batch.device.enqueued.size(); ++i)
    ASSERT_EQ(batch.device.enqueued[i], static_cast<int>(i)) << "each launch has its number";
}

// The first run loads code and pages: its time says nothing.
TEST(LaunchBatch, DoesNotCountTheWarmUp) {
  Batch batch;
  batch.device.launch_us = 10;
  EXPECT_EQ(batch.record(1, 1000)->launches, 20);
  EXPECT_EQ(batch.device.timed, 2);
}

TEST(LaunchBatch, IsOneTurnWhereThatIsLongEnough) {
  Batch batch;
  batch.device.launch_us = 100;
  const auto made = batch.record(2, 1000);
  EXPECT_EQ(made->launches, 2);
  EXPECT_EQ(batch.device.recorded, 1) << "what was recorded to see how long it takes is kept";
  ASSERT_TRUE(made->list);
}

TEST(LaunchBatch, TakesNoMoreThanItsMostTurns) {
  Batch batch;
  batch.device.launch_us = 0;
  EXPECT_EQ(batch.record(3, 50)->launches, 150);
  EXPECT_EQ(batch.record(3, 1)->launches, 3);
}

TEST(LaunchBatch, PassesTheErrorOfALaunchOn) {
  FakeDevice device;
  FakeDevice::NoStream stream;
  const auto failing = [](Stream&, int launch) -> Status {
    if (launch < 5) return {};
    return Error{ErrorCode::device_lost, "launch " + std::to_string(launch)};
  };
  const auto batch = record_batch(device, stream, failing, 8, 10);
  ASSERT_FALSE(batch.ok());
  EXPECT_EQ(batch.error().code, ErrorCode::device_lost);
  EXPECT_EQ(batch.error().message, "launch 5");
}

}  // namespace
}  // namespace enginery
