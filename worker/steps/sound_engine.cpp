#include "worker/steps/sound_engine.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/base/clock.h"
#include "engine/base/huge_pages.h"
#include "tuner/faulty_layers.h"
#include "tuner/known_failures.h"
#include "worker/steps/engine_trials.h"
#include "worker/steps/tuning.h"

namespace enginery {
namespace {

// The first of the tactics that the store has as failed, in words; "" where there is none.
Result<std::string> failure_among(const StepContext& step, const Plan& plan,
                                  const DeviceInfo& info) {
  if (!step.tuning.timings) return std::string();
  KnownFailures failures(*step.tuning.timings, device_key(info),
                         to_seconds(SystemClock().wall_time()));
  for (const PlanStep& s : plan.steps) {
    if (s.tactic.view_of >= 0) continue;
    const std::string tactic = selected_key(s);
    TRY(const std::string failure, failures.of(s.problem.key(), tactic));
    if (!failure.empty()) return "layer '" + s.name + "': " + tactic + " failed: " + failure;
  }
  return std::string();
}

Result<ChosenTactics> choose_again(const StepContext& step) {
  TRY(const Target* target, step.session.target());
  TRY(const Network* network, step.session.network());
  TRY(TunedNetwork tuned, choose_tactics(step, *network, *target));
  return ChosenTactics{std::move(tuned.selection), std::move(tuned.choices), true};
}

Result<DraftEngine> engine_anew(const StepContext& step) {
  TRY(ChosenTactics choice, choose_again(step));
  return assemble_and_mend(step, std::move(choice));
}

bool is_lost(const Error& error) {
  return error.code == ErrorCode::device_lost;
}

// What one engine's verification says.
struct Attempt {
  Result<Accuracy> accuracy = Accuracy{};
  std::vector<std::string> faults;  // of tactics or of float16, in words
  bool mendable = false;            // the next choice avoids them
  std::string mended_by = "another tactic was taken";
};

// Has the next choice compute in fp32 what float16 does not hold; false where no layer is added by
// that.
bool keep_from_float16(const StepContext& step, Attempt& out) {
  const std::set<NodeId>& beyond = out.accuracy->beyond_float16;
  if (!step.tuning.timings || !step.session.keep_from_float16(beyond)) return false;
  out.faults.push_back(out.accuracy->overflow);
  out.mended_by = std::to_string(beyond.size()) + " layers around it compute in fp32";
  return true;
}

Result<Attempt> verify_once(const StepContext& step, const DraftEngine& engine,
                            const LoadedModel& model, const Target& target) {
  Attempt out;
  EngineTrials trials(step, target.device->info());
  out.accuracy = verify_content(model, engine.content, target,
                                {.inputs = step.verify_inputs, .watch = trials.watch()});
  const bool by_tactics =
      out.accuracy.ok() && !out.accuracy->wrong.empty() && !out.accuracy->pass_at_fault;
  if (by_tactics && keep_from_float16(step, out)) {
    out.mendable = true;
    return out;
  }
  if (by_tactics) {
    TRY(EngineFile file, read_unsigned_engine(engine.content));
    TRY(const auto layers, faulty_layers(std::move(file.plan), *target.device, target.sources,
                                         out.accuracy->inputs, out.accuracy->bar));
    for (const FaultyLayer& l : layers) {
      out.faults.push_back("layer '" + l.layer + "': " + l.tactic + ": " + l.reason);
      trials.add_wrong(l.problem, l.tactic,
                       "in the whole engine, layer '" + l.layer + "': " + l.reason, l.error);
    }
  } else if (!out.accuracy.ok()) {
    out.faults.push_back(out.accuracy.error().message);
  }
  TRY(out.mendable, trials.store_failures());
  return out;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines) out += (out.empty() ? "" : "; ") + line;
  return out;
}

std::string rejection(const StepContext& step, const Accuracy& accuracy) {
  if (accuracy.wrong.empty()) return "";
  return "verify on " + step.session.spec().sku +
         ": the engine's outputs differ from the reference's: " + accuracy.wrong;
}

// The end without an engine: of one that fails its error, of a wrong one the reason.
Result<VerifiedEngine> give_up(const StepContext& step, DraftEngine engine, Attempt attempt,
                               const std::string& why) {
  const std::string more = attempt.faults.empty() ? "" : "; at fault: " + joined(attempt.faults);
  if (!attempt.accuracy.ok()) {
    const Error& error = attempt.accuracy.error();
    return Error{error.code, error.message + why};
  }
  VerifiedEngine out{std::move(engine), std::move(*attempt.accuracy), "", {}};
  out.rejected = rejection(step, out.accuracy) + more + why;
  return out;
}

}  // namespace

