#include "coordinator/core/core.h"

#include "coordinator/core/event_handler.h"

namespace enginery {

Core::Core(CoreOptions options, LoadedQueue queue)
    : inside_(std::make_unique<EventHandler>(std::move(options), std::move(queue))) {}
Core::~Core() = default;

Effects Core::start(Now now) {
  return inside_->start(now);
}

Effects Core::step(CoreEvent event, Now now) {
  return inside_->step(std::move(event), now);
}

std::optional<Nanoseconds> Core::next_timer() const {
  return inside_->polls().next_timer();
}

std::vector<Digest> Core::engine_keys(const std::string& job) const {
  std::vector<Digest> keys;
  if (const LiveJob* found = inside_->jobs().find(job))
    for (const LiveTarget& target : inside_->targets().build(found->number).targets)
      keys.push_back(target.keys.engine);
  return keys;
}

std::optional<JobView> Core::view(const std::string& job) const {
  const LiveJob* found = inside_->jobs().find(job);
  if (found == nullptr) return std::nullopt;
  return inside_->jobs().view(*found, Jobs::Detail::steps, inside_->now());
}

std::vector<std::string> Core::job_ids(bool ended) const {
  return inside_->jobs().ids_of(ended);
}

std::string Core::check() const {
  return inside_->check();
}

}  // namespace enginery
