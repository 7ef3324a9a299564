#include "pipeline/step.h"

#include <algorithm>

#include "engine/base/result.h"

namespace enginery {

StepTable steps() {
  // kind, name, doing, reads, leaves, needs, key, in [, leaves_untuned]
  static const std::vector<Step> table = {
      {StepKind::validate,
       "validate",
       "validating",
       {"model"},
       "",
       Needs::nothing,
       KeyRule::of_model,
       InChain::every_build},
      {StepKind::tune,
       "tune",
       "tuning",
       {"model"},
       "choices",
       Needs::device_alone,
       KeyRule::of_structure,
       InChain::tuned_only},
      // The provisional engine is never run where it is built: its content gets its provenance at
      // once.
      {StepKind::assemble,
       "assemble",
       "assembling",
       {"model", "choices"},
       "content",
       Needs::device,
       KeyRule::chained,
       InChain::every_build,
       "unsigned"},
      {StepKind::verify,
       "verify",
       "verifying",
       {"model", "content"},
       "",
       Needs::device,
       KeyRule::chained,
       InChain::tuned_only},
      // The model: for the engine without a tactic that fails only here.
      {StepKind::profile,
       "profile",
       "profiling",
       {"model", "choices", "content"},
       "unsigned",
       Needs::device_alone,
       KeyRule::chained,
       InChain::tuned_only},
      {StepKind::sign,
       "sign",
       "signing",
       {"unsigned"},
       "engine",
       Needs::signing_key,
       KeyRule::of_engine,
       InChain::every_build},
  };
  return table;
}

const Step& step_of(StepKind kind, StepTable table) {
  for (const Step& step : table)
    if (step.kind == kind) return step;
  ENSURE(false, "a step kind without a row in the table");
}

const Step* find_step(std::string_view name, StepTable table) {
  const auto found =
      std::find_if(table.begin(), table.end(), [&](const Step& step) { return step.name == name; });
  return found == table.end() ? nullptr : &*found;
}

const char* to_string(StepKind kind, StepTable table) {
  for (const Step& step : table)
    if (step.kind == kind) return step.name.c_str();
  return "unknown";
}

std::string doing(std::string_view name, StepTable table) {
  const Step* step = find_step(name, table);
  return step ? step->doing : std::string(name);
}

bool may_crash(const Step& step) {
  return step.needs == Needs::device || step.needs == Needs::device_alone;
}

bool is_measuring(StepKind kind, StepTable table) {
  return step_of(kind, table).needs == Needs::device_alone;
}

bool is_shareable(const Step& step) {
  return step.needs == Needs::device_alone && step.key == KeyRule::of_structure;
}

bool can_reuse_runner(const Step& step) {
  return may_crash(step) && !is_shareable(step);
}

bool is_runner_awaited(const Step& step, StepTable table) {
  bool is_later = false;
  for (const Step& other : table) {
    if (is_later && can_reuse_runner(other)) return true;
    is_later = is_later || other.kind == step.kind;
  }
  return false;
}

std::vector<std::string> inputs_of(const Step& step, bool provisional, StepTable table) {
  std::vector<std::string> inputs;
  for (const std::string& name : step.reads) {
    bool left = name == "model";
    for (const Step& earlier : table) {
      if (&earlier == &step) break;
      left = left ||
             (is_in_chain(earlier, provisional) && needed_output(earlier, provisional) == name);
    }
    if (left) inputs.push_back(name);
  }
  return inputs;
}

bool reads_model(const Step& step) {
  return std::find(step.reads.begin(), step.reads.end(), "model") != step.reads.end();
}

bool reads_held_out(const Step& step) {
  return step.kind == StepKind::profile;
}

const std::string& needed_output(const Step& step, bool provisional) {
  return provisional && !step.leaves_untuned.empty() ? step.leaves_untuned : step.leaves;
}

bool is_in_chain(const Step& step, bool provisional) {
  return step.in == InChain::every_build || !provisional;
}

}  // namespace enginery
