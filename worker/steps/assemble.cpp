#include "engine/compile/zero_point_note.h"
#include "tuner/analytic_choice.h"
#include "worker/steps/sound_engine.h"

namespace enginery {
namespace {

// For a device that is not here: no tactic runs, and nothing is known of any. Of a calibrated
// model's networks the one with the lower estimate.
Result<DraftEngine> untuned_engine(const StepContext& step, const Target& target) {
  TRY(const Network* network, step.session.network());
  TRY(TacticSelection selection, analytic_cover(*network, target.sources));
  if (step.session.is_calibrated()) {
    step.session.take(NetworkArithmetic::floating);
    TRY(network, step.session.network());
    TRY(TacticSelection in_float, analytic_choice(*network, target.sources));
    if (estimated_us(in_float) <= estimated_us(selection)) {
      selection = std::move(in_float);
    } else {
      step.session.take(NetworkArithmetic::quantized);
    }
  }
  TRY(const LoadedModel* model, step.session.model());
  TRY(network, step.session.network());
  TRY(Bytes content, assemble(*model, *network, selection, target, step.session.options()));
  return DraftEngine{std::make_shared<const Bytes>(std::move(content)), "", false};
}

Result<DraftEngine> tuned_engine(const StepContext& step) {
  TRY(const auto text, input_named(step, "choices"));
  TRY(const SelectionRecord record, parse_selection(*text));
  step.session.take(record.in_float ? NetworkArithmetic::floating : NetworkArithmetic::quantized);
  step.session.keep_from_float16({record.beyond_float16.begin(), record.beyond_float16.end()});
  TRY(ChosenTactics choice, sound_choice(step, record));
  return assemble_and_mend(step, std::move(choice));
}

}  // namespace

Result<StepOutputs> assemble_step(const StepContext& step) {
  const Progress begun{doing("assemble"), 0, 1};
  step.hooks.progress(begun);
  TRY(const Target* target, step.session.target());
  TRY(const DeviceLock lock, lock_device(step, target->device->info(), begun));
  TRY(const DraftEngine engine,
      step.session.options().provisional ? untuned_engine(step, *target) : tuned_engine(step));
  TRY(const Network* network, step.session.network());
  const BuildOptions& options = step.session.options();
  const Digest digest = sha256(*engine.content);
  StepOutputs out;
  out.facts = {{"content_digest", digest.text()}, {"precision", to_text(options.precisions)}};
  if (options.provisional && step.session.arithmetic() == NetworkArithmetic::floating)
    out.facts.push_back({"tune_notes", kFloatIsFaster});
  if (const std::string note = zero_point_note(*network); !note.empty()) {
    step.hooks.log(note);
    out.facts.push_back({"assemble_notes", note});
  }
  out.metrics = {{"content_bytes", static_cast<double>(engine.content->size())}};
  if (options.provisional) {
    StepContext unnamed = step;
    unnamed.worker.clear();
    TRY(const Bytes provenance, write_provenance(make_provenance(unnamed, digest, {})));
    out.blobs["unsigned"] = unsigned_engine(*engine.content, provenance);
  }
  if (engine.anew) out.blobs["choices"] = to_blob(engine.choices);
  out.blobs["content"] = engine.content;
  return out;
}

}  // namespace enginery
