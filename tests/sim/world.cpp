#include "tests/sim/world.h"

#include <algorithm>

#include "tests/sim/sim_client.h"
#include "tests/sim/sim_operator.h"
#include "tests/sim/sim_worker.h"

namespace enginery {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int kSkus = 3;

}  // namespace

// The second self-test of a worker comes soon enough for the bound of quiet.
CoreOptions WorldOptions::core_options() {
  CoreOptions options;
  options.examine_again = seconds(3);
  options.examine_at_most = seconds(6);
  return options;
}

World::World(WorldOptions options)
    : options_(std::move(options)),
      random_(options_.seed),
      trouble_until_(options_.fault_time),
      disk_(options_.store, *this),
      operator_(std::make_unique<SimOperator>(*this)) {
  make_workers();
  make_clients();
}
World::~World() = default;

// Three workers a host; on each host all CPU SKUs are one device. In every other run a part of them
// runs another toolchain from the second host on; in some a second process takes a worker's name.
void World::make_workers() {
  for (int i = 0; i < options_.workers; ++i) {
    const std::string number = std::to_string(i);
    const bool other = options_.seed % 2 == 1 && i >= kSkus && i % 2 == 0;
    const char* toolchain = other ? "u" : "t";
    workers_.push_back(std::make_unique<SimWorker>(
        *this, SimWorkerOptions{"w" + number, "sku" + std::to_string(i % kSkus), toolchain,
                                "host" + std::to_string(i / kSkus), "w" + number}));
  }
  if (options_.seed % 5 != 2 || options_.faults.worker_crash == 0) return;
  SimWorkerOptions intruder = workers_.back()->options();
  intruder.route = "intruder";
  intruder.intruder = true;
  workers_.push_back(std::make_unique<SimWorker>(*this, std::move(intruder)));
}

void World::make_clients() {
  std::vector<SimTarget> targets;
  for (const auto& worker : workers_)
    if (!worker->options().intruder)
      targets.push_back({worker->options().sku, worker->options().toolchain});
  for (int i = 0; i < options_.clients; ++i) {
    const bool greedy = i == 0 && options_.greedy_jobs > 0;
    clients_.push_back(std::make_unique<SimClient>(
        *this, "c" + std::to_string(i), greedy ? options_.greedy_jobs : options_.jobs_each, targets,
        greedy                     ? Demand::greedy
        : options_.greedy_jobs > 0 ? Demand::small
                                   : Demand::mixed));
  }
}

WorldReport World::run() {
  start_coordinator();
  for (auto& worker : workers_)
    at(between(milliseconds(0), seconds(5)), [w = worker.get()] { w->start(); });
  for (auto& client : clients_) client->start();
  while (!queue_.empty() && report_.violation.empty()) {
    if (!faulty() && all_quiet()) break;
    const Happening next = queue_.top();
    queue_.pop();
    if (next.at > deadline()) {
      broken("not quiet " + std::to_string(to_seconds(options_.quiet_within)) +
             " s after the last fault");
      break;
    }
    now_ = next.at;
    ++report_.events;
    next.action();
    random_faults();
    if (report_.events % options_.check_every == 0) check();
  }
  if (!report_.violation.empty()) report_.unfinished = unfinished();
  report_.commits = disk_.commits();
  report_.end_s = to_seconds(now_);
  report_.calm_s = std::max(0.0, to_seconds(now_ - trouble_until_));
  return report_;
}

