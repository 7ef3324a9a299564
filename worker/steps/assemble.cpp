#include "tuner/analytic_choice.h"
#include "worker/steps/step_functions.h"

namespace enginery {
namespace {

Result<TacticSelection> choose(const StepContext& step, const Network& network,
                               const Target& target) {
  if (step.session.spec().options.provisional) return analytic_choice(network, target.sources);
  TRY(const auto text, input_named(step, "choices"));
  TRY(const SelectionRecord record, parse_selection(*text));
  return follow(network, target.sources, record);
}

}  // namespace

Result<StepOutputs> assemble_step(const StepContext& step) {
  const Progress begun{doing("assemble"), 0, 1};
  step.hooks.progress(begun);
  TRY(const LoadedModel* model, step.session.model());
  TRY(const Target* target, step.session.target());
  TRY(const DeviceLock lock, lock_device(step, target->device->info(), begun));
  TRY(const Network* network, step.session.network());
  const BuildOptions& options = step.session.spec().options;
  TRY(const TacticSelection selection, choose(step, *network, *target));
  TRY(Bytes content, assemble(*model, *network, selection, *target, options));
  const Digest digest = sha256(content);
  StepOutputs out;
  out.facts = {{"content_digest", digest.text()}, {"precision", to_text(options.precisions)}};
  out.metrics = {{"content_bytes", static_cast<double>(content.size())}};
  if (options.provisional) {
    StepContext unnamed = step;
    unnamed.worker.clear();
    TRY(const Bytes provenance, write_provenance(make_provenance(unnamed, digest, {})));
    out.blobs["unsigned"] = content + provenance;
  }
  out.blobs["content"] = std::move(content);
  return out;
}

}  // namespace enginery
