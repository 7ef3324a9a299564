#include "worker/local_explain.h"

#include "engine/options/target_options.h"
#include "worker/timing/catalog_timing_store.h"
#include "worker/timing/timing_file.h"

namespace enginery {
namespace {

Result<std::vector<Timing>> timings_of(Catalog& catalog, const LocalBuildRequest& request,
                                       const std::string& device, const std::string& problem) {
  if (request.timing_cache.empty()) return CatalogTimingStore(catalog).find(device, problem);
  TRY(const auto file, FileTimingStore::open(request.timing_cache, catalog.clock()));
  return file->find(device, problem);
}

}  // namespace

Result<ConsideredProblem> explain_layer(Catalog& catalog, const LocalBuildRequest& request,
                                        const PlanStep& step) {
  if (request.timing_cache == "none")
    return Error{ErrorCode::usage, "--explain: with --timing-cache none no timing is kept"};
  const BuildOptions options = options_for(request.sku, request.options);
  TRY(const Target target, request.open(request.sku, options));
  const std::string device = device_key(target.device->info());
  TRY(const auto timings, timings_of(catalog, request, device, step.problem.key()));
  const int level = options.provisional ? 0 : options.level;
  return consider(step.problem, target.sources, options.precisions, level, timings);
}

}  // namespace enginery
