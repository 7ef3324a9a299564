#include "tests/sim/world.h"

#include <algorithm>

#include "tests/sim/sim_client.h"
#include "tests/sim/sim_worker.h"

namespace enginery {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int kSkus = 3;

}  // namespace

World::World(WorldOptions options) : options_(std::move(options)), random_(options_.seed) {
  // Two hosts; on each all CPU SKUs are one device.
  for (int i = 0; i < options_.workers; ++i) {
    const std::string sku = "sku" + std::to_string(i % kSkus),
                      device = "host" + std::to_string(i / kSkus);
    workers_.push_back(std::make_unique<SimWorker>(*this, "w" + std::to_string(i), sku, device));
  }
  for (int i = 0; i < options_.clients; ++i)
    clients_.push_back(
        std::make_unique<SimClient>(*this, "c" + std::to_string(i), options_.jobs_each, kSkus));
}
World::~World() = default;

WorldReport World::run() {
  start_coordinator();
  for (auto& worker : workers_)
    at(between(milliseconds(0), seconds(5)), [w = worker.get()] { w->start(); });
  for (auto& client : clients_) client->start();
  const Nanoseconds end = options_.fault_time + options_.quiet_within;
  while (!queue_.empty() && report_.violation.empty()) {
    if (!faulty() && all_quiet()) break;
    const Happening next = queue_.top();
    queue_.pop();
    if (next.at > end) {
      broken("not quiet " + std::to_string(to_seconds(options_.quiet_within)) +
             " s after the last fault");
      break;
    }
    now_ = next.at;
    ++report_.events;
    next.action();
    random_faults();
    check();
  }
  if (!report_.violation.empty()) report_.unfinished = unfinished();
  report_.commits = store_.commits();
  report_.end_s = to_seconds(now_);
  return report_;
}

void World::at(Nanoseconds delay, std::function<void()> action) {
  queue_.push({now_ + delay, ++order_, std::move(action)});
}

Nanoseconds World::between(Nanoseconds least, Nanoseconds most) {
  return least + Nanoseconds(static_cast<int64_t>(
                     below(static_cast<uint64_t>((most - least).count()) + 1)));
}

void World::broken(const std::string& rule) {
  if (report_.violation.empty()) report_.violation = rule;
}

// Loses, repeats and delays; what is delayed is overtaken by what comes later.
void World::network(std::function<void()> arrive) {
  if (chance(options_.faults.lose)) return;
  const int copies = chance(options_.faults.repeat) ? 2 : 1;
  for (int i = 0; i < copies; ++i) {
    const Nanoseconds delay = chance(options_.faults.slow)
                                  ? between(milliseconds(1), seconds(6))
                                  : between(Nanoseconds(50000), milliseconds(3));
    at(delay, arrive);
  }
}

void World::send_to_coordinator(const std::string& from, RequestId id, Body body,
                                const std::string& client) {
  network([this, from, id, body = std::move(body), client] {
    if (driver_ == nullptr) return;
    Request request{{from, id}, client, body, {}};
    if (const auto* submit = std::get_if<SubmitRequest>(&body);
        submit != nullptr && !store_.has_blob(submit->model))
      request.missing.push_back(submit->model);
    if (const auto* sync = std::get_if<SyncRequest>(&body))
      if (const auto* finished = std::get_if<Finished>(&sync->state))
        for (const NamedBlob& output : finished->outcome.outputs)
          if (!store_.has_blob(output.digest)) request.missing.push_back(output.digest);
    if (options_.tamper) options_.tamper(request, store_.rows());
    feed(std::move(request));
  });
}

void World::start_coordinator() {
  ++life_;
  Result<std::unique_ptr<QueueDriver>> driver = QueueDriver::open(store_, *this, options_.core);
  if (!driver.ok()) {  // the disk is full: try again
    at(seconds(1), [this] { start_coordinator(); });
    return;
  }
  driver_ = std::move(*driver);
  timer_at_.reset();
  flush();
}

void World::crash_coordinator() {
  if (driver_ == nullptr) return;
  ++report_.coordinator_crashes;
  driver_.reset();
  store_.roll_back();
  flush_due_ = false;
  at(between(milliseconds(50), seconds(12)), [this] { start_coordinator(); });
}

// Several events may share a transaction.
void World::feed(CoreEvent event) {
  driver_->feed(std::move(event));
  if (coin(0.7)) return flush();
  if (std::exchange(flush_due_, true)) return;
  at(between(Nanoseconds(1000), milliseconds(2)), [this, life = life_] {
    if (life == life_ && driver_ != nullptr && flush_due_) flush();
  });
}

void World::flush() {
  flush_due_ = false;
  if (chance(options_.faults.disk_full)) {
    ++report_.disk_failures;
    store_.fail_next(1);
  }
  if (options_.faults.lying_disk > 0 && chance(options_.faults.lying_disk)) store_.lie_once();
  if (chance(options_.faults.crash_before_commit)) return crash_coordinator();
  Outbox outbox = driver_->flush();
  if (chance(options_.faults.crash_after_commit)) return crash_coordinator();
  carry_out(std::move(outbox));
  if (driver_ != nullptr) arm_timer();
}

