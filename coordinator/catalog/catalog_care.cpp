// The actions on the catalog as a whole: verify, repair, gc.
#include <map>
#include <nlohmann/json.hpp>

#include "cache/gc.h"
#include "cache/verify.h"
#include "coordinator/catalog/catalog_action_list.h"
#include "coordinator/store/queue_roots.h"

namespace enginery {
namespace {

CatalogJson verify_document(const VerifyReport& report) {
  CatalogJson problems = CatalogJson::array();
  for (const VerifyProblem& problem : report.problems) {
    if (problems.size() == kMaxListed) break;
    problems.push_back(
        {{"kind", problem.kind}, {"subject", problem.subject}, {"detail", problem.detail}});
  }
  return {{"schema", "enginery.catalog.verify/1"},
          {"clean", report.clean()},
          {"problems", problems},
          {"problem_count", report.problems.size()},
          {"blobs", report.blobs},
          {"blobs_hashed", report.blobs_hashed},
          {"bytes_hashed", report.bytes_hashed},
          {"results", report.results},
          {"engines", report.engines},
          {"orphans", report.orphans},
          {"repaired", report.repaired}};
}

VerifyOptions verify_options(const CatalogAccess& access, const CatalogInput& input) {
  VerifyOptions options;
  options.rehash_at_most = input.number("rehash").value_or(-1);
  options.seed = static_cast<uint64_t>(access.catalog.clock().wall_time().count());
  return options;
}

CatalogJson gc_document(const GcReport& report, bool dry_run, int64_t shared) {
  std::map<std::string, int> count;  // of the dropped blobs that each rebuild needs
  CatalogJson dropped = CatalogJson::array(), rebuilds = CatalogJson::array();
  for (const GcDropped& blob : report.dropped) {
    for (const std::string& rebuild : blob.rebuilds) ++count[rebuild];
    if (dropped.size() < kMaxListed)
      dropped.push_back({{"blob", blob.digest.text()},
                         {"size_bytes", blob.size_bytes},
                         {"rebuilds", blob.rebuilds}});
  }
  for (const auto& [what, blobs] : count)
    if (rebuilds.size() < kMaxListed) rebuilds.push_back({{"what", what}, {"blobs", blobs}});
  return {{"schema", "enginery.gc/1"},
          {"dry_run", dry_run},
          {"freed_bytes", report.bytes_freed},
          {"kept_bytes", report.bytes - report.bytes_freed},
          {"blobs", report.dropped.size()},
          {"blobs_before", report.blobs},
          {"files_shared", shared},
          {"rebuilds", rebuilds},
          {"dropped", dropped}};
}

}  // namespace

Result<CatalogJson> verify_catalog(const CatalogAccess& access, const CatalogInput& input) {
  TRY(const VerifyReport report, verify(access.reader, verify_options(access, input)));
  return verify_document(report);
}

Result<CatalogJson> repair_catalog(const CatalogAccess& access, const CatalogInput& input) {
  VerifyOptions options = verify_options(access, input);
  options.repair = true;
  TRY(const VerifyReport report, verify(access.catalog, options));
  return verify_document(report);
}

Result<CatalogJson> collect_catalog(const CatalogAccess& access, const CatalogInput& input) {
  GcOptions options;
  options.dry_run = input.flag("dry_run");
  options.newest = input.number("keep").value_or(options.newest);
  if (const auto hours = input.number("grace_hours")) {
    options.grace = std::chrono::hours(*hours);
    options.small_grace = std::max(options.grace, options.small_grace);
  }
  TRY(options.in_use, blobs_of_running_jobs(access.reader));
  int64_t shared = 0;
  if (!options.dry_run) {
    TRY(shared, share_engine_files(access.catalog));
  }
  TRY(const GcReport report, collect_garbage(access.catalog, options, &access.reader));
  return gc_document(report, options.dry_run, shared);
}

}  // namespace enginery
