#include "tests/sim/memory_store.h"

#include <algorithm>

namespace enginery {

Status MemoryStore::begin() {
  if (failing_ > 0) {
    --failing_;
    return Error{ErrorCode::storage, "no space left on device"};
  }
  pending_.clear();
  return {};
}

Status MemoryStore::apply(const RowChange& change) {
  // As the catalog does: a blob that vanished since the core asked refuses the transaction.
  if (const auto* commit = std::get_if<CommitResult>(&change);
      commit != nullptr && !complete(commit->result))
    return Error{ErrorCode::not_found, "an output's blob is not in the store"};
  if (const auto* add = std::get_if<AddEngine>(&change);
      add != nullptr && !has_blob(add->engine.engine))
    return Error{ErrorCode::not_found, "the engine's blob is not in the store"};
  pending_.push_back(change);
  return {};
}

Status MemoryStore::commit() {
  if (failing_ > 0) {
    --failing_;
    return Error{ErrorCode::storage, "no space left on device"};
  }
  if (std::exchange(lying_, false)) pending_.clear();
  for (const RowChange& change : std::exchange(pending_, {}))
    std::visit([this](const auto& row) { write(row); }, change);
  return {};
}

Result<StoredAnswer> MemoryStore::look_up(const Digest& key) {
  StoredAnswer answer;
  std::map<int64_t, StepResult> known;
  if (const auto found = results_.find(key); found != results_.end()) known = found->second;
  for (const RowChange& change : pending_)
    if (const auto* commit = std::get_if<CommitResult>(&change);
        commit != nullptr && commit->key == key)
      known.emplace(commit->result.generation, commit->result);
  for (const auto& [generation, result] : known) {
    answer.next_generation = generation + 1;
    if (complete(result)) answer.result = result;
  }
  return answer;
}

void MemoryStore::add_blob(const Digest& digest, uint64_t made_in_epoch, uint64_t made_by_step) {
  blobs_.insert(digest);
  origins_[digest] = {made_by_step, made_in_epoch};
}

bool MemoryStore::complete(const StepResult& result) const {
  return std::all_of(result.outputs.begin(), result.outputs.end(),
                     [&](const NamedBlob& b) { return has_blob(b.digest); });
}

void MemoryStore::broken(std::string rule) {
  if (violation_.empty()) violation_ = std::move(rule);
}

void MemoryStore::write(const InsertJob& insert) {
  const JobRow& job = insert.job;
  if (committed_.jobs.count(job.number))
    broken("job " + job_id(job.number) + " was inserted twice");
  if (!requests_.emplace(job.request_id, job.number).second) broken("one request made two jobs");
  committed_.jobs[job.number] = job;
}

void MemoryStore::write(const UpdateJob& update) {
  if (!committed_.jobs.count(update.number))
    return broken(job_id(update.number) + " changed and is not stored");
  JobRow& job = committed_.jobs.at(update.number);
  if (is_end(job.state)) broken(job_id(job.number) + " changed after its end");
  job.state = update.state;
  job.ended_ns = update.ended_ns;
}

void MemoryStore::write(const ForgetJob& forget) {
  const auto job = committed_.jobs.find(forget.number);
  if (job == committed_.jobs.end())
    return broken(job_id(forget.number) + " was forgotten and is not stored");
  if (!is_end(job->second.state)) broken(job_id(forget.number) + " was forgotten before its end");
  committed_.jobs.erase(job);
  for (const uint64_t step : forget.steps) {
    const auto made = committed_.steps.find(step);
    if (made != committed_.steps.end() && !is_end(made->second.state))
      broken("step " + std::to_string(step) + " was forgotten before its end");
    committed_.steps.erase(step);
  }
}

void MemoryStore::write(const SaveTarget& save) {
  if (!committed_.jobs.count(save.job))
    return broken(job_id(save.job) + ": a target of a job that is not stored");
  TargetRow& target = committed_.jobs.at(save.job).targets.at(save.index);
  if (is_end(target.state) && target.state != save.target.state)
    broken(job_id(save.job) + ": a target changed after its end");
  if (save.target.state == TargetState::done &&
      (!save.target.engine || !has_blob(*save.target.engine)))
    broken(job_id(save.job) + ": a target is done without its engine");
  target = save.target;
}

void MemoryStore::write(const SaveStep& save) {
  StepRow& step = committed_.steps[save.step.id];
  const std::string name = "step " + std::to_string(save.step.id);
  if (save.step.epoch < step.epoch) broken(name + ": the epoch went back");
  if (is_end(step.state) && save.step.state != step.state) broken(name + " changed after its end");
  if (save.step.commits < step.commits || save.step.commits > step.commits + 1)
    broken(name + ": commits jumped");
  const bool leased = save.step.state == StepState::leased || save.step.state == StepState::running;
  if (leased && !save.step.device.empty()) {
    for (const uint64_t id : held_) {
      const StepRow& other = committed_.steps.at(id);
      if (id == save.step.id || other.device != save.step.device) continue;
      if (is_measuring(other.kind) || is_measuring(save.step.kind))
        broken(name + " and step " + std::to_string(id) + " share device " + other.device +
               " while one measures");
    }
  }
  std::vector<AttemptRow> attempts = std::move(step.attempts);
  step = save.step;
  step.attempts = std::move(attempts);
  if (step.worker.empty() || is_end(step.state))
    held_.erase(step.id);
  else
    held_.insert(step.id);
}

void MemoryStore::write(const SaveAttempt& save) {
  if (!committed_.steps.count(save.attempt.step))
    return broken("an attempt at a step that is not stored");
  std::vector<AttemptRow>& attempts = committed_.steps.at(save.attempt.step).attempts;
  const auto known = std::find_if(attempts.begin(), attempts.end(), [&](const AttemptRow& attempt) {
    return attempt.epoch == save.attempt.epoch;
  });
  if (known != attempts.end())
    *known = save.attempt;
  else
    attempts.push_back(save.attempt);
}

void MemoryStore::write(const SaveKeyTrouble& save) {
  if (save.trouble.kills == 0)
    committed_.troubles.erase(save.trouble.key);
  else
    committed_.troubles[save.trouble.key] = save.trouble;
}

void MemoryStore::write(const SaveWish& save) {
  if (save.wish.wish == Wish::none)
    committed_.wishes.erase(save.wish.worker);
  else
    committed_.wishes[save.wish.worker] = save.wish;
}

void MemoryStore::write(const SaveQuarantine& save) {
  if (save.quarantine.reason.empty())
    committed_.quarantines.erase(save.quarantine.worker);
  else
    committed_.quarantines[save.quarantine.worker] = save.quarantine;
}

void MemoryStore::write(const CommitResult& commit) {
  const std::string name = "step " + std::to_string(commit.step);
  if (++commits_[{commit.key, commit.result.generation}] > 1)
    broken(name + ": a key and generation was committed twice");
  if (!committed_.steps.count(commit.step))
    return broken(name + " was committed and is not stored");
  const StepRow& step = committed_.steps.at(commit.step);
  if (is_end(step.state)) broken(name + " was committed after its end");
  if (commit.epoch != step.epoch)
    broken(name + ": epoch " + std::to_string(commit.epoch) + " committed, the lease has " +
           std::to_string(step.epoch));
  if (!complete(commit.result)) broken(name + " was committed without its blobs");
  for (const NamedBlob& output : commit.result.outputs) {
    const auto origin = origins_.find(output.digest);
    const bool own = origin != origins_.end() && origin->second.step == commit.step;
    if (own && origin->second.epoch != commit.epoch)
      broken(name + ": a stale epoch's output was committed");
  }
  results_[commit.key].emplace(commit.result.generation, commit.result);
}

void MemoryStore::write(const AddEngine& add) {
  if (!has_blob(add.engine.engine)) broken("an engine without its blob entered the catalog");
}

}  // namespace enginery
