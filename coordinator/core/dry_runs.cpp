#include "coordinator/core/dry_runs.h"

#include "pipeline/chain.h"

namespace enginery {

namespace {

bool is_known(const std::string& sku, const OfferedSkus& skus) {
  const auto found = skus.lower_bound({sku, ""});
  return found != skus.end() && found->first.first == sku;
}

}  // namespace

void DryRuns::begin(const Request& request, const SubmitRequest& submit, Turn& turn) {
  const uint64_t id = next_++;
  DryRun& run = runs_[id];
  run.to = request.to;
  run.request = submit;
  run.view.name = submit.name;
  run.view.model_name = submit.model_name;
  run.view.model = submit.model;
  run.view.client = submit.client;
  run.view.options = submit.options;
  const Step& last = last_step(options_.steps);
  const std::string& domain = domain_of(submit, options_);
  for (uint32_t i = 0; i < submit.targets.size(); ++i) {
    const TargetRequest& target = submit.targets[i];
    const KeyDigests keys = key_digests({submit.validate_key, target.tune_key, target.engine_key},
                                        domain, options_.steps);
    TargetView view;
    view.sku = target.sku;
    view.provisional = target.provisional;
    view.source = Source::built;
    view.key = keys.engine;
    if (!target.provisional && !is_known(target.sku, queue_.skus()))
      view.note = "no worker has ever offered this SKU";
    if (target.provisional) view.note = "would be untuned: choices from the analytic model";
    run.view.targets.push_back(view);
    turn.out.lookups.push_back({{0, i, last.kind, id}, keys.engine});
    ++run.open;
    const auto options = parse_options(submit.options);
    if (options.ok() && way_of(*options, target.provisional).makes_network()) {
      if (view.note.empty())
        run.view.targets.back().note = "would be built; what is tuned shows after its calibration";
      continue;
    }
    for (const Step& step : options_.steps) {
      if (step.key != KeyRule::of_structure) continue;
      turn.out.lookups.push_back({{0, i, step.kind, id}, step_key_digest(step, keys, {}, domain)});
      ++run.open;
    }
  }
}

void DryRuns::answer(const LookupAnswer& answer, Turn& turn) {
  const auto found = runs_.find(answer.token.dry_run);
  if (found == runs_.end()) return;
  DryRun& run = found->second;
  TargetView& target = run.view.targets.at(answer.token.target);
  const bool hit = answer.result && answer.result->success && !run.request.rebuild;
  if (answer.token.kind == last_step(options_.steps).kind)
    note_engine(target, answer, hit);
  else if (target.source != Source::cache && target.note.empty())
    note_tuning(target, answer, hit);
  if (--run.open > 0) return;
  turn.reply(run.to, JobReply{run.view});
  runs_.erase(found);
}

void DryRuns::note_engine(TargetView& target, const LookupAnswer& answer, bool hit) const {
  if (!hit) {
    if (queue_.in_flight(answer.key)) target.source = Source::joined;
    return;
  }
  target.source = Source::cache;
  target.state = TargetState::done;
  target.note = "the catalog has it";
  const std::string& name = last_step(options_.steps).leaves;
  if (const NamedBlob* engine = blob_named(answer.result->outputs, name)) {
    target.engine = engine->digest;
    target.size_bytes = engine->size_bytes;
  }
}

void DryRuns::note_tuning(TargetView& target, const LookupAnswer& answer, bool hit) const {
  if (hit)
    target.note = "would be built without measuring: its tuning is in the catalog";
  else if (queue_.in_flight(answer.key))
    target.note = "would join a tuning that runs now";
  else
    target.note = "would be tuned and built";
}

}  // namespace enginery
