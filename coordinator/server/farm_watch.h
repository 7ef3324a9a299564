// What the HTTP server knows of the farm: WebSources over the control thread, the catalog and the
// tally.
//
// Where: server.cpp makes one beside the WebServer. Counting the catalog and trying to write it are
// done once in a while, whatever the readers ask. Threads: the sources from any thread at once.
#pragma once

#include <mutex>

#include "coordinator/server/control_server.h"
#include "coordinator/server/farm_metrics.h"
#include "coordinator/web/web_server.h"

namespace enginery {

class FarmWatch {
 public:
  // `control` and `catalog` outlive it; `reader` is a connection to the same catalog for itself.
  FarmWatch(ControlServer& control, Catalog& catalog, std::unique_ptr<Catalog> reader);

  WebSources sources();

 private:
  Result<std::string> metrics();
  Status health();
  Result<CatalogSums> catalog_sums();
  Nanoseconds now() const { return catalog_.clock().monotonic(); }

  ControlServer& control_;
  Catalog& catalog_;
  std::unique_ptr<Catalog> reader_;
  const Nanoseconds started_;
  std::mutex mutex_;  // guards what follows; held while counting and trying
  std::optional<Nanoseconds> counted_at_, tried_at_;
  CatalogSums sums_;
  Status tried_;
};

}  // namespace enginery
