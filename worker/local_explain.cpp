#include "worker/local_explain.h"

#include <algorithm>

#include "engine/options/target_options.h"
#include "engine/plan/network.h"
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

// Of the nodes that the layer is made of, whose names are joined by +.
std::set<Precision> own_precisions(const BuildOptions& options, const std::string& layer) {
  std::vector<Precision> asked;
  for (size_t start = 0, end; start <= layer.size(); start = end + 1) {
    end = std::min(layer.find('+', start), layer.size());
    if (const auto p = precision_of(options.layer_precisions, layer.substr(start, end - start)))
      asked.push_back(*p);
  }
  return allowed_together(asked);
}

}  // namespace

Result<ConsideredProblem> explain_layer(Catalog& catalog, const LocalBuildRequest& request,
                                        const PlanStep& step) {
  if (request.timing_cache == "none")
    return Error{ErrorCode::usage, "--explain: with --timing-cache none no timing is kept"};
  const BuildOptions options = options_for(request.sku, request.options);
  BuildOptions unlimited = options;  // what the limit leaves out is told, too
  unlimited.memory_pools = {};
  TRY(const Target target, request.open(request.sku, unlimited));
  const std::string device = device_key(target.device->info());
  TRY(const auto timings, timings_of(catalog, request, device, step.problem.key()));
  const int level = options.provisional ? 0 : options.level;
  const std::set<Precision> own = own_precisions(options, step.name);
  return consider(step.problem, target.sources, own.empty() ? options.precisions : own, level,
                  timings, options.memory_pools.workspace);
}

}  // namespace enginery