Result<ChosenTactics> sound_choice(const StepContext& step, const SelectionRecord& record) {
  TRY(const Target* target, step.session.target());
  TRY(const Network* network, step.session.network());
  TRY(TacticSelection selection, follow(*network, target->sources, record));
  TRY(const Plan plan, make_plan(*network, selection));
  TRY(const std::string failure, failure_among(step, plan, target->device->info()));
  if (failure.empty()) return ChosenTactics{std::move(selection), "", false};
  step.hooks.log("chosen again: " + failure);
  return choose_again(step);
}

Result<DraftEngine> assemble_and_mend(const StepContext& step, ChosenTactics choice) {
  TRY(const LoadedModel* model, step.session.model());
  TRY(const Target* target, step.session.target());
  TRY(const Network* network, step.session.network());
  for (int tried = 1;; ++tried) {
    EngineTrials trials(step, target->device->info());
    auto content = assemble(*model, *network, choice.selection, *target, step.session.options(),
                            trials.watch().steps);
    if (content.ok())
      return DraftEngine{std::make_shared<const Bytes>(std::move(*content)),
                         std::move(choice.choices), choice.anew};
    TRY(const bool mendable, trials.store_failures());
    if (!mendable || is_lost(content.error()) || tried == kMaxChoices) return content.error();
    TRY(choice, choose_again(step));
  }
}

Result<DraftEngine> sound_engine(const StepContext& step) {
  TRY(auto content, input_named(step, "content"));
  TRY(const Target* target, step.session.target());
  TRY(const EngineFile file, read_unsigned_engine(content));
  const bool quantized = std::ranges::count(file.manifest.precisions, "int8") > 0;
  step.session.take(quantized ? NetworkArithmetic::quantized : NetworkArithmetic::floating);
  TRY(const std::string failure, failure_among(step, file.plan, target->device->info()));
  if (failure.empty()) return DraftEngine{std::move(content), "", false};
  step.hooks.log("chosen again: " + failure);
  return engine_anew(step);
}

Result<VerifiedEngine> verify_and_mend(const StepContext& step, DraftEngine engine) {
  TRY(const LoadedModel* model, step.session.model());
  TRY(const Target* target, step.session.target());
  std::vector<std::string> notes;
  for (int tried = 1;; ++tried) {
    TRY(Attempt attempt, verify_once(step, engine, *model, *target));
    if (attempt.accuracy.ok() && attempt.accuracy->wrong.empty()) {
      return VerifiedEngine{std::move(engine), std::move(*attempt.accuracy), "", std::move(notes)};
    }
    const bool lost = !attempt.accuracy.ok() && is_lost(attempt.accuracy.error());
    if (!attempt.mendable || lost) return give_up(step, std::move(engine), std::move(attempt), "");
    if (tried == kMaxChoices)
      return give_up(step, std::move(engine), std::move(attempt),
                     "; so were " + std::to_string(tried - 1) + " other choices");
    for (const std::string& fault : attempt.faults) {
      notes.push_back(fault + "; " + attempt.mended_by);
      step.hooks.log("verified again, since " + attempt.mended_by + ": " + fault);
    }
    auto next = engine_anew(step);
    if (!next.ok() && next.error().code != ErrorCode::unsupported) return next.error();
    if (!next.ok() || *next->content == *engine.content)
      return give_up(
          step, std::move(engine), std::move(attempt),
          "; no other choice is left" + (next.ok() ? std::string() : ": " + next.error().message));
    engine = std::move(*next);
  }
}

std::shared_ptr<const Bytes> unsigned_engine(const Bytes& content, const Bytes& provenance) {
  Bytes out;
  out.reserve(content.size() + provenance.size());
  prefer_huge_pages(out.data(), out.capacity());
  out += content;
  out += provenance;
  return to_blob(std::move(out));
}

void leave_engine(const DraftEngine& engine, StepOutputs& out) {
  if (!engine.anew) return;
  out.blobs["content"] = engine.content;
  out.blobs["choices"] = to_blob(engine.choices);
  out.facts.push_back({"content_digest", sha256(*engine.content).text()});
}

void leave_accuracy(const StepContext& step, const VerifiedEngine& verified, StepOutputs& out) {
  const Accuracy& accuracy = verified.accuracy;
  std::string notes;
  for (const std::string& note : accuracy.notes) notes += note + "\n";
  for (const std::string& note : verified.notes) notes += note + "\n";
  if (!notes.empty()) out.facts.push_back({"verify_notes", notes});
  out.metrics.push_back({"error", accuracy.worst_error});
  out.metrics.push_back({"bar", accuracy.bar});
  if (!accuracy.skipped.empty()) {
    out.facts.push_back({"verify_skipped", accuracy.skipped});
    step.hooks.log("not compared with the reference: " + accuracy.skipped);
    return;
  }
  step.hooks.log(fmt::format("relative error against the reference {:.3g}, allowed {:.3g}",
                             accuracy.worst_error, accuracy.bar));
}

}  // namespace enginery
