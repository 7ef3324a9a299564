// Choosing which of the farm's engines `fetch` downloads for a device.
//
// Where: between the client's find_engines and its get_blob. Threads: free functions without state.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/client/client.h"
#include "enginery/types.h"

namespace enginery {

// An engine of the farm, with what it was built for.
struct EngineCandidate : EngineView {
  // Asked for, as for --shapes; "": the model's own; "not told": equal to none that is asked for.
  std::string shapes;
};

// What a person asks for.
struct EngineQuery {
  std::string name;               // a model's name, a job's id, or "sha256:..."
  std::string tag;                // of NAME@TAG; "" for the newest
  std::vector<std::string> skus;  // the best device first; empty: any (a digest names one engine)
  // Asked for; nothing: as the newest engine. The precision in the catalog's words ("fp32,fp16").
  std::optional<std::map<std::string, Dims>> shapes;
  std::optional<std::string> precision;
};

// Splits NAME[@TAG]; `skus` stays empty. A digest has no tag.
EngineQuery parse_engine_query(const std::string& text);

// What the farm has for the query: the engines of each of its SKUs, asked for by SKU because the
// newest of a name may all be of another one, then those of others. Errors: of the client;
// not_found: no such name.
Result<std::vector<EngineCandidate>> find_candidates(Client& client, const EngineQuery& query);

// The error of a name that the farm does not know, with the nearest names and jobs that it does,
// and where a list is.
Error with_names_like(Client& client, const std::string& name, Error error);

struct EngineChoice {
  EngineCandidate engine;
  std::vector<std::string> reasons;  // one sentence for every candidate, the chosen one first
  std::string others;  // one sentence for what else the farm has for that SKU; "" for nothing
};

// The best engine of the query's first SKU that has one: of the newest engine's model, for the
// shapes and the precision that are asked for (else the newest one's), tuned before untuned, then
// the lowest measured latency, then the newest. `candidates`: newest first. Errors: not_found,
// saying what there is instead.
Result<EngineChoice> choose_engine(const EngineQuery& query,
                                   const std::vector<EngineCandidate>& candidates);

}  // namespace enginery
