#include "tuner/calibrate/table.h"
#include "worker/steps/step_functions.h"

namespace enginery {
namespace {

constexpr size_t kMaxNoteBytes = 8 * 1024;

std::string join_notes(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines) {
    if (out.size() + line.size() > kMaxNoteBytes) return out + "...\n";
    out += line + "\n";
  }
  return out;
}

}  // namespace

Result<StepOutputs> validate_step(const StepContext& step) {
  TRY(const LoadedModel* model, step.session.model());
  for (const std::string& line : model->pass_log) step.hooks.log(line);
  StepOutputs out;
  out.facts = {{"structure", model->structure_digest.text()}, {"notes", join_notes(model->notes)}};
  if (const auto& calibration = step.session.spec().calibration) {
    out.facts.push_back({"calibration", sha256(*calibration).text()});
    if (holds_channel_means(*calibration)) out.facts.push_back({"bias_correction", "true"});
  }
  out.metrics = {{"layers", static_cast<double>(model->graph.live_node_count())}};
  return out;
}

}  // namespace enginery
