#include "coordinator/server/queue_driver.h"

#include <algorithm>

namespace enginery {
namespace {

constexpr Nanoseconds kFirstPause = std::chrono::milliseconds(100);
constexpr Nanoseconds kLongestPause = std::chrono::seconds(5);

LeaseNote note_of(const StepRow& step) {
  return {step.id, step.epoch, step.worker, step.state >= StepState::done};
}

template <typename T>
void append(std::vector<T>& to, std::vector<T>& from) {
  std::move(from.begin(), from.end(), std::back_inserter(to));
}

}  // namespace

Result<std::unique_ptr<QueueDriver>> QueueDriver::open(QueueStore& store, const Clock& clock,
                                                       CoreOptions options) {
  auto driver = std::make_unique<QueueDriver>(Opened(), store, clock, std::move(options));
  CHECK_OK(driver->restart());
  return driver;
}

Status QueueDriver::restart() {
  TRY(LoadedQueue queue, store_.load());
  for (const auto& [id, step] : queue.steps)
    if (!note_of(step).ended) outbox_.leases.push_back(note_of(step));
  outbox_.open_jobs = static_cast<uint64_t>(
      std::count_if(queue.jobs.begin(), queue.jobs.end(),
                    [](const auto& job) { return !is_end(job.second.state); }));
  core_ = std::make_unique<Core>(options_, std::move(queue));
  broken_ = false;
  take(core_->start(now()));
  return failure_;
}

Status QueueDriver::start_again() {
  if (clock_.monotonic() >= start_at_) return restart();
  return Error{ErrorCode::storage,
               "the last write failed, the next try comes in a moment: " + cause_};
}

void QueueDriver::feed(CoreEvent event) {
  // A worker is not told of a storage failure: it repeats its Sync, and its step goes on meanwhile.
  if (const auto* request = std::get_if<Request>(&event);
      request != nullptr && !std::holds_alternative<SyncRequest>(request->body))
    pending_.push_back(request->to);
  if (broken_ && failure_.ok()) failure_ = start_again();
  if (!failure_.ok()) return;
  take(core_->step(std::move(event), now()));
}

// Answers lookups at once, inside the batch's transaction, so that they see what the batch wrote.
void QueueDriver::take(Effects effects) {
  collect(std::move(effects));
  while (failure_.ok() && !lookups_.empty()) {
    const Lookup lookup = lookups_.front();
    lookups_.pop_front();
    Result<StoredAnswer> stored = store_.look_up(lookup.key);
    if (stored.ok())
      collect(core_->step(LookupAnswer{lookup.token, lookup.key, std::move(stored->result),
                                       stored->next_generation},
                          now()));
    else
      failure_ = stored.error();
  }
}

void QueueDriver::collect(Effects effects) {
  failure_ = apply(effects);
  append(outbox_.replies, effects.replies);
  append(outbox_.signing, effects.signing);
  append(outbox_.log_routes, effects.log_routes);
  append(outbox_.ended_jobs, effects.ended_jobs);
  append(outbox_.forgotten_jobs, effects.forgotten_jobs);
  append(outbox_.notes, effects.notes);
  lookups_.insert(lookups_.end(), effects.lookups.begin(), effects.lookups.end());
}

Status QueueDriver::apply(const Effects& effects) {
  if (effects.rows.empty() && effects.lookups.empty()) return {};
  if (!begun_) CHECK_OK(store_.begin());
  begun_ = true;
  for (const RowChange& row : effects.rows) {
    CHECK_OK(store_.apply(row));
    append_ticks(row, outbox_.ticks);
    if (const auto* insert = std::get_if<InsertJob>(&row))
      outbox_.new_jobs.push_back(job_id(insert->job.number));
    if (const auto* save = std::get_if<SaveStep>(&row))
      outbox_.leases.push_back(note_of(save->step));
    outbox_.recorded |= std::holds_alternative<AppendEvent>(row);
  }
  return {};
}

Outbox QueueDriver::flush() {
  if (failure_.ok() && begun_) failure_ = store_.commit();
  if (!failure_.ok()) return fail(failure_.error());
  if (begun_) pause_ = {};  // the disk takes what is written
  begun_ = false;
  pending_.clear();
  return std::exchange(outbox_, {});
}

Outbox QueueDriver::fail(Error error) {
  if (begun_) store_.roll_back();
  begun_ = false;
  broken_ = true;
  failure_ = {};
  lookups_.clear();
  outbox_ = {};
  Outbox out;
  if (clock_.monotonic() >= start_at_) {
    out.notes.push_back("queue: " + error.message + "; starting again from what is stored");
    cause_ = error.message;
    start_at_ = clock_.monotonic() + pause_;
    pause_ = std::clamp(pause_ * 2, kFirstPause, kLongestPause);
  }
  for (const ReplyTo& to : pending_)
    out.replies.push_back({to, ErrorReply{{ErrorCode::storage, "queue: " + error.message}}});
  pending_.clear();
  return out;
}

}  // namespace enginery
