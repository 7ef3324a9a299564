// Assistants: workers that measure for a step which another worker leads.
//
// While idle workers could run a step that may be shared, and there is nothing else for them to do,
// each gets a step of its own that assists: it takes problems as the leader does and leaves nothing
// but timings, so it is never tried again and its end moves nothing on. A few begin with the
// leader; others once it has said, by taking its first problem, that it lacks enough for them. An
// assistant ends with the step that it assists at the latest.
// What a worker has in hand is known here only: after a restart two may measure the same problem
// once, which costs time and nothing else. docs/decisions/0010 has the reasons.
#include <algorithm>

#include "coordinator/core/queue.h"

namespace enginery {
namespace {

constexpr size_t kMaxTuningWorkers = 16;
// An assistant needs some seconds before it measures: it is to have that many problems at least.
constexpr size_t kMinProblemsEach = 2;
// What ends so many of them may be the step itself: its leader goes on alone.
constexpr int kMaxLostAssistants = 3;
constexpr size_t kMaxAssistantsEver = 64;

}  // namespace

const LiveStep& Queue::led_by(const LiveStep& step) const {
  return step.row.assists == 0 ? step : steps_.at(step.row.assists);
}

LiveStep& Queue::led_by(LiveStep& step) {
  return step.row.assists == 0 ? step : steps_.at(step.row.assists);
}

std::vector<uint64_t> Queue::assistants_at_work(const LiveStep& leader) const {
  std::vector<uint64_t> out;
  for (const uint64_t id : leader.sharing.assistants)
    if (!is_end(steps_.at(id).row.state)) out.push_back(id);
  return out;
}

size_t Queue::problems_left(const LiveStep& leader) const {
  const Sharing& sharing = leader.sharing;
  return sharing.lacked - std::min(sharing.lacked, sharing.taken.size());
}

uint32_t Queue::sharers(uint64_t id) const {
  const LiveStep* step = find(id);
  if (step == nullptr) return 1;
  const LiveStep& leader = led_by(*step);
  // Where others have measured, though none does now, a worker has to ask for what they left.
  const size_t least = leader.sharing.assistants.empty() ? 1 : 2;
  return static_cast<uint32_t>(std::max(least, 1 + assistants_at_work(leader).size()));
}

// Of several jobs the one that allows most decides.
void Queue::allow_sharers(uint64_t id, uint32_t most) {
  LiveStep& step = steps_.at(id);
  const bool is_first = step.waiters.size() <= 1;
  uint32_t& allowed = step.sharing.most_workers;
  const bool is_any = most == 0 || (!is_first && allowed == 0);
  allowed = is_any ? 0 : is_first ? most : std::max(allowed, most);
}

bool Queue::take_problem(const TakeProblem& wish) {
  const std::optional<WorkerNo> number = worker_named(wish.worker);
  if (!number || workers_.at(*number).sync.incarnation != wish.incarnation ||
      !owns(*number, wish.ref))
    return false;
  LiveStep& step = steps_.at(wish.ref.step);
  LiveStep& leader = led_by(step);
  if (step.row.id == leader.row.id && leader.sharing.lacked == 0) leader.sharing.lacked = wish.left;
  const auto has_it = [&](const LiveStep& other) {
    return other.row.id != step.row.id && other.in_hand == wish.problem;
  };
  if (has_it(leader)) return false;
  for (const uint64_t id : assistants_at_work(leader))
    if (has_it(steps_.at(id))) return false;
  step.problems_taken += leader.sharing.taken.insert(wish.problem).second;
  step.in_hand = wish.problem;
  return true;
}

// Of an attempt that has ended: what it had in hand is another's to take.
void Queue::put_back(LiveStep& step, OutcomeKind kind) {
  if (step.in_hand && kind != OutcomeKind::succeeded)
    led_by(step).sharing.taken.erase(*step.in_hand);
  step.in_hand.reset();
  if (step.row.assists != 0) return;
  step.sharing.lacked = 0;  // its next leader says it anew
  step.sharing.taken.clear();
  step.sharing.ended_on.clear();
}

bool Queue::wants_assistant(const LiveStep& leader) const {
  const Sharing& sharing = leader.sharing;
  const size_t sharers_then = 2 + assistants_at_work(leader).size();
  const size_t most = sharing.most_workers == 0
                          ? kMaxTuningWorkers
                          : std::min<size_t>(kMaxTuningWorkers, sharing.most_workers);
  return !leader.row.worker.empty() && !leader.waiters.empty() && sharers_then <= most &&
         !troubles_.runs_alone(leader.row.key) && sharing.lost < kMaxLostAssistants &&
         sharing.assistants.size() < kMaxAssistantsEver && has_work_for(leader, sharers_then);
}

bool Queue::has_work_for(const LiveStep& leader, size_t workers) const {
  if (leader.sharing.lacked == 0) return workers <= 1 + options_.early_assistants;
  return problems_left(leader) >= kMinProblemsEach * workers;
}

// The step's lease has begun, or goes on after a restart.
void Queue::note_leader(const LiveStep& step) {
  const Step* row = row_of(step.row.kind);
  if (row != nullptr && is_shareable(*row) && step.row.assists == 0)
    shared_[step.pool].insert(step.row.id);
}

// One that serves the step's pool, for which nothing is ready, and whose device is free.
LiveWorker* Queue::free_worker_for(const LiveStep& leader) {
  std::optional<WorkerNo> number = pools_.idle_from(leader.pool, 0);
  for (; number; number = pools_.idle_from(leader.pool, *number + 1)) {
    LiveWorker& worker = workers_.at(*number);
    const std::set<WorkerNo>* others = sharers_of(worker.sync.device);
    const bool is_free =
        others != nullptr && std::none_of(others->begin(), others->end(), [this](WorkerNo other) {
          return load_of(workers_.at(other)) != Load::none;
        });
    const std::string& name = worker.sync.worker;
    const bool is_willing = !leader.sharing.ended_on.count(name) && !leader.failed_on.count(name);
    if (is_free && is_willing && !next_for(worker)) return &worker;
  }
  return nullptr;
}

// After every event: where a thousand workers are at work, only the pools in which one is not are
// looked at.
std::optional<Lease> Queue::lease_assistant(Turn& turn) {
  for (const auto& [pool, leaders] : shared_) {
    if (!pools_.idle_from(pool, 0)) continue;
    for (const uint64_t id : leaders) {
      LiveStep& leader = steps_.at(id);
      if (!wants_assistant(leader)) continue;
      LiveWorker* worker = free_worker_for(leader);
      if (worker == nullptr) continue;
      const uint64_t assistant = add_assistant(leader);
      return lease(*worker, {leader.waiters.begin()->job, assistant}, turn);
    }
  }
  return std::nullopt;
}

uint64_t Queue::add_assistant(LiveStep& leader) {
  const uint64_t id = next_step_++;
  LiveStep& step = steps_[id];
  step.row.id = id;
  step.row.assists = leader.row.id;
  step.row.job = leader.row.job;
  step.row.kind = leader.row.kind;
  step.row.key = leader.row.key;
  step.row.generation = leader.row.generation;
  step.row.sku = leader.row.sku;
  step.row.toolchain = leader.row.toolchain;
  step.pool = leader.pool;
  join_leader(step, leader);
  return id;
}

void Queue::join_leader(LiveStep& assistant, LiveStep& leader) {
  leader.sharing.assistants.push_back(assistant.row.id);
  assistant.ordinal = static_cast<uint32_t>(leader.sharing.assistants.size());
}

// Its attempt has ended, and with it all that it was for.
StepEvent Queue::end_assistant(LiveStep& step, OutcomeKind kind, Turn& turn) {
  const bool is_done = kind == OutcomeKind::succeeded;
  LiveStep& leader = led_by(step);
  leader.sharing.lost += !is_done && kind != OutcomeKind::cancelled;
  // It has found nothing to take, or failed: asked again it would do the same.
  if (!step.row.attempts.empty()) leader.sharing.ended_on.insert(step.row.attempts.back().worker);
  step.row.state = is_done ? StepState::done : StepState::cancelled;
  turn.save(SaveStep{step.row});
  return StepMoved{leader.waiters};
}

void Queue::dismiss_assistants(LiveStep& leader, Turn& turn) {
  if (const auto of_pool = shared_.find(leader.pool); of_pool != shared_.end())
    of_pool->second.erase(leader.row.id);
  for (const uint64_t id : assistants_at_work(leader)) {
    LiveStep& step = steps_.at(id);
    if (const auto worker = worker_named(step.row.worker)) dismissed_.push_back(*worker);
    end_attempt(step, OutcomeKind::cancelled, "the step that it assisted has ended", turn);
    end_assistant(step, OutcomeKind::cancelled, turn);
  }
}

// As the rest of a sentence that begins with the step's name.
std::string Queue::check_sharing(const LiveStep& step) const {
  if (step.row.assists == 0) {
    std::set<Digest> in_hand;
    std::vector<uint64_t> family = assistants_at_work(step);
    family.push_back(step.row.id);
    for (const uint64_t id : family) {
      const std::optional<Digest>& problem = steps_.at(id).in_hand;
      if (problem && !in_hand.insert(*problem).second) return "has a problem that two measure";
    }
    return "";
  }
  if (!step.waiters.empty()) return "assists and is waited for";
  if (step.row.commits != 0) return "assists and was committed";
  if (is_end(step.row.state)) return step.in_hand ? "has ended with a problem in hand" : "";
  if (step.row.worker.empty()) return "assists and nobody runs it";
  const LiveStep* leader = find(step.row.assists);
  if (leader == nullptr || is_end(leader->row.state)) return "assists a step that has ended";
  const std::vector<uint64_t>& known = leader->sharing.assistants;
  const bool is_known = std::find(known.begin(), known.end(), step.row.id) != known.end();
  return is_known ? "" : "assists a step that does not know of it";
}

}  // namespace enginery
