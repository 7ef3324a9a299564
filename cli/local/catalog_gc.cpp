// `enginery catalog gc`: what goes, and what its loss would cost.
#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "cache/gc.h"
#include "cli/local/catalog_actions.h"
#include "cli/output/json_output.h"
#include "cli/output/table.h"
#include "coordinator/store/queue_roots.h"

namespace enginery {
namespace {

// How many of the dropped blobs each thing that would have to be made again needs.
std::map<std::string, int> rebuilds_of(const GcReport& report) {
  std::map<std::string, int> count;
  for (const GcDropped& dropped : report.dropped)
    for (const std::string& rebuild : dropped.rebuilds) ++count[rebuild];
  return count;
}

std::string gc_text(const GcReport& report, bool dry_run) {
  std::string text = fmt::format("{} {} in {} of {} blobs ({} in all)\n",
                                 dry_run ? "would free" : "freed", human_bytes(report.bytes_freed),
                                 report.dropped.size(), report.blobs, human_bytes(report.bytes));
  for (const auto& [what, count] : rebuilds_of(report))
    text += fmt::format("  to be made again when it is asked for: {}{}\n", what,
                        count > 1 ? fmt::format(" ({} times)", count) : "");
  return text;
}

Json gc_json(const GcReport& report, bool dry_run) {
  Json blobs = Json::array();
  for (const GcDropped& dropped : report.dropped) {
    Json rebuilds = Json::array();
    for (const std::string& rebuild : dropped.rebuilds) rebuilds.push_back(valid_utf8(rebuild));
    blobs.push_back({{"blob", dropped.digest.text()},
                     {"size_bytes", dropped.size_bytes},
                     {"rebuilds", rebuilds}});
  }
  return {{"schema", "enginery.catalog.gc/1"}, {"dry_run", dry_run},    {"bytes", report.bytes},
          {"bytes_freed", report.bytes_freed}, {"blobs", report.blobs}, {"dropped", blobs}};
}

}  // namespace

Result<ExitCode> catalog_gc(Catalog& catalog, const CatalogArguments& arguments, Console& console) {
  if (!arguments.words.empty())
    return Error{ErrorCode::usage,
                 "expected: enginery catalog gc [--dry-run] [--keep N] [--grace HOURS]"};
  GcOptions options;
  options.dry_run = arguments.dry_run;
  options.newest = arguments.keep.value_or(options.newest);
  if (arguments.grace_hours) {
    options.grace = std::chrono::hours(*arguments.grace_hours);
    options.small_grace = std::max(options.grace, options.small_grace);
  }
  TRY(options.in_use, blobs_of_running_jobs(catalog));
  int64_t shared = 0;
  if (!options.dry_run) {
    TRY(shared, share_engine_files(catalog));
  }
  TRY(const GcReport report, collect_garbage(catalog, options));
  if (arguments.json)
    print_json(console, gc_json(report, options.dry_run));
  else
    console.print(gc_text(report, options.dry_run) +
                  (shared > 0
                       ? fmt::format("{} files of engines' parts now share the engines'\n", shared)
                       : ""));
  return ExitCode::ok;
}

}  // namespace enginery
