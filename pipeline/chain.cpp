#include "pipeline/chain.h"

#include <algorithm>

#include "engine/base/result.h"

namespace enginery {
namespace {

constexpr size_t kMaxNoteBytes = 300;  // a worker wrote it, and every view of the job has it

// What the steps say to people, as one line.
std::string note_of(const Gathered& gathered) {
  std::string note = text_named(gathered.facts, "tune_notes");
  const std::string more = text_named(gathered.facts, "assemble_notes");
  if (!note.empty() && !more.empty()) note += "; ";
  note = (note + more).substr(0, kMaxNoteBytes);
  std::ranges::replace(note, '\n', ' ');
  return note;
}

}  // namespace

Way way_of(const BuildOptions& options, bool provisional) {
  Way way(provisional);
  way.calibrates = !options.calib_data.empty();
  way.has_budget = has_budget(options);
  return way;
}

const Step* next_step(std::optional<StepKind> done, Way way, StepTable table) {
  bool reached = !done;
  for (const Step& step : table) {
    if (reached && is_in_chain(step, way)) return &step;
    reached = reached || step.kind == *done;
  }
  return nullptr;
}

const Step& last_step(StepTable table) {
  ENSURE(!table.empty(), "a table of steps without a row");
  return table.back();
}

bool answers(const StepResult& result, const Step& step, bool provisional) {
  const std::string& needed = needed_output(step, provisional);
  return !result.success || needed.empty() || blob_named(result.outputs, needed) != nullptr;
}

StepResult signed_result(const Gathered& gathered, const NamedBlob& engine) {
  StepResult result;
  result.outputs = {engine};
  if (const NamedBlob* content = blob_named(gathered.outputs, "content"))
    result.outputs.push_back(*content);
  result.metrics = gathered.metrics;
  result.facts = gathered.facts;
  return result;
}

std::optional<FinishedTarget> finished_target(const Gathered& gathered,
                                              const std::vector<StepUse>& uses, StepTable table) {
  const NamedBlob* engine = blob_named(gathered.outputs, last_step(table).leaves);
  if (!engine) return std::nullopt;
  FinishedTarget out;
  out.engine = *engine;
  if (const auto digest = Digest::parse(text_named(gathered.facts, "content_digest")); digest.ok())
    out.content_digest = *digest;
  else if (const NamedBlob* content = blob_named(gathered.outputs, "content"))
    out.content_digest = content->digest;
  out.precision = text_named(gathered.facts, "precision");
  out.latency_ms = number_named(gathered.metrics, "latency_ms");
  const uint64_t measured = count_named(gathered.metrics, "timings_measured");
  const uint64_t reused = count_named(gathered.metrics, "timings_reused");
  bool measured_here = false;
  for (const StepUse& use : uses)
    measured_here = measured_here || (use.kind == StepKind::tune && use.source == Source::built);
  out.timings_measured = measured_here ? measured : 0;
  out.timings_reused = measured_here ? reused : measured + reused;
  out.accuracy = held_out_figures(gathered.metrics);
  out.calibration = text_named(gathered.facts, "calibration");
  out.note = note_of(gathered);
  return out;
}

Source source_of(const std::vector<StepUse>& uses) {
  Source source = Source::cache;
  for (const StepUse& use : uses) {
    if (use.source == Source::built) return Source::built;
    if (use.source == Source::joined) source = Source::joined;
  }
  return source;
}

}  // namespace enginery