Nanoseconds World::deadline() const {
  return std::max(trouble_until_, options_.fault_time) + options_.quiet_within;
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
void World::network(const std::string& host, std::function<void()> arrive) {
  if (const auto cut = cut_off_until_.find(host); cut != cut_off_until_.end() && cut->second > now_)
    return;
  if (chance(options_.faults.lose)) return;
  const int copies = chance(options_.faults.repeat) ? 2 : 1;
  for (int i = 0; i < copies; ++i) {
    const bool slow = chance(options_.faults.slow);
    const Nanoseconds delay =
        slow ? between(milliseconds(1), seconds(6)) : between(Nanoseconds(50000), milliseconds(3));
    if (slow) trouble_until(now_ + delay);
    at(delay, arrive);
  }
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

// --- faults that strike by themselves

void World::random_faults() {
  const Faults& faults = options_.faults;
  if (chance(faults.clock_jump)) wall_offset_ += between(seconds(-7200), seconds(7200));
  if (chance(faults.partition)) partition();
  if (chance(faults.drain)) operator_->drain(workers_[below(workers_.size())]->options().name);
  if (chance(faults.stall) && stalled_until_ < now_) {
    ++report_.coordinator_stalls;
    stalled_until_ = now_ + between(seconds(1), seconds(40));
    trouble_until(stalled_until_);
  }
  // Not inside a transaction: the real store holds its own lock there.
  if (!flush_due_ && !disk_.blobs().empty() && chance(faults.blob_lost + faults.blob_damaged))
    lose_blob();
}

// A host hears nothing and is not heard.
void World::partition() {
  ++report_.partitions;
  const std::string& host = workers_[below(workers_.size())]->options().device;
  cut_off_until_[host] = now_ + between(seconds(2), seconds(40));
  trouble_until(cut_off_until_[host]);
}

void World::lose_blob() {
  ++report_.blobs_lost;
  auto victim = disk_.blobs().begin();
  std::advance(victim, static_cast<long>(below(disk_.blobs().size())));
  const Digest digest = *victim;
  const double damaged = options_.faults.blob_damaged;
  if (coin(damaged / (damaged + options_.faults.blob_lost)))
    disk_.damage_blob(digest);
  else
    disk_.remove_blob(digest);
}

// --- rules

void World::check() {
  if (const std::string rule = disk_.violation(); !rule.empty()) broken(rule);
  if (driver_ == nullptr) return;
  if (const std::string rule = driver_->core().check(); !rule.empty()) broken(rule);
}

// Failing for good, or more faults than the retry rules bear: of a step that the target used.
std::string World::unexplained(const std::string& job, size_t index) const {
  const auto row = disk_.rows().jobs.find(job_number(job).value_or(0));
  if (row == disk_.rows().jobs.end()) return "is not stored";
  const TargetRow& target = row->second.targets.at(index);
  const std::string what = target.fault ? target.fault->message : "without a word";
  const int silent = silent_workers();
  if (what.find("quarantined") != std::string::npos)
    for (const auto& [key, done] : harm_)
      if (done.kills > 0 && done.kills + silent >= 3) return "";
  if (report_.blobs_lost > 2 && what.find("disappeared") != std::string::npos) return "";
  if (target.uses.empty()) return "failed before its first step: " + what;
  // Not the last one only: where a blob was lost the target went its way again and may have failed
  // before it came so far.
  const auto harm_of = [&](const Digest& key) {
    const auto found = harm_.find(key);
    return found == harm_.end() ? Harm{} : found->second;
  };
  for (const StepUse& use : target.uses)
    if (fails_for_good(use.key) || harm_of(use.key).is_too_much()) return "";
  const StepUse& last = target.uses.back();
  const Harm harm = harm_of(last.key);
  return "failed, although its step " + std::string(to_string(last.kind)) + " met " +
         std::to_string(harm.kills) + " deaths, " + std::to_string(harm.internal) +
         " failures of workers, " + std::to_string(harm.out_of_memory) + " times no memory and " +
         std::to_string(harm.storage) + " full disks: " + what;
}

// Those that nobody hears now or has heard again only just: they may still be taken for dead.
int World::silent_workers() const {
  const Nanoseconds just = now_ - seconds(10);
  return static_cast<int>(std::count_if(workers_.begin(), workers_.end(), [&](const auto& worker) {
    const auto cut = cut_off_until_.find(worker->options().device);
    return worker->frozen_until() > just || (cut != cut_off_until_.end() && cut->second > just);
  }));
}

// What has not ended, and why.
std::string World::unfinished() {
  std::string out = driver_ == nullptr ? "the coordinator is dead\n" : "";
  for (const auto& client : clients_)
    if (!client->quiet()) out += client->name() + " still waits\n";
  for (const auto& [number, row] : disk_.rows().jobs) {
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
  if (!operator_->quiet()) return false;
  for (const auto& client : clients_)
    if (!client->quiet()) return false;
  for (const auto& [number, job] : disk_.rows().jobs)
    if (!is_end(job.state)) return false;
  for (const auto& client : clients_)
    for (const std::string& id : client->acknowledged())
      if (!disk_.rows().jobs.count(*job_number(id))) return false;
  return true;
}

}  // namespace enginery
