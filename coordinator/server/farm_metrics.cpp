#include "coordinator/server/farm_metrics.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace enginery {
namespace {

using Type = OpenMetrics::Type;
using Names = std::vector<std::string>;

Result<int64_t> count(Catalog& catalog, const char* sql) {
  TRY(Statement row, catalog.database().prepare(sql));
  TRY(const bool found, row.step());
  return found ? row.integer(0) : 0;
}

void gauge(OpenMetrics& out, std::string_view name, std::string_view unit, std::string_view help,
           double value) {
  out.family(name, Type::gauge, unit, help);
  out.sample({}, value);
}

void counters(OpenMetrics& out, std::string_view name, std::string_view help, const Names& labels,
              const TallySums::Counts& counts) {
  out.family(name, Type::counter, "", help);
  for (const auto& [values, number] : counts) {
    MetricLabels named;
    for (size_t i = 0; i < labels.size(); ++i) named.emplace_back(labels[i], values[i]);
    out.sample(named, static_cast<double>(number));
  }
}

void add_jobs(OpenMetrics& out, const TallySums& tally) {
  gauge(out, "enginery_jobs_open", "", "jobs that have not ended",
        static_cast<double>(tally.jobs_open));
  out.family("enginery_jobs_submitted", Type::counter, "", "jobs submitted since the start");
  out.sample({}, static_cast<double>(tally.jobs_submitted));
  counters(out, "enginery_jobs_ended", "jobs ended since the start", {"state"}, tally.jobs_ended);
  counters(out, "enginery_targets_ended",
           "targets ended since the start; source cache is a cache hit", {"state", "source"},
           tally.targets_ended);
  counters(out, "enginery_attempts_ended", "tries of steps ended since the start", {"outcome"},
           tally.attempts_ended);
  counters(out, "enginery_events", "lines of the journal since the start", {"kind"}, tally.events);
  counters(out, "enginery_timings", "timings that built engines needed: measured, or reused",
           {"source"}, tally.timings);
  out.family("enginery_step_wait_seconds", Type::histogram, "seconds",
             "from queued to given to a worker, of steps queued since the start");
  out.histogram({}, tally.step_wait);
  out.family("enginery_commit_seconds", Type::histogram, "seconds", "transactions of the queue");
  out.histogram({}, tally.commit);
}

void add_fleet(OpenMetrics& out, const FarmFacts& facts) {
  out.family("enginery_queued_steps", Type::gauge, "", "steps that wait for a worker of the SKU");
  for (const SkuView& sku : facts.skus) out.sample({{"sku", sku.sku}}, sku.queued);
  std::map<std::pair<std::string, std::string>, double> workers;
  for (const WorkerView& worker : facts.workers) ++workers[{worker.sku, to_string(worker.state)}];
  out.family("enginery_workers", Type::gauge, "", "workers by device type and what they do");
  for (const auto& [key, number] : workers)
    out.sample({{"sku", key.first}, {"state", key.second}}, number);
  out.family("enginery_worker_last_seen_seconds", Type::gauge, "seconds",
             "since the worker's last Sync");
  for (const WorkerView& worker : facts.workers)
    out.sample({{"worker", worker.id}, {"sku", worker.sku}}, worker.last_seen_seconds);
}

// What the device does not say has no sample.
void add_reading(OpenMetrics& out, const FarmFacts& facts, std::string_view name,
                 std::string_view unit, std::string_view help, double DeviceReading::*number,
                 double scale = 1) {
  out.family(name, Type::gauge, unit, help);
  for (const WorkerView& worker : facts.workers)
    if (worker.reading.*number > 0)
      out.sample({{"worker", worker.id}, {"sku", worker.sku}}, scale * worker.reading.*number);
}

void add_devices(OpenMetrics& out, const FarmFacts& facts) {
  add_reading(out, facts, "enginery_device_clock_hertz", "hertz", "clock of the worker's device",
              &DeviceReading::clock_mhz, 1e6);
  add_reading(out, facts, "enginery_device_memory_clock_hertz", "hertz", "clock of its memory",
              &DeviceReading::memory_clock_mhz, 1e6);
  add_reading(out, facts, "enginery_device_temperature_celsius", "celsius", "its temperature",
              &DeviceReading::temperature_c);
  add_reading(out, facts, "enginery_device_power_watts", "watts", "power that it takes",
              &DeviceReading::power_w);
  out.family("enginery_device_throttled", Type::gauge, "",
             "1 while the worker's device runs slower than it could, of those that say so");
  for (const WorkerView& worker : facts.workers)
    if (worker.reading != DeviceReading())
      out.sample({{"worker", worker.id}, {"sku", worker.sku}},
                 worker.reading.throttle_bits == 0 ? 0 : 1);
}

void add_catalog(OpenMetrics& out, const CatalogSums& sums) {
  gauge(out, "enginery_catalog_blobs", "", "blobs in the catalog", static_cast<double>(sums.blobs));
  gauge(out, "enginery_catalog_bytes", "bytes", "their bytes",
        static_cast<double>(sums.blob_bytes));
  gauge(out, "enginery_catalog_engines", "", "engines in the catalog",
        static_cast<double>(sums.engines));
  gauge(out, "enginery_catalog_results", "", "results of steps in the catalog",
        static_cast<double>(sums.results));
  gauge(out, "enginery_catalog_timings", "", "measured tactics in the catalog",
        static_cast<double>(sums.timings));
  gauge(out, "enginery_disk_free_bytes", "bytes", "free on the catalog's file system",
        static_cast<double>(sums.free_bytes));
  gauge(out, "enginery_disk_capacity_bytes", "bytes", "size of the catalog's file system",
        static_cast<double>(sums.capacity_bytes));
}

void add_own(OpenMetrics& out, const FarmFacts& facts) {
  gauge(out, "enginery_uptime_seconds", "seconds", "since the coordinator's start",
        facts.uptime_seconds);
  gauge(out, "process_resident_memory_bytes", "bytes", "resident memory of the coordinator",
        static_cast<double>(facts.resident_bytes));
  gauge(out, "process_open_fds", "", "open file descriptors of the coordinator",
        static_cast<double>(facts.open_files));
}

}  // namespace

