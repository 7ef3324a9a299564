#include "worker/steps/float_check.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "pipeline/step.h"
#include "tuner/accuracy/engine_network.h"
#include "tuner/accuracy/sensitivity.h"
#include "tuner/calibrate/table.h"
#include "worker/steps/float_model.h"

namespace enginery {
namespace {

std::string fixed(double value, const char* unit) {
  char out[64];
  std::snprintf(out, sizeof out, "%.2f%s", value, unit);
  return out;
}

bool is_quantized(const std::shared_ptr<const Bytes>& content) {
  const auto file = read_unsigned_engine(content);
  return file.ok() && std::ranges::count(file->manifest.precisions, "int8") > 0;
}

// "; the most sensitive layers, each alone in int8: conv1 18.2 dB, ...": where the model was
// quantised by a calibration; else "".
Result<std::string> sensitive_layers(const StepContext& step, const Graph& in_float,
                                     HeldOutCheck& check, const WatchOptions& device) {
  const BuildSessionSpec& spec = step.session.spec();
  TRY(const CalibrationTable table, read_calibration(*spec.calibration, spec.options.calibrator));
  TRY(const auto layers,
      layer_sensitivity(in_float, {table.scales, table.unusable, table.model}, table.means, check,
                        device, progress_of(step, "sensitivity of layers")));
  for (const LayerSensitivity& layer : layers) step.hooks.log("alone in int8: " + to_text(layer));
  return most_sensitive(layers);
}

std::string lines_of(const AccuracyFigures& figures) {
  std::string out;
  for (const OutputAccuracy& output : figures.outputs) out += to_text(output) + "\n";
  return out;
}

}  // namespace

Result<std::optional<AccuracyFigures>> hold_against_float(
    const StepContext& step, const std::shared_ptr<const Bytes>& content) {
  const BuildSessionSpec& spec = step.session.spec();
  if (spec.options.held_out.empty()) return std::optional<AccuracyFigures>();
  TRY(const auto rows, input_named(step, std::string(kHeldOutInput)));
  TRY(const Target* target, step.session.target());
  TRY(const LoadedModel model, load_in_float(spec));
  const WatchOptions device = float_device(step);
  TRY(HeldOutCheck check,
      HeldOutCheck::make(model.imported, *rows, device, progress_of(step, "the model in float")));
  TRY(const NetworkRun engine, engine_network(content, *target, model.imported));
  TRY(AccuracyFigures figures, check.compare(engine, progress_of(step, "accuracy")));
  for (const OutputAccuracy& output : figures.outputs) step.hooks.log(to_text(output));
  const std::string& limit = spec.options.max_accuracy_drop;
  if (limit.empty() || figures.drop_percent() <= std::strtod(limit.c_str(), nullptr))
    return std::optional(std::move(figures));
  std::string layers;
  if (step.session.is_calibrated() && is_quantized(content)) {
    TRY(layers, sensitive_layers(step, model.imported, check, device));
  }
  std::string outputs;
  for (const OutputAccuracy& output : figures.outputs) outputs += "; " + to_text(output);
  return Error{ErrorCode::unsupported, "accuracy on " + spec.sku + ": a drop of " +
                                           fixed(figures.drop_percent(), " %, more than the ") +
                                           limit + " % of --max-accuracy-drop" + outputs + layers};
}

void leave_figures(const AccuracyFigures& figures, StepOutputs& out) {
  out.metrics.push_back({"accuracy_rows", static_cast<double>(figures.rows())});
  out.metrics.push_back({"accuracy_drop", figures.drop_percent()});
  out.metrics.push_back({"sqnr_db", figures.sqnr_db()});
  if (const auto agreement = figures.agreement_percent())
    out.metrics.push_back({"agreement", *agreement});
  if (const OutputAccuracy* labelled = figures.labelled()) {
    out.metrics.push_back({"top1", labelled->percent(*labelled->right)});
    out.metrics.push_back({"float_top1", labelled->percent(*labelled->right_in_float)});
  }
  out.facts.push_back({"accuracy", lines_of(figures)});
}

void add_figures(const AccuracyFigures& figures, const BuildOptions& options, Properties& facts) {
  facts.emplace_back("held_out", options.held_out);
  if (!options.max_accuracy_drop.empty())
    facts.emplace_back("accuracy.max_drop_percent", options.max_accuracy_drop);
  facts.emplace_back("accuracy.rows", std::to_string(figures.rows()));
  facts.emplace_back("accuracy.drop_percent", fixed(figures.drop_percent(), ""));
  facts.emplace_back("accuracy.sqnr_db", fixed(figures.sqnr_db(), ""));
  if (const auto agreement = figures.agreement_percent())
    facts.emplace_back("accuracy.agreement_percent", fixed(*agreement, ""));
  if (const OutputAccuracy* labelled = figures.labelled()) {
    facts.emplace_back("accuracy.top1_percent", fixed(labelled->percent(*labelled->right), ""));
    facts.emplace_back("accuracy.float_top1_percent",
                       fixed(labelled->percent(*labelled->right_in_float), ""));
  }
}

}  // namespace enginery
