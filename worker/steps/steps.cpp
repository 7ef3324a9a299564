#include "worker/steps/steps.h"

#include "tuner/analytic_choice.h"
#include "worker/steps/step_support.h"

namespace enginery {
namespace {

constexpr size_t kMaxNoteBytes = 8 * 1024;

std::string join(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines) {
    if (out.size() + line.size() > kMaxNoteBytes) return out + "...\n";
    out += line + "\n";
  }
  return out;
}

Result<Assignment> choose(const Network& network, const Target& target, bool provisional,
                          const StepInputs& inputs) {
  if (provisional) return analytic_choice(network, target.sources);
  TRY(auto text, input_named(inputs, "choices"));
  TRY(Choices choices, parse_choices(*text));
  return follow(network, target.sources, choices);
}

}  // namespace

Result<StepOutputs> validate_step(BuildSession& bench) {
  TRY(const LoadedModel* model, bench.model());
  StepOutputs out;
  out.facts = {{"structure", model->structure_digest.text()}, {"notes", join(model->notes)}};
  out.metrics = {{"layers", static_cast<double>(model->graph.live_node_count())}};
  return out;
}

Result<StepOutputs> assemble_step(BuildSession& bench, const StepInputs& inputs,
                                  const StepHooks& hooks) {
  hooks.progress({doing("assemble"), 0, 1});
  TRY(const LoadedModel* model, bench.model());
  TRY(const Target* target, bench.target());
  TRY(DeviceLock lock, lock_device(target->device->info(), hooks));
  hooks.progress({doing("assemble"), 0, 1});
  TRY(const Network* network, bench.network());
  const BuildOptions& options = bench.spec().options;
  TRY(Assignment assignment, choose(*network, *target, options.provisional, inputs));
  TRY(Bytes content, assemble(*model, *network, assignment, *target, options));
  const Digest digest = sha256(content);
  StepOutputs out;
  out.facts = {{"content_digest", digest.text()}, {"precision", to_text(options.precisions)}};
  out.metrics = {{"content_bytes", static_cast<double>(content.size())}};
  if (options.provisional) {
    TRY(Bytes provenance, write_provenance(make_provenance(bench, digest, inputs, "", {})));
    out.blobs["unsigned"] = content + provenance;
  }
  out.blobs["content"] = std::move(content);
  return out;
}

Result<StepOutputs> verify_step(BuildSession& bench, const StepInputs& inputs,
                                const StepHooks& hooks) {
  hooks.progress({doing("verify"), 0, 1});
  TRY(auto content, input_named(inputs, "content"));
  TRY(const LoadedModel* model, bench.model());
  TRY(const Target* target, bench.target());
  TRY(DeviceLock lock, lock_device(target->device->info(), hooks));
  hooks.progress({doing("verify"), 0, 1});
  TRY(Accuracy accuracy, verify_content(*model, content, *target, bench.spec().options));
  StepOutputs out;
  out.metrics = {{"error", accuracy.worst_error}, {"bar", accuracy.bar}};
  if (!accuracy.skipped.empty()) {
    out.facts = {{"verify_skipped", accuracy.skipped}};
    hooks.log("not compared with the reference: " + accuracy.skipped);
    return out;
  }
  hooks.log("relative error against the reference " + std::to_string(accuracy.worst_error) +
            ", allowed " + std::to_string(accuracy.bar));
  if (!(accuracy.worst_error <= accuracy.bar)) {  // a NaN is wrong too
    out.rejected = "verify on " + bench.spec().sku +
                   ": the engine's outputs differ from the reference's by " +
                   std::to_string(accuracy.worst_error) + " (relative), allowed are " +
                   std::to_string(accuracy.bar);
  }
  return out;
}

}  // namespace enginery
