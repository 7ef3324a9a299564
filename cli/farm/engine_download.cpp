#include "cli/farm/engine_download.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/output/json_output.h"
#include "cli/output/table.h"
#include "cli/output/text.h"
#include "engine/base/did_you_mean.h"
#include "engine/options/options.h"

namespace enginery {
namespace {

// "p4, cpu-avx2": each once, in the order of the engines.
std::string skus_of(const std::vector<EngineCandidate>& engines) {
  std::vector<std::string> skus;
  for (const EngineCandidate& engine : engines) {
    if (std::find(skus.begin(), skus.end(), engine.sku) == skus.end()) skus.push_back(engine.sku);
  }
  return joined(skus, ", ");
}

bool is_asked_for(const EngineCandidate& engine, const EngineQuery& query) {
  return query.skus.empty() ||
         std::find(query.skus.begin(), query.skus.end(), engine.sku) != query.skus.end();
}

std::string shapes_of(const EngineCandidate& engine) {
  return engine.shapes.empty() ? "the model's own shapes" : "shapes " + engine.shapes;
}

// What an engine must be to be compared by its speed: that of the newest of its SKU, or what was
// asked for instead.
struct Wanted {
  std::string sku, shapes, precision;
  Digest model;

  bool fits(const EngineCandidate& engine) const {
    return engine.sku == sku && engine.model == model && engine.shapes == shapes &&
           engine.precision == precision;
  }
};

bool matches(const EngineCandidate& engine, const EngineQuery& query) {
  const auto shapes = parse_shapes(engine.shapes);
  return (!query.shapes || (shapes.ok() && *shapes == *query.shapes)) &&
         (!query.precision || engine.precision == *query.precision);
}

std::optional<Wanted> wanted_of_sku(const EngineQuery& query, const std::string& sku,
                                    const std::vector<EngineCandidate>& candidates) {
  for (const EngineCandidate& engine : candidates) {
    if ((sku.empty() || engine.sku == sku) && matches(engine, query))
      return Wanted{engine.sku, engine.shapes, engine.precision, engine.model};
  }
  return std::nullopt;
}

std::optional<Wanted> wanted_of(const EngineQuery& query,
                                const std::vector<EngineCandidate>& candidates) {
  if (query.skus.empty()) return wanted_of_sku(query, "", candidates);
  for (const std::string& sku : query.skus) {
    if (auto found = wanted_of_sku(query, sku, candidates)) return found;
  }
  return std::nullopt;
}

// Tuned before untuned, then by latency, of which 0 is not known.
bool is_better(const EngineCandidate& a, const EngineCandidate& b) {
  if (a.provisional != b.provisional) return !a.provisional;
  const bool a_known = a.latency_ms > 0, b_known = b.latency_ms > 0;
  if (a_known != b_known) return a_known;
  return a.latency_ms < b.latency_ms;
}

const EngineCandidate& best_of(const Wanted& wanted,
                               const std::vector<EngineCandidate>& candidates) {
  const EngineCandidate* best = nullptr;
  for (const EngineCandidate& engine : candidates) {
    if (wanted.fits(engine) && (!best || is_better(engine, *best))) best = &engine;
  }
  ENSURE(best != nullptr, "a wanted engine that is none of the candidates");
  return *best;
}

std::string latency_text(const EngineCandidate& engine) {
  return engine.latency_ms > 0 ? human_milliseconds(engine.latency_ms) + " ms" : "not measured";
}

std::string reason_against(const EngineCandidate& engine, const EngineCandidate& chosen,
                           const EngineQuery& query) {
  if (!is_asked_for(engine, query)) return "is for another device";
  if (engine.sku != chosen.sku) return "runs here too, but " + chosen.sku + " comes first";
  if (engine.model != chosen.model) return "is of an older model";
  if (engine.shapes != chosen.shapes) return "is for " + shapes_of(engine);
  if (engine.precision != chosen.precision) return "allows " + engine.precision;
  if (engine.provisional && !chosen.provisional) return "is untuned";
  if (is_better(chosen, engine)) return "is slower: " + latency_text(engine);
  return "is older";
}

// "others for p4: 3 of the same kind, shapes a:8x3 (fp32), ...".
std::string others_of(const EngineCandidate& chosen,
                      const std::vector<EngineCandidate>& candidates) {
  std::vector<std::string> kinds;
  int same = 0, older = 0;
  for (const EngineCandidate& engine : candidates) {
    if (engine.sku != chosen.sku || engine.engine == chosen.engine) continue;
    if (engine.model != chosen.model) {
      ++older;
    } else if (engine.shapes == chosen.shapes && engine.precision == chosen.precision) {
      ++same;
    } else {
      const std::string kind = shapes_of(engine) + " in " + engine.precision;
      if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) kinds.push_back(kind);
    }
  }
  if (same > 0) kinds.insert(kinds.begin(), fmt::format("{} that are no better", same));
  if (older > 0) kinds.push_back(fmt::format("{} of older models", older));
  if (kinds.empty()) return "";
  return fmt::format("others for {}: {} (--explain lists them; --shapes, --precision choose)",
                     chosen.sku, joined(kinds, ", "));
}

// What of the device there is, where the asked shapes or precision are not among it.
Error nothing_fits(const std::string& name, const EngineQuery& query,
                   const std::vector<EngineCandidate>& candidates) {
  std::vector<std::string> kinds;
  for (const EngineCandidate& engine : candidates) {
    const std::string kind = engine.sku + ": " + shapes_of(engine) + " in " + engine.precision;
    const bool is_new = std::find(kinds.begin(), kinds.end(), kind) == kinds.end();
    if (is_asked_for(engine, query) && is_new) kinds.push_back(kind);
  }
  if (kinds.empty() || (!query.shapes && !query.precision))
    return {ErrorCode::not_found,
            fmt::format("{} has no engine for {}; it has: {}", name,
                        query.skus.empty() ? "that" : query.skus.front(), skus_of(candidates))};
  return {ErrorCode::not_found, fmt::format("{} has no engine of these shapes and this precision; "
                                            "it has: {}",
                                            name, joined(kinds, "; "))};
}

// The shapes that the name's newest engines were built for, by the engines' digests; what the
// coordinator does not tell is not among them.
std::map<std::string, std::string> shapes_in_catalog(Client& client, const std::string& name) {
  constexpr size_t kPage = 200, kMostPages = 5;
  std::map<std::string, std::string> shapes;
  for (size_t page = 0; page < kMostPages; ++page) {
    const Json options{{"limit", kPage}, {"skip", page * kPage}};
    const Result<std::string> listed = client.ask_catalog({"ls", {name}, options.dump()});
    const Json document = Json::parse(listed.ok() ? *listed : "", nullptr, false);
    if (!document.is_object() || !document.contains("engines")) break;
    for (const Json& engine : document["engines"])
      if (engine.contains("shapes"))
        shapes[engine.value("engine", "")] = engine.value("shapes", "");
    if (document["engines"].size() < kPage) break;
  }
  return shapes;
}

}  // namespace

