#include "coordinator/server/tally.h"

#include <algorithm>

namespace enginery {
namespace {

std::string field_of(const AppendEvent& event, std::string_view name) {
  const auto found = std::find_if(event.fields.begin(), event.fields.end(),
                                  [&](const NamedText& field) { return field.name == name; });
  return found == event.fields.end() ? "" : found->value;
}

struct TickMaker {
  std::vector<Tick>& ticks;

  void operator()(const InsertJob&) { ticks.push_back({Tick::Kind::job_opened}); }
  void operator()(const UpdateJob& job) {
    if (is_end(job.state)) ticks.push_back({Tick::Kind::job_ended, {to_string(job.state)}});
  }
  void operator()(const SaveAttempt& save) {
    if (save.attempt.outcome)
      ticks.push_back({Tick::Kind::attempt_ended, {to_string(*save.attempt.outcome)}});
  }
  void operator()(const SaveTarget& save) {
    const TargetRow& target = save.target;
    if (!is_end(target.state)) return;
    ticks.push_back(
        {Tick::Kind::target_ended, {to_string(target.state), to_string(target.source)}});
    if (target.source != Source::built) return;
    ticks.push_back({Tick::Kind::timings, {"measured"}, target.timings_measured});
    ticks.push_back({Tick::Kind::timings, {"reused"}, target.timings_reused});
  }
  void operator()(const AppendEvent& event) {
    ticks.push_back({Tick::Kind::event, {event.kind}});
    if (event.kind == "queued")
      ticks.push_back({Tick::Kind::step_queued, {field_of(event, "step")}});
    if (event.kind == "leased")
      ticks.push_back({Tick::Kind::step_leased, {field_of(event, "step")}});
  }
  template <typename Other>
  void operator()(const Other&) {}
};

}  // namespace

void append_ticks(const RowChange& row, std::vector<Tick>& ticks) {
  std::visit(TickMaker{ticks}, row);
}

void Tally::loaded(uint64_t open_jobs) {
  const std::lock_guard lock(mutex_);
  sums_.jobs_open = open_jobs;
}

void Tally::count(const std::vector<Tick>& ticks, Nanoseconds now) {
  const std::lock_guard lock(mutex_);
  for (const Tick& tick : ticks) count_one(tick, now);
}

void Tally::count_one(const Tick& tick, Nanoseconds now) {
  constexpr size_t kMaxWaiting = 1'000'000;
  switch (tick.kind) {
    case Tick::Kind::job_opened:
      ++sums_.jobs_submitted;
      ++sums_.jobs_open;
      return;
    case Tick::Kind::job_ended:
      sums_.jobs_ended[tick.labels] += tick.count;
      if (sums_.jobs_open > 0) --sums_.jobs_open;
      return;
    case Tick::Kind::event:
      sums_.events[tick.labels] += tick.count;
      return;
    case Tick::Kind::attempt_ended:
      sums_.attempts_ended[tick.labels] += tick.count;
      return;
    case Tick::Kind::target_ended:
      sums_.targets_ended[tick.labels] += tick.count;
      return;
    case Tick::Kind::timings:
      sums_.timings[tick.labels] += tick.count;
      return;
    case Tick::Kind::step_queued:
      if (queued_at_.size() < kMaxWaiting) queued_at_[tick.labels[0]] = now;
      return;
    case Tick::Kind::step_leased:
      if (const auto queued = queued_at_.find(tick.labels[0]); queued != queued_at_.end()) {
        sums_.step_wait.observe(to_seconds(now - queued->second));
        queued_at_.erase(queued);
      }
      return;
  }
}

void Tally::committed(Nanoseconds took) {
  const std::lock_guard lock(mutex_);
  sums_.commit.observe(to_seconds(took));
}

TallySums Tally::sums() const {
  const std::lock_guard lock(mutex_);
  return sums_;
}

}  // namespace enginery
