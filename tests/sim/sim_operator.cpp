#include "tests/sim/sim_operator.h"

#include <algorithm>

namespace enginery {
namespace {

using std::chrono::seconds;

constexpr const char* kName = "operator";
// Longer than any message takes: what is taken back is not ordered again afterwards.
constexpr Nanoseconds kSlowest = seconds(7);

}  // namespace

void SimOperator::drain(const std::string& worker) {
  if (drained_.count(worker)) return;
  ++world_.report().orders;
  const bool exit = world_.coin(0.5);
  world_.send_to_coordinator({kName, ""}, world_.request_id(), DrainWorker{worker, exit}, kName);
  drained_[worker];
  const Nanoseconds patience = world_.between(kSlowest, seconds(20));
  world_.trouble_until(world_.monotonic() + patience);
  world_.at(patience, [this, worker] { undrain(worker); });
}

// Until it is answered; a coordinator that has just started may not know the worker yet.
void SimOperator::undrain(const std::string& worker) {
  if (!drained_.count(worker)) return;
  if (is_back(worker)) {
    drained_.erase(worker);
    return;
  }
  const RequestId id = drained_[worker].take_back = world_.request_id();
  world_.send_to_coordinator({kName, ""}, id, UndrainWorker{worker}, kName);
  world_.trouble_until(world_.monotonic());
  world_.at(seconds(2), [this, worker] { undrain(worker); });
}

bool SimOperator::is_back(const std::string& worker) const {
  const std::optional<Nanoseconds>& answered = drained_.at(worker).answered;
  const auto drains = [&](const auto& w) {
    return w->options().name == worker && w->prefers_idle();
  };
  return answered && *answered + kSlowest < world_.monotonic() &&
         std::none_of(world_.workers().begin(), world_.workers().end(), drains);
}

void SimOperator::hear(RequestId request, const Body& body) {
  if (!std::holds_alternative<Done>(body)) return;
  for (auto& [worker, order] : drained_)
    if (order.take_back == request && !order.answered) order.answered = world_.monotonic();
}

}  // namespace enginery
