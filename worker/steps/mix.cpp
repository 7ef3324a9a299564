#include <cstdlib>

#include "engine/compile/layers_meant.h"
#include "tuner/accuracy/layer_budget.h"
#include "tuner/calibrate/table.h"
#include "worker/steps/float_model.h"
#include "worker/steps/step_functions.h"

namespace enginery {

Result<StepOutputs> mix_step(const StepContext& step) {
  const BuildSessionSpec& spec = step.session.spec();
  TRY(const auto rows, input_named(step, std::string(kHeldOutInput)));
  if (!spec.calibration)
    return Error{ErrorCode::internal, "the step was started without its calibration"};
  TRY(const CalibrationTable table, read_calibration(*spec.calibration, spec.options.calibrator));
  TRY(const LoadedModel model, load_in_float(spec));
  const WatchOptions device = float_device(step);
  TRY(HeldOutCheck check,
      HeldOutCheck::make(model.imported, *rows, device, progress_of(step, "the model in float")));
  LayerBudget budget;
  budget.max_drop_percent = std::strtod(spec.options.max_accuracy_drop.c_str(), nullptr);
  budget.device = device;
  budget.means = table.means;
  const LayerPrecisions asked = with_names(spec.options.layer_precisions, model.imported);
  budget.wanted = [&](const std::string& layer) { return may_be_int8(asked, layer); };
  budget.progress = [&](const std::string& phase) { return progress_of(step, phase); };
  auto kept =
      layers_in_float(model.imported, {table.scales, table.unusable, table.model}, check, budget);
  if (!kept.ok()) return kept.error();
  for (const OutputAccuracy& output : kept->all.outputs)
    step.hooks.log("all layers in int8: " + to_text(output));
  if (!kept->layers.empty()) {
    const std::string which = std::to_string(kept->layers.size()) + " layers in float: ";
    for (const OutputAccuracy& output : kept->kept.outputs) step.hooks.log(which + to_text(output));
  }
  for (const LayerSensitivity& layer : kept->sensitivities)
    step.hooks.log("alone in int8: " + to_text(layer));
  StepOutputs out;
  out.blobs[std::string(kFloatLayersInput)] = to_blob(write_float_layers(kept->layers));
  out.metrics = {{"float_layers", static_cast<double>(kept->layers.size())},
                 {"int8_layers", static_cast<double>(kept->int8_layers)}};
  return out;
}

}  // namespace enginery
