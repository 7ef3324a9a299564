#include "cli/output/job_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/output/table.h"
#include "cli/output/text.h"

namespace enginery {
namespace {

constexpr int kAccuracyColumn = 4;  // behind the latency

// The end of a target in a few words: why it failed, or what it waits for.
std::string remark(const TargetView& target) {
  if (target.fault) return target.fault->message;
  std::string text = target.provisional ? "untuned" : "";
  if (!target.note.empty()) text += (text.empty() ? "" : "; ") + target.note;
  return text;
}

int64_t count(const JobView& job, TargetState state) {
  return std::count_if(job.targets.begin(), job.targets.end(),
                       [&](const TargetView& t) { return t.state == state; });
}

}  // namespace

std::string accuracy_words(const std::optional<HeldOutFigures>& figures) {
  if (!figures) return "";
  std::string out;
  if (figures->agreement >= 0) out += fmt::format("{:.2f} % agree, ", figures->agreement);
  out += fmt::format("{:.1f} dB", figures->sqnr_db);
  if (figures->top1 >= 0)
    out += fmt::format(", top-1 {:.2f} % (float {:.2f} %)", figures->top1, figures->float_top1);
  return out;
}

std::string target_table(const JobView& job, int columns) {
  // Most jobs bring no data to measure it on.
  const bool has_accuracy = std::any_of(job.targets.begin(), job.targets.end(),
                                        [](const TargetView& t) { return t.accuracy.has_value(); });
  std::vector<Column> head{{"SKU"},
                           {"STATE"},
                           {"SOURCE"},
                           {"LATENCY ms", Align::right},
                           {"SIZE", Align::right},
                           {"MEASURED", Align::right},
                           {"REUSED", Align::right},
                           {"ENGINE"},
                           {"NOTE"}};
  if (has_accuracy) head.insert(head.begin() + kAccuracyColumn, {"ACCURACY", Align::right});
  Table table(head);
  for (const TargetView& target : job.targets) {
    const bool done = target.state == TargetState::done;
    std::vector<std::string> row{target.sku,
                                 to_string(target.state),
                                 target.source == Source::none ? "" : to_string(target.source),
                                 done ? human_milliseconds(target.latency_ms) : "",
                                 done ? human_bytes(target.size_bytes) : "",
                                 done ? std::to_string(target.timings_measured) : "",
                                 done ? std::to_string(target.timings_reused) : "",
                                 target.engine ? target.engine->text().substr(0, 19) : "",
                                 remark(target)};
    if (has_accuracy) row.insert(row.begin() + kAccuracyColumn, accuracy_words(target.accuracy));
    table.add(std::move(row));
  }
  return table.text(columns);
}

std::string step_table(const JobView& job, int columns) {
  Table table({{"STEP"},
               {"SKU"},
               {"STATE"},
               {"SOURCE"},
               {"EPOCH", Align::right},
               {"ATTEMPTS", Align::right},
               {"LAST WORKER"},
               {"LAST OUTCOME"}});
  for (const StepView& step : job.steps) {
    const AttemptView last = step.attempts.empty() ? AttemptView{} : step.attempts.back();
    std::string outcome = last.outcome;
    if (!last.message.empty()) outcome += (outcome.empty() ? "" : ": ") + last.message;
    table.add({step.name, step.sku, to_string(step.state),
               step.source == Source::none ? "" : to_string(step.source),
               std::to_string(step.epoch), std::to_string(step.attempts.size()), last.worker,
               outcome});
  }
  return table.text(columns);
}

std::vector<ProgressRow> progress_rows(const JobView& job) {
  std::vector<ProgressRow> rows;
  for (const TargetView& target : job.targets) {
    ProgressRow row;
    row.label = target.sku;
    row.phase = target.state == TargetState::running && !target.progress.phase.empty()
                    ? target.progress.phase
                    : to_string(target.state);
    if (target.state == TargetState::running) {
      row.done = target.progress.done;
      row.total = target.progress.total;
      row.eta_seconds = target.progress.eta_seconds;
    }
    // While something runs, its progress says more than what it waits for.
    if (row.total == 0 || target.fault) row.note = remark(target);
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string failure_summary(const JobView& job) {
  const int64_t failed = count(job, TargetState::failed);
  const int64_t cancelled = count(job, TargetState::cancelled);
  if (failed + cancelled == 0) return "";
  std::vector<std::string> parts;
  if (failed > 0) parts.push_back(fmt::format("{} failed", failed));
  if (cancelled > 0) parts.push_back(fmt::format("{} cancelled", cancelled));
  return fmt::format(
      "job {}: of {} targets {}; enginery logs {} says what happened, enginery retry {} tries "
      "again",
      job.id, job.targets.size(), joined(parts, ", "), job.id, job.id);
}

ExitCode job_exit_code(const JobView& job) {
  if (!is_end(job.state)) return ExitCode::ok;
  const int64_t done = count(job, TargetState::done);
  if (done == static_cast<int64_t>(job.targets.size())) return ExitCode::ok;
  if (done > 0) return ExitCode::partial;
  return count(job, TargetState::failed) > 0 ? ExitCode::failed : ExitCode::timed_out;
}

void print_job(const JobView& job, OutputForm form, Console& console) {
  if (form == OutputForm::json) {
    print_json(console, job_json(job));
  } else {
    console.print(target_table(job, console.table_width()));
  }
}

void report_accepted(const JobView& job, OutputForm form, Console& console) {
  if (form == OutputForm::json) {
    print_json(console, job_json(job));
    return;
  }
  console.print_line(job.id);
  console.note("follow it with: enginery wait " + job.id);
}

ExitCode report_end(const JobView& job, OutputForm form, Console& console) {
  print_job(job, form, console);
  if (const std::string summary = failure_summary(job); !summary.empty()) console.note(summary);
  return job_exit_code(job);
}

}  // namespace enginery
