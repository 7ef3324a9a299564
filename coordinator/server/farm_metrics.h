// What /metrics shows: the tally, the fleet, the catalog and this process, as OpenMetrics.
//
// Where: WebServer's source of metrics; server.cpp gathers the facts. Threads: free functions; the
// catalog is a connection of the caller's own.
#pragma once

#include <string>

#include "cache/catalog.h"
#include "coordinator/server/tally.h"
#include "schemas/control_messages.h"

namespace enginery {

struct CatalogSums {
  int64_t blobs = 0, blob_bytes = 0, engines = 0, results = 0, timings = 0;
  uint64_t free_bytes = 0, capacity_bytes = 0;  // of the file system
};
// Counts rows: tens of milliseconds in a large catalog, so ask for it now and then. Errors:
// storage.
Result<CatalogSums> count_catalog(Catalog& catalog);

struct FarmFacts {
  TallySums tally;
  std::vector<SkuView> skus;
  std::vector<WorkerView> workers;
  CatalogSums catalog;
  uint64_t resident_bytes = 0, open_files = 0;  // of this process
  double uptime_seconds = 0;
};
// What the process itself takes; 0 where /proc does not say.
void add_process(FarmFacts& facts);

// The text of /metrics.
std::string farm_metrics(const FarmFacts& facts);

}  // namespace enginery
