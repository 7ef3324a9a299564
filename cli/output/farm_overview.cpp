#include "cli/output/farm_overview.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/output/table.h"
#include "cli/output/text.h"
#include "coordinator/views/farm_json.h"
#include "coordinator/views/job_json.h"

namespace enginery {
namespace {

constexpr size_t kEndedJobsShown = 5;

int64_t count_in(const FarmOverview& farm, WorkerCondition condition) {
  return std::count_if(farm.workers.begin(), farm.workers.end(),
                       [&](const WorkerView& worker) { return worker.state == condition; });
}

int64_t open_jobs(const FarmOverview& farm) {
  return std::count_if(farm.jobs.begin(), farm.jobs.end(),
                       [](const JobLine& job) { return !is_end(job.state); });
}

std::string head_line(const FarmOverview& farm) {
  int64_t queued = 0;
  for (const SkuView& sku : farm.skus) queued += sku.queued;
  const int64_t lost = count_in(farm, WorkerCondition::lost);
  return fmt::format("{}  jobs: {} open  steps: {} queued  workers: {} busy, {} idle{}\n",
                     human_time(farm.time_ns), open_jobs(farm), queued,
                     count_in(farm, WorkerCondition::busy), count_in(farm, WorkerCondition::idle),
                     lost > 0 ? fmt::format(", {} lost", lost) : "");
}

std::string sku_table(const FarmOverview& farm) {
  Table table({{"SKU"},
               {"KIND"},
               {"WORKERS", Align::right},
               {"IDLE", Align::right},
               {"QUEUED", Align::right}});
  for (const SkuView& sku : farm.skus)
    table.add({sku.sku, sku.kind, std::to_string(sku.workers), std::to_string(sku.idle),
               std::to_string(sku.queued)});
  return table.text();
}

std::string progress_text(const Progress& progress) {
  if (progress.total == 0) return progress.phase;
  std::string text = fmt::format("{} {}/{}", progress.phase, progress.done, progress.total);
  if (progress.eta_seconds > 0) text += ", " + human_seconds(progress.eta_seconds) + " left";
  return text;
}

std::string worker_table(const FarmOverview& farm) {
  std::vector<WorkerView> workers = farm.workers;
  std::vector<Column> columns{{"WORKER"}, {"STATE"},    {"JOB"},
                              {"STEP"},   {"PROGRESS"}, {"SEEN", Align::right}};
  const bool senses = have_readings(workers);
  if (senses) columns.push_back({"DEVICE"});
  Table table(std::move(columns));
  std::stable_partition(workers.begin(), workers.end(),
                        [](const WorkerView& w) { return w.state != WorkerCondition::lost; });
  for (const WorkerView& worker : workers) {
    std::vector<std::string> row{worker.id,
                                 to_string(worker.state),
                                 worker.job,
                                 worker.step,
                                 worker.job.empty() ? "" : progress_text(worker.progress),
                                 human_seconds(worker.last_seen_seconds) + " ago"};
    if (senses) row.push_back(device_text(worker.reading));
    table.add(std::move(row));
  }
  return table.text();
}

std::string job_table(const FarmOverview& farm) {
  Table table({{"JOB"}, {"MODEL"}, {"STATE"}, {"DONE", Align::right}, {"SUBMITTED"}});
  size_t ended = 0;
  const auto add = [&](const JobLine& job) {
    table.add({job.id, job.model, to_string(job.state), fmt::format("{}/{}", job.done, job.total),
               human_time(job.submitted_ns)});
  };
  for (const JobLine& job : farm.jobs)
    if (!is_end(job.state)) add(job);
  for (const JobLine& job : farm.jobs)
    if (is_end(job.state) && ended++ < kEndedJobsShown) add(job);
  return table.text();
}

// At most `columns` characters, without cutting a UTF-8 sequence.
std::string cut(std::string_view line, int columns) {
  size_t bytes = 0;
  int shown = 0;
  while (bytes < line.size()) {
    const bool begins = (static_cast<unsigned char>(line[bytes]) & 0xc0) != 0x80;
    if (begins && ++shown > columns) break;
    ++bytes;
  }
  return std::string(line.substr(0, bytes));
}

}  // namespace

std::string overview_text(const FarmOverview& farm) {
  std::string text = head_line(farm);
  if (!farm.skus.empty()) text += "\n" + sku_table(farm);
  if (!farm.workers.empty()) text += "\n" + worker_table(farm);
  if (!farm.jobs.empty()) text += "\n" + job_table(farm);
  return text;
}

std::string fitted(const std::string& text, int columns, int rows) {
  std::string out;
  size_t at = 0;
  for (int row = 0; row < rows && at < text.size(); ++row) {
    const size_t end = std::min(text.find('\n', at), text.size());
    out += cut(std::string_view(text).substr(at, end - at), columns) + "\n";
    at = end + 1;
  }
  return out;
}

Json overview_json(const FarmOverview& farm) {
  std::vector<SkuLine> lines;
  for (const SkuView& sku : farm.skus)
    lines.push_back({sku.sku, sku.kind, std::nullopt, sku.workers, sku.idle, sku.toolchains});
  Json skus = skus_json(lines)["skus"];
  for (size_t i = 0; i < farm.skus.size(); ++i) skus[i]["queued"] = farm.skus[i].queued;
  return {{"schema", "enginery.top/1"},
          {"time", json_time(farm.time_ns)},
          {"skus", skus},
          {"workers", workers_json(farm.workers)["workers"]},
          {"jobs", jobs_json(farm.jobs)["jobs"]}};
}

}  // namespace enginery
