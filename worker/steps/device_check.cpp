#include "worker/steps/device_check.h"

#include <algorithm>

#include "engine/base/digest.h"
#include "engine/device/measurer.h"

namespace enginery {
namespace {

constexpr size_t kTestBytes = size_t{64} << 20;
// A copy that takes this much longer than the device's memory needs at its best is no noise.
constexpr double kMaxSlowdown = 100;

Status check_pattern(Device& device, Stream& stream, const DeviceMemory& from,
                     const DeviceMemory& to, uint8_t pattern) {
  Bytes host(kTestBytes, static_cast<char>(~pattern));
  CHECK_OK(device.fill(stream, from.data(), pattern, kTestBytes));
  CHECK_OK(device.copy(stream, to.data(), from.data(), kTestBytes, CopyKind::on_device));
  CHECK_OK(device.copy(stream, host.data(), to.data(), kTestBytes, CopyKind::to_host));
  CHECK_OK(stream.synchronize());
  const auto wrong = std::count_if(
      host.begin(), host.end(), [&](char byte) { return static_cast<uint8_t>(byte) != pattern; });
  if (wrong == 0) return {};
  return Error{ErrorCode::internal, std::to_string(wrong) + " of " + std::to_string(kTestBytes) +
                                        " bytes of the device's memory came back changed"};
}

Status check_speed(Device& device, Stream& stream, const DeviceMemory& from,
                   const DeviceMemory& to) {
  const double best = device.info().bytes_per_second;
  if (device.measurer() == nullptr || best <= 0) return {};
  TRY(const auto list, device.record(stream, [&](Stream& recorded) {
    return device.copy(recorded, to.data(), from.data(), kTestBytes, CopyKind::on_device);
  }));
  double least_us = 0;
  for (int i = 0; i < 3; ++i) {
    TRY(const double us, device.measurer()->time_us(stream, *list));
    least_us = i == 0 ? us : std::min(least_us, us);
  }
  const double slowdown = least_us * 1e-6 * best / (2.0 * kTestBytes);
  if (slowdown <= kMaxSlowdown) return {};
  return Error{ErrorCode::internal, "copying on the device takes " +
                                        std::to_string(static_cast<int>(slowdown)) +
                                        " times as long as its memory needs at its best"};
}

}  // namespace

Status check_device(Device& device) {
  TRY(const auto stream, device.create_stream());
  TRY(const DeviceMemory from, device.allocate(kTestBytes));
  TRY(const DeviceMemory to, device.allocate(kTestBytes));
  for (const uint8_t pattern : {0x5a, 0xa5})
    CHECK_OK(check_pattern(device, *stream, from, to, pattern));
  return check_speed(device, *stream, from, to);
}

}  // namespace enginery
