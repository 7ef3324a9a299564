#include "worker/steps/device_check.h"

#include <gtest/gtest.h>

#include "engine/device/measurer.h"

namespace enginery {
namespace {

TEST(CheckDevice, PassesOnEveryDeviceOfThisMachine) {
  for (const LocalSku& sku : local_skus()) {
    const auto device = open_device(sku.name, {});
    ASSERT_TRUE(device.ok()) << sku.name;
    const Status status = check_device(**device);
    EXPECT_TRUE(status.ok()) << sku.name << ": " << status.error().message;
  }
}

// A device whose copies lose a byte.
class ForgetfulDevice final : public Device {
 public:
  explicit ForgetfulDevice(std::unique_ptr<Device> device) : device_(std::move(device)) {}
  const DeviceInfo& info() const override { return device_->info(); }
  Result<DeviceMemory> allocate(size_t bytes) override { return device_->allocate(bytes); }
  Result<std::unique_ptr<Stream>> create_stream() override { return device_->create_stream(); }
  Status copy(Stream& stream, void* to, const void* from, size_t bytes, CopyKind kind) override {
    return device_->copy(stream, to, from, bytes - (kind == CopyKind::to_host ? 1 : 0), kind);
  }
  Status fill(Stream& stream, void* to, uint8_t byte, size_t bytes) override {
    return device_->fill(stream, to, byte, bytes);
  }
  Result<std::unique_ptr<CommandList>> record(Stream& stream, const Enqueue& enqueue) override {
    return device_->record(stream, enqueue);
  }
  Measurer* measurer() override { return device_->measurer(); }

 private:
  std::unique_ptr<Device> device_;
};

TEST(CheckDevice, FindsAByteThatCameBackChanged) {
  auto device = open_device("cpu-sse41", {});
  ASSERT_TRUE(device.ok());
  ForgetfulDevice forgetful(std::move(*device));
  const Status status = check_device(forgetful);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().message.find("1 of 67108864 bytes"), std::string::npos)
      << status.error().message;
}

}  // namespace
}  // namespace enginery
