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

// The answer within the patience that a measurement has.
template <typename Ask>
auto StepQuestions::ask(Ask question) -> decltype(question(std::declval<Client&>())) {
  deadline_ = clock_.monotonic() + kPatience;
  auto answer = farm_.call(question);
  if (!answer.ok()) ask_again_at_ = clock_.monotonic() + kLeftAlone;
  return answer;
}

std::vector<TimingEntry> StepQuestions::known_timings(const Digest& device, const Digest& problem) {
  if (is_left_alone()) return {};
  auto entries = ask([&](Client& client) { return client.get_timings(device, {problem}); });
  if (entries.ok()) return std::move(*entries);
  log_warning("the farm's timings could not be read; what it knows is measured again: " +
              entries.error().message);
  return {};
}

ProblemTaken StepQuestions::take(const TakeProblem& wish) {
  if (is_left_alone()) return {true, 1};
  const auto answer = ask([&](Client& client) { return client.take_problem(wish); });
  if (answer.ok()) return *answer;
  log_warning("the farm could not be asked who measures; this worker does: " +
              answer.error().message);
  return {true, 1};
}

}  // namespace enginery
