#include "worker/local_queue.h"

#include <algorithm>

namespace enginery {
namespace {

bool is_for_the_catalog(const RowChange& row) {
  return std::holds_alternative<CommitResult>(row) || std::holds_alternative<AddEngine>(row);
}

}  // namespace

Status LocalQueue::write(const std::vector<RowChange>& rows) {
  std::optional<Transaction> transaction;
  if (std::any_of(rows.begin(), rows.end(), is_for_the_catalog)) {
    TRY(Transaction begun, Transaction::begin(catalog_.database()));
    transaction.emplace(std::move(begun));
  }
  for (const RowChange& row : rows) {
    if (const auto* key = std::get_if<RecordAction>(&row))
      keys_[sha256(key->key_bytes)] = key->key_bytes;
    else if (const auto* save = std::get_if<SaveTarget>(&row))
      target_ = save->target;
    else if (const auto* result = std::get_if<CommitResult>(&row))
      CHECK_OK(commit(*result));
    else if (const auto* engine = std::get_if<AddEngine>(&row))
      CHECK_OK(add(engine->engine));
  }
  return transaction ? transaction->commit() : Status();
}

Status LocalQueue::commit(const CommitResult& commit) {
  results_[commit.key] = commit.result;
  TRY(const ActionKey key, ActionKey::parse(keys_.at(commit.key)));
  // already_there: another process built the same at the same time, and its result stays.
  TRY([[maybe_unused]] const Commit done,
      catalog_.results().commit(key, to_action_result(commit.key, commit.result)));
  return {};
}

Status LocalQueue::add(const EngineView& engine) {
  engine_ = engine;
  EngineRow row;
  row.digest = engine.engine;
  row.content_digest = engine.content_digest;
  row.name = engine.name;
  row.model = engine.model;
  row.sku = engine.sku;
  row.precision = engine.precision;
  row.key = engine.key;
  row.size_bytes = engine.size_bytes;
  row.latency_ms = engine.latency_ms;
  row.provisional = engine.provisional;
  row.created_ns = engine.created_ns;
  return catalog_.engines().add(row);
}

Result<LookupAnswer> LocalQueue::look_up(const Lookup& lookup) {
  LookupAnswer answer{lookup.token, lookup.key, std::nullopt, 1};
  if (may_read(lookup.token.kind)) {
    TRY(const auto found, catalog_.results().lookup(lookup.key));
    if (found) {
      answer.result = to_step_result(*found);
      results_[lookup.key] = *answer.result;
    }
  }
  TRY(answer.next_generation, catalog_.results().next_generation(lookup.key));
  return answer;
}

const StepResult* LocalQueue::result_of(const Digest& key) const {
  const auto found = results_.find(key);
  return found == results_.end() ? nullptr : &found->second;
}

bool LocalQueue::may_read(StepKind kind) const {
  if (reads_ == ReadResults::built)
    return kind == StepKind::validate || kind == StepKind::tune || kind == StepKind::assemble;
  if (reads_ == ReadResults::of_model) return step_of(kind, steps_).key == KeyRule::of_model;
  return reads_ == ReadResults::all;
}

}  // namespace enginery
