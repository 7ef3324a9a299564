// Choosing which of the farm's engines `fetch` downloads for a device.
//
// Where: between the client's find_engines and its get_blob. Threads: free functions without state.
#pragma once

#include <string>
#include <vector>

#include "coordinator/client/client.h"

namespace enginery {

// What a person asks for.
struct EngineQuery {
  std::string name;               // a model's name, a job's id, or "sha256:..."
  std::string tag;                // of NAME@TAG; "" for the newest
  std::vector<std::string> skus;  // the best device first; empty: any (a digest names one engine)
};

// Splits NAME[@TAG]; `skus` stays empty. A digest has no tag.
EngineQuery parse_engine_query(const std::string& text);

// What the farm has for the query: the engines of each of its SKUs, asked for by SKU because the
// newest of a name may all be of another one, then those of others. Errors: of the client;
// not_found: no such name.
Result<std::vector<EngineView>> find_candidates(Client& client, const EngineQuery& query);

struct EngineChoice {
  EngineView engine;
  std::vector<std::string> reasons;  // one sentence for every candidate, the chosen one first
};

// The newest engine of the query's first SKU that has one. `candidates`: newest first. Errors:
// not_found, saying which SKUs there are instead.
Result<EngineChoice> choose_engine(const EngineQuery& query,
                                   const std::vector<EngineView>& candidates);

}  // namespace enginery
