// A step's result: what is kept as the answer to its key, and how it is read and merged.
//
// Where: a worker's Outcome becomes a StepResult when the coordinator (or a local build) commits
// it; the catalog keeps it as an ActionResult with metrics and facts as JSON; chain.h gathers the
// results of a target's steps. The same bytes come out of the farm and of a local build, so each
// finds the other's results. Threads: values and free functions without state.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cache/results.h"
#include "pipeline/step.h"
#include "schemas/values.h"

namespace enginery {

// The committed end of a step: a success with what it left, or a deterministic failure.
struct StepResult {
  bool success = true;
  Fault fault;  // of a deterministic failure
  std::vector<NamedBlob> outputs;
  std::vector<NamedNumber> metrics;
  std::vector<NamedText> facts;
  int64_t generation = 1;  // of the key; a rebuild is the next one
  bool operator==(const StepResult&) const = default;
};

// That a target used (or waits for) a step's result. step 0: answered by an earlier result.
struct StepUse {
  StepKind kind = StepKind::validate;
  Digest key;
  int64_t generation = 0;
  uint64_t step = 0;
  Source source = Source::none;
  bool operator==(const StepUse&) const = default;
};

// What the steps of a target have left so far. Each list is sorted by name and has each name once:
// a later step's value replaces an earlier one's.
struct Gathered {
  std::vector<NamedBlob> outputs;
  std::vector<NamedNumber> metrics;
  std::vector<NamedText> facts;
  bool operator==(const Gathered&) const = default;
};
// Whether a step may leave a blob of this name: lower-case letters, digits and _ . - that no file
// system reads as another folder.
bool is_output_name(std::string_view name);
// Adds a successful result. The order in which results come in does not show: later keys are made
// of this.
void absorb(Gathered& gathered, const StepResult& result);

// The value of a name; null, 0 or "" where it is not there. count_named gives 0 for what is no
// count (negative, huge, NaN).
const NamedBlob* blob_named(const std::vector<NamedBlob>& blobs, std::string_view name);
double number_named(const std::vector<NamedNumber>& numbers, std::string_view name);
uint64_t count_named(const std::vector<NamedNumber>& numbers, std::string_view name);
std::string text_named(const std::vector<NamedText>& texts, std::string_view name);

// The metrics of an engine that was held against the float model; nothing where it was not.
std::optional<HeldOutFigures> held_out_figures(const std::vector<NamedNumber>& metrics);

// Which worker ran the step, as a fact of its result: the coordinator's word, which replaces what
// the worker may have said of that itself. worker_of_step: "" where an earlier program kept none.
void state_worker(std::vector<NamedText>& facts, std::string_view step, const std::string& worker);
std::string worker_of_step(const Gathered& gathered, std::string_view step);

// How an attempt that ended with this error counts: `failed` only where the same input always meets
// the same error.
OutcomeKind outcome_kind(ErrorCode code);
// An attempt's end without a result: the error counts as outcome_kind says, or as the given kind.
Outcome failed_outcome(const Error& error);
Outcome failed_outcome(OutcomeKind kind, const Error& error);

// A result's `outcome` in the catalog:
// {"facts":{..},"fault":{"code":..,"message":..},"metrics":{..}}; fault only where there is one.
// Bytes that are not UTF-8 are replaced.
std::string outcome_json(const StepResult& result);
// Fills metrics, facts and fault. What is absent or of another shape stays empty.
void read_outcome_json(const std::string& json, StepResult& result);
// {"name":"value", ...}
std::string fields_json(const std::vector<NamedText>& fields);
// And back; what is no object of texts is empty.
std::vector<NamedText> read_fields_json(const std::string& json);

// The row that the catalog keeps of a result, and back. The lease's epoch is the caller's to set.
ActionResult to_action_result(const Digest& key, const StepResult& result);
StepResult to_step_result(const ActionResult& row);

}  // namespace enginery
