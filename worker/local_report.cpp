#include "worker/local_report.h"

#include <algorithm>

namespace enginery {
namespace {

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    if (end > 0) out.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

}  // namespace

LocalBuildReport make_report(const KeySubject& subject, const TargetRow& target,
                             const EngineView& engine, const StepResult& result,
                             const std::vector<std::pair<std::string, double>>& phases) {
  LocalBuildReport out;
  out.name = subject.name;
  out.sku = subject.sku;
  out.precision = to_text(subject.options.precisions);
  out.engine = engine.engine;
  out.content_digest = engine.content_digest;
  out.model = subject.model;
  out.key = engine.key;
  out.size_bytes = engine.size_bytes;
  out.latency_ms = engine.latency_ms;
  out.source = target.source;
  out.provisional = engine.provisional;
  out.timings_measured = target.timings_measured;
  out.timings_reused = target.timings_reused;
  out.phases = phases;
  const bool tuned = std::any_of(phases.begin(), phases.end(),
                                 [](const auto& phase) { return phase.first == "tune"; });
  if (tuned) {
    for (const char* part : {"tune_preparing", "tune_checking", "tune_racing", "tune_networks"})
      out.phases.emplace_back(part, number_named(result.metrics, std::string(part) + "_s"));
  }
  out.notes = lines_of(text_named(result.facts, "notes"));
  for (const char* more : {"tune_notes", "assemble_notes", "verify_notes"}) {
    for (std::string& note : lines_of(text_named(result.facts, more)))
      out.notes.push_back(std::move(note));
  }
  out.accuracy = held_out_figures(result.metrics);
  out.calibration = text_named(result.facts, "calibration");
  out.bias_correction = text_named(result.facts, "bias_correction") == "true";
  out.foreign_load = number_named(result.metrics, "foreign_load");
  out.error = number_named(result.metrics, "error");
  out.bar = number_named(result.metrics, "bar");
  out.verify_skipped = out.provisional ? "an untuned engine is not run where it is built"
                                       : text_named(result.facts, "verify_skipped");
  if (!out.provisional && !out.verify_skipped.empty())
    out.notes.push_back("not compared with the reference: " + out.verify_skipped);
  return out;
}

}  // namespace enginery
