#include "cli/farm/engine_download.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/output/text.h"

namespace enginery {
namespace {

// "p4, cpu-avx2": each once, in the order of the engines.
std::string skus_of(const std::vector<EngineView>& engines) {
  std::vector<std::string> skus;
  for (const EngineView& engine : engines) {
    if (std::find(skus.begin(), skus.end(), engine.sku) == skus.end()) skus.push_back(engine.sku);
  }
  return joined(skus, ", ");
}

const EngineView* first_of(const std::vector<EngineView>& engines, const std::string& sku) {
  for (const EngineView& engine : engines) {
    if (engine.sku == sku) return &engine;
  }
  return nullptr;
}

const EngineView* first_match(const EngineQuery& query, const std::vector<EngineView>& candidates) {
  if (query.skus.empty()) return &candidates.front();
  for (const std::string& sku : query.skus) {
    if (const EngineView* found = first_of(candidates, sku)) return found;
  }
  return nullptr;
}

std::string reason_against(const EngineView& engine, const EngineView& chosen,
                           const EngineQuery& query) {
  const bool is_asked_for = query.skus.empty() || std::find(query.skus.begin(), query.skus.end(),
                                                            engine.sku) != query.skus.end();
  if (!is_asked_for) return "is for another device";
  if (engine.sku != chosen.sku) return "runs here too, but " + chosen.sku + " comes first";
  return "is older";
}

}  // namespace

EngineQuery parse_engine_query(const std::string& text) {
  const size_t at = text.rfind('@');
  const bool tagged = at != std::string::npos && at > 0 && !text.starts_with("sha256:");
  if (!tagged) return {text, "", {}};
  return {text.substr(0, at), text.substr(at + 1), {}};
}

Result<std::vector<EngineView>> find_candidates(Client& client, const EngineQuery& query) {
  constexpr uint32_t kMost = 1000;
  std::vector<EngineView> candidates;
  for (const std::string& sku : query.skus) {
    auto of_sku = client.find_engines({query.name, query.tag, sku, kMost});
    if (!of_sku.ok() && of_sku.error().code != ErrorCode::not_found) return of_sku.error();
    if (of_sku.ok()) candidates.insert(candidates.end(), of_sku->begin(), of_sku->end());
  }
  auto others = client.find_engines({query.name, query.tag, "", kMost});
  if (!others.ok() && candidates.empty()) return others.error();
  for (EngineView& engine : others.ok() ? *others : std::vector<EngineView>()) {
    if (std::find(query.skus.begin(), query.skus.end(), engine.sku) == query.skus.end())
      candidates.push_back(std::move(engine));
  }
  return candidates;
}

Result<EngineChoice> choose_engine(const EngineQuery& query,
                                   const std::vector<EngineView>& candidates) {
  const std::string name = query.name + (query.tag.empty() ? "" : "@" + query.tag);
  if (candidates.empty()) {
    return Error{
        ErrorCode::not_found,
        fmt::format("the farm has no engine called {}; enginery jobs lists what was built, "
                    "enginery submit MODEL --name {} builds one",
                    name, query.name)};
  }
  const EngineView* chosen = first_match(query, candidates);
  if (!chosen) {
    return Error{ErrorCode::not_found, fmt::format("{} has no engine for {}; it has: {}", name,
                                                   query.skus.front(), skus_of(candidates))};
  }
  EngineChoice choice{*chosen, {}};
  choice.reasons.push_back(fmt::format(
      "{} {} is taken: the newest for {}{}", chosen->engine.text().substr(0, 19), chosen->name,
      chosen->sku,
      chosen->provisional ? " (untuned: no worker of that device has built it yet)" : ""));
  for (const EngineView& other : candidates) {
    if (&other == chosen) continue;
    choice.reasons.push_back(fmt::format("{} {} for {} {}", other.engine.text().substr(0, 19),
                                         other.name, other.sku,
                                         reason_against(other, *chosen, query)));
  }
  return choice;
}

}  // namespace enginery