EngineQuery parse_engine_query(const std::string& text) {
  const size_t at = text.rfind('@');
  const bool tagged = at != std::string::npos && at > 0 && !text.starts_with("sha256:");
  EngineQuery query;
  query.name = tagged ? text.substr(0, at) : text;
  if (tagged) query.tag = text.substr(at + 1);
  return query;
}

Result<std::vector<EngineCandidate>> find_candidates(Client& client, const EngineQuery& query) {
  constexpr uint32_t kMost = 1000;
  std::vector<EngineView> engines;
  for (const std::string& sku : query.skus) {
    auto of_sku = client.find_engines({query.name, query.tag, sku, kMost});
    if (!of_sku.ok() && of_sku.error().code != ErrorCode::not_found) return of_sku.error();
    if (of_sku.ok()) engines.insert(engines.end(), of_sku->begin(), of_sku->end());
  }
  auto others = client.find_engines({query.name, query.tag, "", kMost});
  if (!others.ok() && engines.empty()) return others.error();
  for (EngineView& engine : others.ok() ? *others : std::vector<EngineView>()) {
    if (std::find(query.skus.begin(), query.skus.end(), engine.sku) == query.skus.end())
      engines.push_back(std::move(engine));
  }
  std::map<std::string, std::string> shapes;
  if (!engines.empty()) shapes = shapes_in_catalog(client, engines.front().name);
  std::vector<EngineCandidate> candidates;
  for (EngineView& engine : engines) {
    const std::string digest = engine.engine.text();
    const auto told = shapes.find(digest);
    candidates.push_back({std::move(engine), told == shapes.end() ? "not told" : told->second});
  }
  return candidates;
}

Error with_names_like(Client& client, const std::string& name, Error error) {
  if (error.code != ErrorCode::not_found || name.starts_with("sha256:")) return error;
  std::set<std::string> known;
  constexpr uint32_t kMost = 1000;
  const auto engines = client.find_engines({"", "", "", kMost});
  for (const EngineView& engine : engines.ok() ? *engines : std::vector<EngineView>())
    known.insert(engine.name);
  const auto jobs = client.jobs(kMost);
  for (const JobLine& job : jobs.ok() ? *jobs : std::vector<JobLine>()) known.insert(job.id);
  error.message +=
      did_you_mean(name, {known.begin(), known.end()}) + " (enginery jobs lists what was built)";
  return error;
}

Result<EngineChoice> choose_engine(const EngineQuery& query,
                                   const std::vector<EngineCandidate>& candidates) {
  const std::string name = query.name + (query.tag.empty() ? "" : "@" + query.tag);
  if (candidates.empty()) {
    return Error{
        ErrorCode::not_found,
        fmt::format("the farm has no engine called {}; enginery jobs lists what was built, "
                    "enginery submit MODEL --name {} builds one",
                    name, query.name)};
  }
  const std::optional<Wanted> wanted = wanted_of(query, candidates);
  if (!wanted) return nothing_fits(name, query, candidates);
  const EngineCandidate& chosen = best_of(*wanted, candidates);
  EngineChoice choice{chosen, {}, others_of(chosen, candidates)};
  choice.reasons.push_back(fmt::format(
      "{} {} is taken: the best for {} of the newest model, {}, {}{}",
      chosen.engine.text().substr(0, 19), chosen.name, chosen.sku, shapes_of(chosen),
      latency_text(chosen),
      chosen.provisional ? " (untuned: no worker of that device has built it yet)" : ""));
  for (const EngineCandidate& other : candidates) {
    if (&other == &chosen) continue;
    choice.reasons.push_back(fmt::format("{} {} for {} {}", other.engine.text().substr(0, 19),
                                         other.name, other.sku,
                                         reason_against(other, chosen, query)));
  }
  return choice;
}

}  // namespace enginery
