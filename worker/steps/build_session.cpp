#include "worker/steps/build_session.h"

namespace enginery {

Result<const LoadedModel*> BuildSession::model() {
  if (!model_) {
    if (!spec_.model) return Error{ErrorCode::internal, "the step was started without its model"};
    TRY(model_,
        load_model({spec_.model_file, *spec_.model, std::nullopt}, spec_.name, spec_.options));
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
    TRY(network_, lower_model(*loaded, *opened, spec_.options));
  }
  return &*network_;
}

}  // namespace enginery
