// Workers, device types, engines and events as JSON. cli/README.md has the rules of these
// documents.
//
// Where: printed by the command line, served by the coordinator over HTTP. Threads: free functions
// without state.
#pragma once

#include <optional>
#include <vector>

#include "coordinator/views/json_values.h"
#include "schemas/values.h"

namespace enginery {

// {"schema":"enginery.workers/1","workers":[..]}
Json workers_json(const std::vector<WorkerView>& workers);

// A device type: `here` says whether this machine has it; nothing where nobody looked.
struct SkuLine {
  std::string sku, kind;
  std::optional<bool> here = false;
  uint32_t workers = 0, idle = 0;
  std::vector<ToolchainView> toolchains;
};
// {"schema":"enginery.skus/1","skus":[..]}
Json skus_json(const std::vector<SkuLine>& skus);

// {"schema":"enginery.engines/1","engines":[..]}
Json engines_json(const std::vector<EngineView>& engines);

// A line of the journal, without a schema of its own.
Json event_json(const EventView& event);
// {"schema":"enginery.events/1","events":[..],"next"}: `next` is where the next question goes on.
Json events_json(const std::vector<EventView>& events, int64_t next);

}  // namespace enginery
