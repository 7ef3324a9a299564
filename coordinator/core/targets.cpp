#include "coordinator/core/targets.h"

#include "coordinator/core/explain.h"
#include "pipeline/claims.h"

namespace enginery {
namespace {

constexpr int kMaxRestarts = 2;

const StepUse* use_of(const LiveTarget& target, StepKind kind) {
  for (const StepUse& use : target.row.uses)
    if (use.kind == kind) return &use;
  return nullptr;
}

void note_use(LiveTarget& target, const StepUse& use) {
  for (StepUse& have : target.row.uses) {
    if (have.kind != use.kind) continue;
    // After a restart the target walks again over what it built or joined before: that stays its
    // source.
    if (have.key != use.key || have.generation != use.generation) have = use;
    return;
  }
  target.row.uses.push_back(use);
}

}  // namespace

const Build& Targets::add(uint64_t job, SubmitRequest request, std::vector<TargetRow> rows) {
  Build& build = builds_[job];
  build.request = std::move(request);
  // A submit with options that cannot be read was refused.
  if (auto options = parse_options(build.request.options); options.ok())
    build.options = std::move(*options);
  build.targets.resize(rows.size());
  const std::string& domain = domain_of(build.request, options_);
  for (uint32_t i = 0; i < rows.size(); ++i) {
    build.targets[i].row = std::move(rows[i]);
    build.targets[i].keys = key_digests(fields_of({job, i}), domain, options_.steps);
  }
  return build;
}

void Targets::record_keys(uint64_t job, Turn& turn) const {
  const SubmitRequest& request = builds_.at(job).request;
  const auto record = [&](const Step& step, uint32_t target) {
    turn.save(RecordAction{
        step_key(step, fields_of({job, target}), {}, domain_of(request, options_)).bytes()});
  };
  for (const Step& step : options_.steps)
    if (step.key == KeyRule::of_model) record(step, 0);
  for (uint32_t i = 0; i < request.targets.size(); ++i) {
    record(last_step(options_.steps), i);
    for (const Step& step : options_.steps)
      if (step.key == KeyRule::of_structure && is_in_chain(step, way_of_target({job, i})) &&
          !way_of_target({job, i}).makes_network())
        record(step, i);
  }
}

void Targets::forget_details(uint64_t job) {
  Build& build = builds_.at(job);
  build.request.validate_key = {};
  for (TargetRequest& target : build.request.targets) target.engine_key = target.tune_key = {};
  for (LiveTarget& target : build.targets) target.gathered = {};
  queue_.forget_job(job);
}

bool Targets::may_go(uint64_t job) const {
  for (const LiveTarget& target : builds_.at(job).targets) {
    for (const StepUse& use : target.row.uses) {
      const LiveStep* step = queue_.find(use.step);
      if (step != nullptr && !is_end(step->row.state)) return false;
    }
  }
  return true;
}

std::vector<uint64_t> Targets::forget(uint64_t job) {
  std::set<uint64_t> made;
  for (const LiveTarget& target : builds_.at(job).targets) {
    for (const StepUse& use : target.row.uses) {
      const LiveStep* step = queue_.find(use.step);
      if (step == nullptr || step->row.job != job) continue;
      made.insert(use.step);
      made.insert(step->sharing.assistants.begin(), step->sharing.assistants.end());
    }
  }
  for (const uint64_t step : made) queue_.forget(step);
  builds_.erase(job);
  return {made.begin(), made.end()};
}

const LiveTarget& Targets::target(const Waiter& at) const {
  return builds_.at(at.job).targets[at.target];
}

const TargetRequest& Targets::request_of(const Waiter& waiter) const {
  return builds_.at(waiter.job).request.targets[waiter.target];
}

KeyFields Targets::fields_of(const Waiter& waiter) const {
  const SubmitRequest& request = builds_.at(waiter.job).request;
  const TargetRequest& target = request.targets[waiter.target];
  return {request.validate_key, target.tune_key, target.engine_key};
}

const Step& Targets::stage_of(const LiveTarget& target) const {
  return target.stage ? step_of(*target.stage, options_.steps) : last_step(options_.steps);
}

Digest Targets::key_of(const Waiter& waiter, const Step& step) const {
  return step_key_digest(step, target(waiter).keys, target(waiter).gathered.outputs,
                         domain_of(builds_.at(waiter.job).request, options_));
}

Change Targets::begin(const Waiter& waiter, Turn& turn) {
  LiveTarget& target = at(waiter);
  target.stage.reset();
  target.step = 0;
  target.gathered = {};
  return builds_.at(waiter.job).request.rebuild ? advance(waiter, turn) : look_up(waiter, turn);
}

Change Targets::advance(const Waiter& waiter, Turn& turn) {
  LiveTarget& target = at(waiter);
  const Step* next = next_step(target.stage, way_of_target(waiter), options_.steps);
  ENSURE(next != nullptr, "a target goes on after its last step");
  learn_structure(waiter, *next);
  if (const std::string problem = false_claim(waiter, *next); !problem.empty())
    return fail(waiter, {ErrorCode::invalid_argument, problem}, TargetState::failed, turn);
  target.stage = next->kind;
  target.step = 0;
  if (const auto running = queue_.in_flight(key_of(waiter, *next)))
    return attach(waiter, *running, turn);
  return look_up(waiter, turn);
}

Way Targets::way_of_target(const Waiter& waiter) const {
  return way_of(builds_.at(waiter.job).options, request_of(waiter).provisional);
}

void Targets::learn_structure(const Waiter& waiter, const Step& next) {
  if (next.key != KeyRule::of_structure || !way_of_target(waiter).makes_network()) return;
  Build& build = builds_.at(waiter.job);
  for (NamedText& field : build.request.targets[waiter.target].tune_key)
    if (field.name == "structure")
      field.value = text_named(target(waiter).gathered.facts, "structure");
  at(waiter).keys =
      key_digests(fields_of(waiter), domain_of(build.request, options_), options_.steps);
}

// The result would be kept as the answer to the key, for every model of that structure.
std::string Targets::false_claim(const Waiter& waiter, const Step& next) const {
  if (next.key != KeyRule::of_structure) return "";
  const std::string claimed = field_of(request_of(waiter).tune_key, "structure"),
                    found = text_named(target(waiter).gathered.facts, "structure");
  if (claimed == found) return "";
  return "the key of the tuning for " + request_of(waiter).sku + " claims structure '" +
         claimed.substr(0, 200) + "', but validation found '" + found.substr(0, 200) +
         "'; submit again with the enginery that the farm's workers run";
}

Change Targets::look_up(const Waiter& waiter, Turn& turn) {
  LiveTarget& target = at(waiter);
  const Step& stage = stage_of(target);
  target.looking = true;
  turn.out.lookups.push_back({{waiter.job, waiter.target, stage.kind, 0}, key_of(waiter, stage)});
  return Change::none;
}

std::optional<Change> Targets::looked_up(const LookupAnswer& answer, Turn& turn) {
  const Waiter waiter{answer.token.job, answer.token.target};
  const auto build = builds_.find(waiter.job);
  if (build == builds_.end() || waiter.target >= build->second.targets.size()) return std::nullopt;
  LiveTarget& target = at(waiter);
  const Step& step = stage_of(target);
  if (is_end(target.row.state) || !target.looking || answer.token.kind != step.kind ||
      answer.key != key_of(waiter, step))
    return std::nullopt;
  target.looking = false;
  const bool first = !target.stage;
  if (usable(waiter, step, answer) && (!first || answer.result->success))
    return use_result(waiter, {step.kind, answer.key, answer.result->generation, 0, Source::cache},
                      *answer.result, turn);
  if (first) return advance(waiter, turn);
  if (const auto running = queue_.in_flight(answer.key)) return attach(waiter, *running, turn);
  if (builds_.at(waiter.job).request.try_quarantined) queue_.forgive(answer.key, turn);
  if (const auto quarantine = queue_.quarantine_of(answer.key, step.kind, turn.now))
    return fail(waiter, *quarantine, TargetState::failed, turn);
  return attach(waiter, make_step(waiter, step, answer, turn), turn);
}

// A rebuild takes only what it built itself before the coordinator restarted.
bool Targets::usable(const Waiter& waiter, const Step& step, const LookupAnswer& answer) const {
  if (!answer.result || !answers(*answer.result, step, request_of(waiter).provisional))
    return false;
  if (!builds_.at(waiter.job).request.rebuild) return true;
  const StepUse* use = use_of(target(waiter), step.kind);
  return use != nullptr && use->key == answer.key && use->step != 0 &&
         use->generation <= answer.result->generation;
}

Change Targets::use(const Waiter& waiter, const StepCommitted& event, Turn& turn) {
  const Source source = event.job == waiter.job ? Source::built : Source::joined;
  at(waiter).step = 0;
  return use_result(waiter, {event.kind, event.key, event.generation, event.step, source},
                    event.result, turn);
}

Change Targets::use_result(const Waiter& waiter, const StepUse& use, const StepResult& result,
                           Turn& turn) {
  LiveTarget& target = at(waiter);
  note_use(target, use);
  if (!result.success) return fail(waiter, result.fault, TargetState::failed, turn);
  absorb(target.gathered, result);
  if (use.kind == last_step(options_.steps).kind) return finish(waiter, turn);
  save(waiter, turn);
  return advance(waiter, turn);
}

uint64_t Targets::make_step(const Waiter& waiter, const Step& step, const LookupAnswer& answer,
                            Turn& turn) {
  const TargetRequest& request = request_of(waiter);
  StepRow row;
  row.job = waiter.job;
  row.kind = step.kind;
  row.key = answer.key;
  row.generation = answer.next_generation;
  if (step.needs != Needs::nothing) {
    row.sku = request.sku;
    row.toolchain = request.toolchain;
    row.provisional = request.provisional;
  }
  row.state = step.needs == Needs::signing_key ? StepState::committing : StepState::queued;
  const ActionKey key = step_key(step, fields_of(waiter), target(waiter).gathered.outputs,
                                 domain_of(builds_.at(waiter.job).request, options_));
  return queue_.add(std::move(row), key.bytes(), turn);
}

Change Targets::attach(const Waiter& waiter, uint64_t id, Turn& turn) {
  LiveTarget& target = at(waiter);
  const SubmitRequest& request = builds_.at(waiter.job).request;
  target.step = id;
  queue_.join(id, waiter, {request.client, request.priority});
  const StepRow& row = queue_.step(id).row;
  const Source source = row.job == waiter.job ? Source::built : Source::joined;
  note_use(target, {row.kind, row.key, row.generation, id, source});
  queue_.allow_sharers(id, request.tuning_workers);
  route_log(waiter, queue_.step(id), turn);
  for (const uint64_t assistant : queue_.assistants_at_work(queue_.step(id)))
    route_log(waiter, queue_.step(assistant), turn);
  const Step& step = step_of(row.kind, options_.steps);
  save(waiter, turn);
  if (step.needs == Needs::signing_key)
    ask_for_signature(id, turn);
  else
    queue_.make_ready(id, turn);
  return Change::moved;
}

void Targets::route_log(const Waiter& waiter, const LiveStep& step, Turn& turn) const {
  const Step& row = step_of(step.row.kind, options_.steps);
  std::string label =
      row.needs == Needs::nothing ? row.name : request_of(waiter).sku + " " + row.name;
  if (step.ordinal > 0) label += " assistant " + std::to_string(step.ordinal);
  turn.out.log_routes.push_back({step.row.id, job_id(waiter.job), std::move(label)});
}

void Targets::route_log(const LiveStep& assistant, Turn& turn) const {
  for (const Waiter& waiter : queue_.waiters_of(assistant)) route_log(waiter, assistant, turn);
}

Change Targets::finish(const Waiter& waiter, Turn& turn) {
  LiveTarget& target = at(waiter);
  const auto finished = finished_target(target.gathered, target.row.uses, options_.steps);
  ENSURE(finished.has_value(), "a signed target without an engine");
  TargetRow& row = target.row;
  row.state = TargetState::done;
  row.source = source_of(row.uses);
  row.engine = finished->engine.digest;
  row.size_bytes = finished->engine.size_bytes;
  row.latency_ms = finished->latency_ms;
  row.timings_measured = finished->timings_measured;
  row.timings_reused = finished->timings_reused;
  row.accuracy = finished->accuracy;
  row.calibration = finished->calibration;
  row.note = finished->note;
  save(waiter, turn);

  const SubmitRequest& request = builds_.at(waiter.job).request;
  const TargetRequest& wanted = request.targets[waiter.target];
  EngineView view{request.name, wanted.sku, finished->engine.digest};
  if (finished->content_digest) view.content_digest = *finished->content_digest;
  view.model = request.model;
  view.key = target.keys.engine;
  view.precision = finished->precision;
  view.size_bytes = row.size_bytes;
  view.latency_ms = row.latency_ms;
  view.provisional = wanted.provisional;
  view.created_ns = turn.now.wall.count();
  turn.save(AddEngine{std::move(view), request.tags});
  turn.record(waiter.job, "target_done",
              {{"sku", wanted.sku}, {"engine", finished->engine.digest.text()}});
  return Change::ended;
}

Change Targets::fail(const Waiter& waiter, const Fault& fault, TargetState end, Turn& turn) {
  LiveTarget& target = at(waiter);
  target.row.state = end;
  target.row.fault = fault;
  target.row.source = source_of(target.row.uses);
  target.looking = false;
  target.step = 0;
  save(waiter, turn);
  turn.record(
      waiter.job, "target_ended",
      {{"sku", request_of(waiter).sku}, {"state", to_string(end)}, {"message", fault.message}});
  return Change::ended;
}

Change Targets::give_up(const Waiter& waiter, const StepGaveUp& event, Turn& turn) {
  at(waiter).step = 0;
  return event.inputs_gone ? restart(waiter, event.fault, turn)
                           : fail(waiter, event.fault, TargetState::failed, turn);
}

// An earlier result has lost its blobs: the way begins again, and the lookups, which check them,
// build what is gone. The model itself nobody here can make again.
Change Targets::restart(const Waiter& waiter, const Fault& fault, Turn& turn) {
  LiveTarget& target = at(waiter);
  if (++target.restarts[target.stage] <= kMaxRestarts) return begin(waiter, turn);
  return fail(waiter,
              {ErrorCode::corrupt_data,
               "what its steps read disappeared again and again: " + fault.message +
                   "; submitting the model again uploads what is missing"},
              TargetState::failed, turn);
}

Change Targets::cancel(const Waiter& waiter, Turn& turn) {
  if (is_end(at(waiter).row.state)) return Change::none;
  return fail(waiter, {ErrorCode::cancelled, "cancelled"}, TargetState::cancelled, turn);
}

void Targets::note_running(uint64_t job) {
  for (LiveTarget& target : builds_.at(job).targets) {
    if (target.row.state != TargetState::queued || target.step == 0) continue;
    const StepState state = queue_.step(target.step).row.state;
    if (state == StepState::leased || state == StepState::running || state == StepState::committing)
      target.row.state = TargetState::running;
  }
}

void Targets::save(const Waiter& waiter, Turn& turn) const {
  turn.save(SaveTarget{waiter.job, waiter.target, target(waiter).row});
}

void Targets::ask_for_signature(uint64_t id, Turn& turn) {
  const LiveStep& step = queue_.step(id);
  const Waiter& waiter = *step.waiters.begin();
  const LiveTarget& target = this->target(waiter);
  const std::string& input = step_of(step.row.kind, options_.steps).reads.front();
  const auto digest_of = [&](std::string_view name) {
    const NamedBlob* blob = blob_named(target.gathered.outputs, name);
    return blob == nullptr ? Digest{} : blob->digest;
  };
  UnsignedEngine engine;
  engine.blob = digest_of(input);
  engine.content = digest_of("content");
  engine.model = builds_.at(waiter.job).request.model;
  engine.key = target.keys.engine;
  engine.sku = request_of(waiter).sku;
  for (const Step& row : options_.steps)
    if (is_in_chain(row, way_of_target(waiter)) &&
        needed_output(row, request_of(waiter).provisional) == input)
      engine.worker = worker_of_step(target.gathered, row.name);
  engine.facts = facts_of_request(builds_.at(waiter.job).options);
  queue_.ask_for_signature(id, std::move(engine), turn);
}

StepResult Targets::signed_result_of(const LiveStep& step, const NamedBlob& engine) const {
  return signed_result(target(*step.waiters.begin()).gathered, engine);
}

std::string Targets::why_waiting(const LiveTarget& target, Now now) const {
  if (is_end(target.row.state)) return "";
  if (target.looking) return "asks the catalog";
  if (target.step == 0) return "is between two steps";
  return why_step_waits(queue_, queue_.step(target.step), now);
}

std::string Targets::check() const {
  for (const auto& [job, build] : builds_) {
    for (uint32_t i = 0; i < build.targets.size(); ++i) {
      const std::string rule = check_target({job, i});
      if (!rule.empty()) return job_id(job) + " " + rule;
    }
  }
  return "";
}

std::string Targets::check_target(const Waiter& waiter) const {
  const LiveTarget& target = this->target(waiter);
  if (is_end(target.row.state))
    return target.step == 0 && !target.looking ? "" : "has an ended target that waits";
  if (!target.looking && target.step == 0) return "has a target that waits for nothing";
  if (target.step == 0) return "";
  const LiveStep* step = queue_.find(target.step);
  if (step == nullptr || is_end(step->row.state)) return "waits for an ended step";
  if (!step->waiters.count(waiter)) return "waits for a step that does not know of it";
  if (step->row.key != key_of(waiter, stage_of(target)))
    return "waits for a step with another key than its own";
  return "";
}

}  // namespace enginery
