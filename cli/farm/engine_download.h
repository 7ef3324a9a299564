// Choosing an engine of the farm for a device and bringing it here.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/output/console.h"
#include "coordinator/client/client.h"

namespace enginery {

// What a person asked for: NAME[@tag], a job, or sha256:...; and for which devices, the best first
// (one unless `this`).
struct EngineQuery {
  std::string name, tag;
  std::vector<std::string> skus;  // empty: any (a digest names one engine)
};

EngineQuery parse_engine_wish(const std::string& text);

struct EngineChoice {
  EngineView engine;
  std::vector<std::string> reasons;  // one sentence for every candidate, the chosen one first
};

// The newest engine of the first wished SKU that has one. not_found: which SKUs there are instead.
Result<EngineChoice> choose_engine(const EngineQuery& wish,
                                   const std::vector<EngineView>& candidates);

// ./NAME.SKU.engine, with characters that are no good in file names replaced by '_'.
std::filesystem::path default_engine_path(const std::string& name, const std::string& sku);

}  // namespace enginery