Result<CatalogSums> count_catalog(Catalog& catalog) {
  CatalogSums sums;
  TRY(sums.blobs, count(catalog, "SELECT count(*) FROM blob"));
  TRY(sums.blob_bytes, count(catalog, "SELECT coalesce(sum(size_bytes), 0) FROM blob"));
  TRY(sums.engines, count(catalog, "SELECT count(*) FROM engine"));
  TRY(sums.results, count(catalog, "SELECT count(*) FROM result"));
  TRY(sums.timings, count(catalog, "SELECT count(*) FROM timing"));
  std::error_code ignored;
  const auto space = std::filesystem::space(catalog.folder(), ignored);
  if (!ignored) {
    sums.free_bytes = space.available;
    sums.capacity_bytes = space.capacity;
  }
  return sums;
}

void add_process(FarmFacts& facts) {
  uint64_t total_pages = 0, resident_pages = 0;
  std::ifstream("/proc/self/statm") >> total_pages >> resident_pages;
  facts.resident_bytes = resident_pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  std::error_code ignored;
  for (auto it = std::filesystem::directory_iterator("/proc/self/fd", ignored);
       !ignored && it != std::filesystem::directory_iterator(); it.increment(ignored))
    ++facts.open_files;
}

std::string farm_metrics(const FarmFacts& facts) {
  OpenMetrics out;
  add_jobs(out, facts.tally);
  add_fleet(out, facts);
  add_devices(out, facts);
  add_catalog(out, facts.catalog);
  add_own(out, facts);
  return std::move(out).finish();
}

}  // namespace enginery
