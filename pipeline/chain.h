// The walk along the chain: what comes after the steps that a target has behind it, and what it has
// at the end.
//
// Where: the coordinator's core decides *when* (leases, retries, who waits for whom); this says
// *what*: pure functions of the target so far and the table of steps. `enginery build` drives the
// same core, so the chain exists once. Threads: free functions without state.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/options/options.h"
#include "pipeline/result.h"
#include "pipeline/step.h"

namespace enginery {

// The step after `done`, the first one where nothing is done yet; null: `done` was the last, the
// target is finished.
const Step* next_step(std::optional<StepKind> done, Way way, StepTable table = steps());
// The way of a target of a build with these options.
Way way_of(const BuildOptions& options, bool provisional);
// The step that leaves the engine: its key is the one that a whole build is found by.
const Step& last_step(StepTable table = steps());

// Whether a stored result can stand for the step's: a failure can; a success needs the blob that
// the step has to leave.
bool answers(const StepResult& result, const Step& step, bool provisional);

// What the signature leaves as the answer to the engine's key: the engine and, so that nothing has
// to be read for it, what the steps before said: all metrics and facts, and the content.
StepResult signed_result(const Gathered& gathered, const NamedBlob& engine);

// A finished target, as its row and the engine's row in the catalog want it.
struct FinishedTarget {
  NamedBlob engine;
  std::optional<Digest> content_digest;
  std::string precision;
  double latency_ms = 0;  // 0: not measured (provisional)
  uint64_t timings_measured = 0, timings_reused = 0;
  std::optional<HeldOutFigures> accuracy;
  std::string calibration;  // both as in TargetView
  std::string note;         // what its steps say of the engine to people; "": nothing
};
// `uses` says where the tuning's result came from: only a build's own measurements count as
// measured, those of an earlier or another job's tuning as reused. Nothing where no step has left
// an engine.
std::optional<FinishedTarget> finished_target(const Gathered& gathered,
                                              const std::vector<StepUse>& uses,
                                              StepTable table = steps());

// Where a target as a whole came from: built when any of its steps was, else joined when any was,
// else the cache.
Source source_of(const std::vector<StepUse>& uses);

}  // namespace enginery
