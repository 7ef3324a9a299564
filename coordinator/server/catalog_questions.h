// What the catalog itself answers: which engines there are, and why a key was a miss.
// Threads: free functions; the catalog is thread-safe, the core belongs to the caller's thread.
#pragma once

#include "cache/catalog.h"
#include "coordinator/core/core.h"

namespace enginery {

// By submitted name, job id, or "sha256:" and at least 8 hex digits; newest first. not_found says
// what was looked for.
Result<EngineList> find_engines(Catalog& catalog, const Core& core, const FindEngines& request);

// For a key, or for each target of a job: the nearest stored action and the fields that differ.
Result<WhyMissReply> why_miss(Catalog& catalog, const Core& core, const WhyMiss& request);

}  // namespace enginery
