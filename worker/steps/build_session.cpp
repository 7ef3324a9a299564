#include "worker/steps/build_session.h"

#include "engine/compile/layers_meant.h"
#include "tuner/accuracy/layer_budget.h"
#include "tuner/calibrate/table.h"

namespace enginery {

void BuildSession::take(NetworkArithmetic arithmetic) {
  const bool in_float = is_calibrated() && arithmetic == NetworkArithmetic::floating;
  if (in_float == in_float_.has_value()) return;
  network_.reset();
  model_.reset();
  in_float_.reset();
  beyond_float16_.clear();
  if (!in_float) return;
  in_float_ = spec_.options;
  in_float_->precisions.erase(Precision::int8);
  in_float_->calibration.clear();
  in_float_->calibrator.clear();
  in_float_->calib_data.clear();
  in_float_->bias_correction = false;
  in_float_->layer_precisions = without_int8(std::move(in_float_->layer_precisions));
}

void BuildSession::keep_in_float(std::shared_ptr<const Bytes> layers) {
  const bool is_known = spec_.float_layers && *spec_.float_layers == *layers;
  spec_.float_layers = std::move(layers);
  if (is_known) return;
  network_.reset();
  model_.reset();
  beyond_float16_.clear();
}

bool BuildSession::keep_from_float16(const std::set<NodeId>& nodes) {
  const size_t before = beyond_float16_.size();
  beyond_float16_.insert(nodes.begin(), nodes.end());
  if (beyond_float16_.size() == before) return false;
  network_.reset();
  if (model_) model_->beyond_float16 = beyond_float16_;
  return true;
}

Result<const LoadedModel*> BuildSession::model() {
  if (!model_) {
    if (!spec_.model) return Error{ErrorCode::internal, "the step was started without its model"};
    const bool quantizes = enginery::is_calibrated(options());
    if (quantizes && !spec_.calibration)
      return Error{ErrorCode::internal, "the step was started without its calibration"};
    CalibrationTable table;
    if (quantizes) {
      TRY(table, read_calibration(*spec_.calibration, options().calibrator));
    }
    const TensorScales scales{table.scales, table.unusable, table.model};
    std::set<std::string> in_float;
    if (quantizes && spec_.float_layers) {
      TRY(in_float, parse_float_layers(*spec_.float_layers));
    }
    TRY(model_, load_model({spec_.model_file, spec_.model, std::nullopt}, spec_.name, options(), {},
                           quantizes ? &scales : nullptr, in_float, table.means));
    model_->beyond_float16 = beyond_float16_;
  }
  return &*model_;
}

Result<const Target*> BuildSession::target() {
  if (!target_) {
    TRY(target_, spec_.open(spec_.sku, spec_.options));
  }
  return &*target_;
}

Result<const Network*> BuildSession::network() {
  if (!network_) {
    TRY(const LoadedModel* loaded, model());
    TRY(const Target* opened, target());
    TRY(network_, lower_model(*loaded, *opened, options()));
  }
  return &*network_;
}

}  // namespace enginery
