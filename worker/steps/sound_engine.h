// An engine whose tactics are sound, as far as is known: what the tuning chose or, where one of its
// tactics fails, an engine made without it.
//
// Where: assemble, verify and profile. A tactic that failed since the tuning (it took an earlier
// runner of the step down, it failed in another build) is in the timing store; then the tactics are
// chosen again. What a step makes anew it leaves as `content` and `choices`, which take the place
// of the earlier ones. Free functions without state; the step holds the device's lock.
#pragma once

#include "worker/steps/step_functions.h"

namespace enginery {

// How often verification may choose again before it gives up.
inline constexpr int kMaxChoices = 8;

struct ChosenTactics {
  TacticSelection selection;
  Bytes choices;      // their record; only where they were chosen anew
  bool anew = false;  // not what the step was given
};
struct DraftEngine {
  std::shared_ptr<const Bytes> content;
  Bytes choices;
  bool anew = false;
};

// The network's tactics as `choices` has them, or others where one of those is known to have
// failed; then `choices` is the record of those. Errors: those of follow and of the tuner.
Result<ChosenTactics> sound_choice(const StepContext& step, const SelectionRecord& record);

// The engine of those tactics. One that cannot be compiled is stored as failed, and others are
// chosen, up to `kMaxChoices` times in all. Errors: those of assembling and of the tuner.
Result<DraftEngine> assemble_and_mend(const StepContext& step, ChosenTactics choice);

// The step's `content`, or one that is made anew where a tactic of it is known to have failed.
// Errors: untrusted, those of the tuner and of assembling.
Result<DraftEngine> sound_engine(const StepContext& step);

struct VerifiedEngine {
  DraftEngine engine;
  Accuracy accuracy;
  std::string rejected;  // why it may not be used, with the layers and tactics at fault; or ""
  std::vector<std::string> notes;  // for the user: which tactics were replaced, and why
};
// Compares the engine with the reference. Where it is wrong, or a tactic of it fails, the tactics
// at fault are stored as failed (layers whose values float16 does not hold compute in fp32
// instead), others are chosen, and the engine made of those is compared;
// `kMaxChoices` engines in all. Errors: those of verify_content, of the tuner and of assembling.
Result<VerifiedEngine> verify_and_mend(const StepContext& step, DraftEngine engine);

// The engine file but for its signature.
std::shared_ptr<const Bytes> unsigned_engine(const Bytes& content, const Bytes& provenance);

// Adds `content`, `choices` and the fact `content_digest` where the engine was made anew.
void leave_engine(const DraftEngine& engine, StepOutputs& out);

// Adds what verification says of an engine that may be used: metrics error and bar, facts
// verify_skipped and verify_notes.
void leave_accuracy(const StepContext& step, const VerifiedEngine& verified, StepOutputs& out);

}  // namespace enginery
