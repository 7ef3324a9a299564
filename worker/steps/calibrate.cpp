#include "tuner/accuracy/held_out_rows.h"
#include "tuner/calibrate/calibrator.h"
#include "tuner/collect/calibration_data.h"
#include "tuner/collect/collect.h"
#include "worker/steps/float_model.h"
#include "worker/steps/step_functions.h"

namespace enginery {

Result<StepOutputs> calibrate_step(const StepContext& step) {
  TRY(const auto rows, input_named(step, std::string(kCalibDataInput)));
  TRY(const HeldOutRows tensors, decode_rows(*rows));
  TRY(const LoadedModel model, load_in_float(step.session.spec()));
  TRY(CalibrationData data,
      CalibrationData::of(tensors, input_descriptions(model.imported), "the calibration's data"));
  CollectOptions options;
  options.watch = float_device(step);
  options.with_channels = step.session.options().bias_correction;
  const RowProgress progress = progress_of(step, doing("calibrate"));
  // Who cancels is asked before every batch.
  options.progress = [&](int64_t done, int64_t total) { (void)progress(done, total); };
  options.cancelled = step.hooks.cancelled;
  TRY(const HistogramSet set, collect(model.imported, data, options));
  if (const std::string constant = constant_tensors_note(set); !constant.empty())
    step.hooks.log(constant);
  StepOutputs out;
  out.blobs[std::string(kCalibrationInput)] = to_blob(encode(set));
  out.facts = {{"calibration", set.digest().text()}};
  out.metrics = {{"calibration_rows", static_cast<double>(set.samples)}};
  return out;
}

}  // namespace enginery