void World::carry_out(Outbox outbox) {
  for (const Reply& reply : outbox.replies) {
    if (chance(options_.faults.crash_between_replies)) return crash_coordinator();
    deliver(reply);
  }
  for (const SignTask& task : outbox.signing) {
    if (chance(options_.faults.crash_between_replies)) return crash_coordinator();
    at(between(milliseconds(1), milliseconds(300)),
       [this, task, life = life_] { sign(task, life); });
  }
}

void World::deliver(const Reply& reply) {
  network([this, reply] {
    for (auto& worker : workers_)
      if (worker->name() == reply.to.route) worker->hear(reply.to.request, reply.body);
    for (auto& client : clients_)
      if (client->name() == reply.to.route) client->hear(reply.to.request, reply.body);
  });
}

void World::sign(SignTask task, uint64_t life) {
  if (driver_ == nullptr || life != life_) return;
  SignAnswer answer{task.step, task.epoch, std::nullopt, {}};
  if (store_.has_blob(task.engine.blob)) {
    const Digest engine = sha256("signed " + task.engine.blob.hex());
    store_.add_blob(engine, 0, 0);
    answer.engine = NamedBlob{"engine", engine, 100};
  } else {
    answer.fault = {ErrorCode::not_found, "the unsigned engine is gone"};
  }
  feed(std::move(answer));
}

void World::arm_timer() {
  const std::optional<Nanoseconds> next = driver_->next_timer();
  if (!next || (timer_at_ && *timer_at_ <= *next && *timer_at_ > now_)) return;
  timer_at_ = next;
  at(std::max(Nanoseconds(0), *next - now_) + Nanoseconds(1000),
     [this, life = life_, armed = next] {
       if (life != life_ || driver_ == nullptr || timer_at_ != armed) return;
       timer_at_.reset();
       feed(TimerFired{});
       if (driver_ != nullptr && !timer_at_) arm_timer();
     });
}

bool World::lock_device(const std::string& device, const std::string& worker) {
  std::string& holder = device_locks_[device];
  if (!holder.empty() && holder != worker) return false;
  holder = worker;
  return true;
}
void World::unlock_device(const std::string& device, const std::string& worker) {
  if (device_locks_[device] == worker) device_locks_[device].clear();
}

void World::random_faults() {
  if (chance(options_.faults.clock_jump)) wall_offset_ += between(seconds(-7200), seconds(7200));
  // Not inside a transaction: the real store holds its own lock there.
  if (!flush_due_ && chance(options_.faults.blob_lost) && !store_.blobs().empty()) {
    auto victim = store_.blobs().begin();
    std::advance(victim, static_cast<long>(below(store_.blobs().size())));
    store_.remove_blob(Digest(*victim));
  }
}

void World::check() {
  if (!store_.violation().empty()) broken(store_.violation());
  if (driver_ == nullptr) return;
  if (const std::string rule = driver_->core().check(); !rule.empty()) broken(rule);
}

// What has not ended, and why.
std::string World::unfinished() {
  std::string out = driver_ == nullptr ? "the coordinator is dead\n" : "";
  for (const auto& client : clients_)
    if (!client->quiet()) out += client->name() + " still waits\n";
  for (const auto& [number, row] : store_.rows().jobs) {
    if (is_end(row.state) || driver_ == nullptr) continue;
    const std::optional<JobView> job = driver_->core().view(job_id(number));
    if (!job) continue;
    for (const TargetView& target : job->targets)
      if (!is_end(target.state))
        out +=
            job->id + " " + target.sku + " " + to_string(target.state) + ": " + target.note + "\n";
    for (const StepView& step : job->steps)
      if (!is_end(step.state))
        out += "  step " + std::to_string(step.step) + " " + step.name + " " +
               to_string(step.state) + " epoch " + std::to_string(step.epoch) + ", " +
               std::to_string(step.attempts.size()) + " attempts\n";
    driver_->feed(Request{{"the test", {}}, "", ExplainJob{job->id}, {}});
    for (const Reply& reply : driver_->flush().replies)
      if (const auto* explained = std::get_if<ExplainReply>(&reply.body))
        for (const ExplainView& view : explained->targets)
          for (const CandidateView& candidate : view.candidates)
            out += "    " + candidate.worker + " " + candidate.reason + "\n";
  }
  return out;
}

// Every client has heard the end of every job, and every job of the store has ended.
bool World::all_quiet() const {
  for (const auto& client : clients_)
    if (!client->quiet()) return false;
  for (const auto& [number, job] : store_.rows().jobs)
    if (!is_end(job.state)) return false;
  for (const auto& client : clients_)
    for (const std::string& id : client->acknowledged())
      if (!store_.rows().jobs.count(*job_number(id))) return false;
  return true;
}

}  // namespace enginery
