#include "pipeline/step.h"

#include <algorithm>

#include "engine/base/result.h"

namespace enginery {
namespace {

// What tells, with the model, which network there is.
std::vector<std::string> of_network() {
  return {"calibration", "float_layers"};
}

// kind, name, doing, reads, leaves, needs, key, in [, leaves_untuned, takes, key_fields]
std::vector<Step> of_any_worker() {
  return {
      {StepKind::calibrate,
       "calibrate",
       "calibrating",
       {"model"},
       "calibration",
       Needs::nothing,
       KeyRule::of_model,
       InChain::calibrated_here,
       "",
       {"calib_data"},
       {"model", "shapes", "builder", "calib_data", "bias_correction"}},
      {StepKind::mix,
       "mix",
       "choosing the layers that stay in float",
       {"model"},
       "float_layers",
       Needs::nothing,
       KeyRule::of_model,
       InChain::budgeted,
       "",
       {"calibration", "held_out"},
       {"model", "shapes", "builder", "calibration", "calibrator", "calib_data", "held_out",
        "max_accuracy_drop", "layer_precisions", "bias_correction"}},
      {StepKind::validate,
       "validate",
       "validating",
       {"model"},
       "",
       Needs::nothing,
       KeyRule::of_model,
       InChain::every_build,
       "",
       of_network()},
  };
}

std::vector<Step> of_device() {
  return {
      {StepKind::tune,
       "tune",
       "tuning",
       {"model"},
       "choices",
       Needs::device_alone,
       KeyRule::of_structure,
       InChain::tuned_only,
       "",
       of_network()},
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
       "unsigned",
       of_network()},
      {StepKind::verify,
       "verify",
       "verifying",
       {"model", "content"},
       "",
       Needs::device,
       KeyRule::chained,
       InChain::tuned_only,
       "",
       of_network()},
      // The model: for the engine without a tactic that fails only here.
      {StepKind::profile,
       "profile",
       "profiling",
       {"model", "choices", "content"},
       "unsigned",
       Needs::device_alone,
       KeyRule::chained,
       InChain::tuned_only,
       "",
       {"calibration", "float_layers", "held_out"}},
      {StepKind::sign,
       "sign",
       "signing",
       {"unsigned"},
       "engine",
       Needs::signing_key,
       KeyRule::of_engine,
       InChain::every_build},
  };
}

std::vector<Step> all_steps() {
  std::vector<Step> out = of_any_worker();
  const std::vector<Step> more = of_device();
  out.insert(out.end(), more.begin(), more.end());
  return out;
}

}  // namespace

StepTable steps() {
  static const std::vector<Step> table = all_steps();
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

std::vector<std::string> inputs_of(const Step& step, Way way, StepTable table) {
  std::vector<std::string> inputs;
  for (const std::string& name : step.reads) {
    bool left = name == "model";
    for (const Step& earlier : table) {
      if (&earlier == &step) break;
      left = left || (is_in_chain(earlier, way) && needed_output(earlier, way.provisional) == name);
    }
    if (left) inputs.push_back(name);
  }
  return inputs;
}

bool reads_model(const Step& step) {
  return std::find(step.reads.begin(), step.reads.end(), "model") != step.reads.end();
}

const std::string& needed_output(const Step& step, bool provisional) {
  return provisional && !step.leaves_untuned.empty() ? step.leaves_untuned : step.leaves;
}

bool is_in_chain(const Step& step, Way way) {
  switch (step.in) {
    case InChain::every_build:
      return true;
    case InChain::tuned_only:
      return !way.provisional;
    case InChain::calibrated_here:
      return way.calibrates;
    case InChain::budgeted:
      return way.has_budget;
  }
  return false;
}

}  // namespace enginery
