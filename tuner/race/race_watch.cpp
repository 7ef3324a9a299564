#include "tuner/race/race_watch.h"

#include <array>
#include <chrono>

namespace enginery {
namespace {

constexpr std::chrono::milliseconds kEvery{20}, kLongestRest{250};

// Those that come and go. A cap on power or clocks is the card's own state: part of its key.
struct Reason {
  uint64_t bit;
  const char* text;
};
// Source: NVIDIA, NVML API reference, nvmlClocksEventReasons.
constexpr std::array<Reason, 4> kReasons{{{0x08, "hardware slowdown"},
                                          {0x20, "thermal slowdown by the driver"},
                                          {0x40, "thermal slowdown by the hardware"},
                                          {0x80, "power brake"}}};

uint64_t spoiling(uint64_t bits) {
  uint64_t out = 0;
  for (const Reason& reason : kReasons) out |= bits & reason.bit;
  return out;
}

}  // namespace

RaceWatch::RaceWatch(Measurer* measurer) : measurer_(measurer) {
  if (measurer_ && measurer_->throttle_bits())
    thread_ = std::jthread([this](const std::stop_token& stopped) { watch(stopped); });
}

void RaceWatch::look() {
  const uint64_t bits = spoiling(measurer_->throttle_bits().value_or(0));
  const std::lock_guard lock(mutex_);
  latest_ = bits;
  seen_.bits |= bits;
  seen_.looked = true;
  looked_.notify_all();
}

void RaceWatch::watch(const std::stop_token& stopped) {
  while (!stopped.stop_requested()) {
    look();
    std::unique_lock lock(mutex_);
    looked_.wait_for(lock, stopped, kEvery, [] { return false; });
  }
}

Throttling RaceWatch::since_last_time() {
  if (!thread_.joinable()) return {};
  const std::lock_guard lock(mutex_);
  Throttling out = seen_;
  // As long as nothing else was seen it is as it was.
  out.bits |= latest_;
  seen_ = {0, false};
  return out;
}

void RaceWatch::rest() {
  if (!thread_.joinable()) return;
  std::unique_lock lock(mutex_);
  looked_.wait_for(lock, kLongestRest, [&] { return latest_ == 0; });
  seen_ = {0, false};
}

std::string throttle_text(uint64_t bits) {
  std::string out;
  for (const Reason& reason : kReasons) {
    if (bits & reason.bit) out += (out.empty() ? "" : ", ") + std::string(reason.text);
  }
  return out;
}

}  // namespace enginery
