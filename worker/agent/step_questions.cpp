#include "worker/agent/step_questions.h"

#include "engine/base/log.h"

namespace enginery {
namespace {

constexpr std::chrono::seconds kPatience{5}, kLeftAlone{30};

}  // namespace

StepQuestions::StepQuestions(const FarmAddress& address, std::function<bool()> cancelled,
                             const Clock* clock)
    : cancelled_(std::move(cancelled)),
      clock_(clock != nullptr ? *clock : system_clock_),
      farm_(address, [this] { return cancelled_() || clock_.monotonic() >= deadline_; }) {}

std::vector<TimingEntry> StepQuestions::known_timings(const Digest& device, const Digest& problem) {
  if (clock_.monotonic() < ask_again_at_) return {};
  deadline_ = clock_.monotonic() + kPatience;
  auto entries = farm_.call([&](Client& client) { return client.get_timings(device, {problem}); });
  if (entries.ok()) return std::move(*entries);
  ask_again_at_ = clock_.monotonic() + kLeftAlone;
  log_warning("the farm's timings could not be read; what it knows is measured again: " +
              entries.error().message);
  return {};
}

}  // namespace enginery
