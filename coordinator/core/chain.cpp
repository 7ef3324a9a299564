// A target's way: its engine's key first, then step after step, each answered by the catalog, by
// work in flight, or built.
#include <algorithm>

#include "cache/action_key.h"
#include "coordinator/core/state.h"
#include "pipeline/chain.h"

namespace enginery {
namespace {

constexpr int kMaxRestarts = 2;

// A provisional target has no device to tune, verify or profile on.
const std::vector<StepKind>& chain_of(bool provisional) {
  static const std::vector<StepKind> full = {StepKind::validate, StepKind::tune,
                                             StepKind::assemble, StepKind::verify,
                                             StepKind::profile,  StepKind::sign};
  static const std::vector<StepKind> untuned = {StepKind::validate, StepKind::assemble,
                                                StepKind::sign};
  return provisional ? untuned : full;
}

StepKind after(std::optional<StepKind> stage, bool provisional) {
  const std::vector<StepKind>& chain = chain_of(provisional);
  if (!stage) return chain.front();
  const auto at = std::find(chain.begin(), chain.end(), *stage);
  ENSURE(at != chain.end() && at + 1 != chain.end(), "sign is the last step");
  return *(at + 1);
}

template <typename Named>
void absorb(std::vector<Named>& into, const std::vector<Named>& from) {
  for (const Named& item : from) {
    const auto same = std::find_if(into.begin(), into.end(),
                                   [&](const Named& have) { return have.name == item.name; });
    if (same != into.end())
      *same = item;
    else
      into.push_back(item);
  }
  // Results come back from the catalog in this order: a step's key must not depend on where its
  // inputs came from.
  std::sort(into.begin(), into.end(),
            [](const Named& a, const Named& b) { return a.name < b.name; });
}

const StepUse* use_of(const LiveTarget& target, StepKind kind) {
  for (const StepUse& use : target.row.uses)
    if (use.kind == kind) return &use;
  return nullptr;
}

}  // namespace

void CoreState::begin_target(LiveJob& job, uint32_t index) {
  LiveTarget& target = job.targets[index];
  target.stage.reset();
  target.step = 0;
  target.outputs.clear();
  target.metrics.clear();
  target.facts.clear();
  if (job.row.request.rebuild) return advance(job, index);
  look_up(job, index, target.engine_key);
}

void CoreState::advance(LiveJob& job, uint32_t index) {
  LiveTarget& target = job.targets[index];
  target.stage = after(target.stage, job.row.request.targets[index].provisional);
  target.step = 0;
  const Digest key = key_of(target, job, index, *target.stage);
  if (const auto running = in_flight.find(key); running != in_flight.end())
    return attach(job, index, steps.at(running->second));
  look_up(job, index, key);
}

void CoreState::look_up(LiveJob& job, uint32_t index, const Digest& key) {
  LiveTarget& target = job.targets[index];
  target.looking = true;
  out->lookups.push_back({{job.row.number, index, target.stage.value_or(StepKind::sign), 0}, key});
}

void CoreState::looked_up(LookupAnswer& answer) {
  if (answer.token.job == 0) return dry_run_answer(answer);
  const auto found = jobs.find(answer.token.job);
  if (found == jobs.end() || answer.token.target >= found->second.targets.size()) return;
  LiveJob& job = found->second;
  const uint32_t index = answer.token.target;
  LiveTarget& target = job.targets[index];
  const StepKind kind = target.stage.value_or(StepKind::sign);
  if (is_end(target.row.state) || !target.looking || answer.token.kind != kind ||
      answer.key != key_of(target, job, index, kind))
    return;
  target.looking = false;
  const bool first = !target.stage;
  if (usable(job, target, kind, answer) && (!first || answer.result->success)) {
    use_result(job, index, {kind, answer.key, answer.result->generation, 0, Source::cache},
               *answer.result);
  } else if (first) {
    advance(job, index);
  } else if (const auto running = in_flight.find(answer.key); running != in_flight.end()) {
    attach(job, index, steps.at(running->second));
  } else {
    make_step(job, index, kind, answer.key, answer.next_generation);
  }
  answer_submit(job);
}

// A rebuild takes only what it built itself before the coordinator restarted.
bool CoreState::usable(const LiveJob& job, const LiveTarget& target, StepKind kind,
                       const LookupAnswer& answer) const {
  if (!answer.result) return false;
  if (kind == StepKind::sign && answer.result->success &&
      !blob_named(answer.result->outputs, "engine"))
    return false;
  if (!job.row.request.rebuild) return true;
  const StepUse* use = use_of(target, kind);
  return use != nullptr && use->key == answer.key && use->step != 0 &&
         use->generation <= answer.result->generation;
}

void CoreState::use_result(LiveJob& job, uint32_t index, const StepUse& use,
                           const StepResult& result) {
  LiveTarget& target = job.targets[index];
  note_use(job, target, use);
  if (!result.success) return fail_target(job, index, result.fault, TargetState::failed);
  absorb(target.outputs, result.outputs);
  absorb(target.metrics, result.metrics);
  absorb(target.facts, result.facts);
  if (use.kind == StepKind::sign) return finish_target(job, index);
  save_target(job, index);
  advance(job, index);
}

void CoreState::make_step(LiveJob& job, uint32_t index, StepKind kind, const Digest& key,
                          int64_t generation) {
  LiveTarget& target = job.targets[index];
  const TargetRequest& request = job.row.request.targets[index];
  const uint64_t id = next_step++;
  LiveStep& step = steps[id];
  step.row.id = id;
  step.row.job = job.row.number;
  step.row.kind = kind;
  step.row.key = key;
  step.row.generation = generation;
  if (kind != StepKind::validate) {
    step.row.sku = request.sku;
    step.row.toolchain = request.toolchain;
    step.row.provisional = request.provisional;
  }
  step.row.state = kind == StepKind::sign ? StepState::committing : StepState::queued;
  in_flight[key] = id;
  save(RecordAction{key_bytes_of(target, job, index, kind)});
  save(SaveStep{step.row});
  record(job.row.number, "queued",
         {{"step", std::to_string(id)}, {"kind", to_string(kind)}, {"sku", step.row.sku}});
  attach(job, index, step);
}

void CoreState::attach(LiveJob& job, uint32_t index, LiveStep& step) {
  LiveTarget& target = job.targets[index];
  target.step = step.row.id;
  step.waiters.insert({job.row.number, index});
  const Source source = step.row.job == job.row.number ? Source::built : Source::joined;
  note_use(job, target, {step.row.kind, step.row.key, step.row.generation, step.row.id, source});
  const std::string& sku = job.row.request.targets[index].sku;
  const std::string label = step.row.kind == StepKind::validate
                                ? to_string(step.row.kind)
                                : sku + " " + to_string(step.row.kind);
  out->log_routes.push_back({step.row.id, job_id(job.row.number), label});
  save_target(job, index);
  update_job(job);
  if (step.row.kind == StepKind::sign)
    ask_for_signature(step);
  else if (step.row.state == StepState::queued)
    enqueue(step);
}

void CoreState::note_use(LiveJob&, LiveTarget& target, StepUse use) {
  for (StepUse& have : target.row.uses) {
    if (have.kind != use.kind) continue;
    // After a restart the target walks again over what it built or joined before: that stays its
    // source.
    if (have.key != use.key || have.generation != use.generation) have = use;
    return;
  }
  target.row.uses.push_back(use);
}

void CoreState::finish_target(LiveJob& job, uint32_t index) {
  LiveTarget& target = job.targets[index];
  const NamedBlob* engine = blob_named(target.outputs, "engine");
  ENSURE(engine != nullptr, "a signed target without an engine");
  TargetRow& row = target.row;
  row.state = TargetState::done;
  row.source = source_of(row.uses);
  row.engine = engine->digest;
  row.size_bytes = engine->size_bytes;
  row.latency_ms = number_named(target.metrics, "latency_ms");
  const uint64_t measured = count_named(target.metrics, "timings_measured");
  const uint64_t reused = count_named(target.metrics, "timings_reused");
  const StepUse* tune = use_of(target, StepKind::tune);
  const bool measured_here = tune != nullptr && tune->source == Source::built;
  row.timings_measured = measured_here ? measured : 0;
  row.timings_reused = measured_here ? reused : measured + reused;
  save_target(job, index);

  const SubmitRequest& request = job.row.request;
  EngineView view{request.name, request.targets[index].sku, engine->digest};
  if (const auto content = Digest::parse(text_named(target.facts, "content_digest"));
      content.ok()) {
    view.content_digest = *content;
  } else if (const NamedBlob* blob = blob_named(target.outputs, "content")) {
    view.content_digest = blob->digest;
  }
  view.model = request.model;
  view.key = target.engine_key;
  view.precision = text_named(target.facts, "precision");
  view.size_bytes = row.size_bytes;
  view.latency_ms = row.latency_ms;
  view.provisional = request.targets[index].provisional;
  view.created_ns = now.wall.count();
  save(AddEngine{std::move(view), request.tags});
  record(job.row.number, "target_done",
         {{"sku", request.targets[index].sku}, {"engine", engine->digest.text()}});
  update_job(job);
}

void CoreState::fail_target(LiveJob& job, uint32_t index, const Fault& fault, TargetState end) {
  LiveTarget& target = job.targets[index];
  target.row.state = end;
  target.row.fault = fault;
  target.row.source = source_of(target.row.uses);
  target.looking = false;
  target.step = 0;
  save_target(job, index);
  record(job.row.number, "target_ended",
         {{"sku", job.row.request.targets[index].sku},
          {"state", to_string(end)},
          {"message", fault.message}});
  update_job(job);
  answer_submit(job);
}

// An earlier result lost its blobs: the way begins again, and the lookups, which check them, build
// what is gone.
void CoreState::restart_target(LiveJob& job, uint32_t index) {
  LiveTarget& target = job.targets[index];
  if (++target.restarts > kMaxRestarts)
    return fail_target(
        job, index, {ErrorCode::corrupt_data, "blobs of earlier steps disappeared again and again"},
        TargetState::failed);
  begin_target(job, index);
}

Digest CoreState::key_of(const LiveTarget& target, const LiveJob& job, uint32_t index,
                         StepKind kind) const {
  switch (kind) {
    case StepKind::validate:
      return target.validate_key;
    case StepKind::tune:
      return target.tune_key;
    case StepKind::sign:
      return target.engine_key;
    default:
      return sha256(key_bytes_of(target, job, index, kind));
  }
}

Bytes CoreState::key_bytes_of(const LiveTarget& target, const LiveJob& job, uint32_t index,
                              StepKind kind) const {
  const auto of_fields = [&](const char* name, const std::vector<NamedText>& fields) {
    ActionKey key(name, options.trust_domain);
    for (const NamedText& field : fields) key.add(field.name, field.value);
    return key.bytes();
  };
  const TargetRequest& request = job.row.request.targets[index];
  if (kind == StepKind::validate) return of_fields("validate", job.row.request.validate_key);
  if (kind == StepKind::tune) return of_fields("tune", request.tune_key);
  if (kind == StepKind::sign) return of_fields("engine", request.engine_key);
  ActionKey key(to_string(kind), options.trust_domain);
  key.add("engine", target.engine_key);
  for (const NamedBlob& input : target.outputs) key.add("input." + input.name, input.digest);
  return key.bytes();
}

void CoreState::save_target(LiveJob& job, uint32_t index) {
  save(SaveTarget{job.row.number, index, job.targets[index].row});
}

}  // namespace enginery
