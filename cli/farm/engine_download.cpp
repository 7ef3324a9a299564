#include "cli/farm/engine_download.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace enginery {
namespace {

std::string skus_of(const std::vector<EngineView>& engines) {
  std::string text;
  std::set<std::string> seen;
  for (const EngineView& engine : engines) {
    if (seen.insert(engine.sku).second) text += (text.empty() ? "" : ", ") + engine.sku;
  }
  return text;
}

const EngineView* first_of(const std::vector<EngineView>& engines, const std::string& sku) {
  for (const EngineView& engine : engines) {
    if (engine.sku == sku) return &engine;
  }
  return nullptr;
}

const EngineView* first_wished(const EngineQuery& wish, const std::vector<EngineView>& candidates) {
  if (wish.skus.empty()) return &candidates.front();
  for (const std::string& sku : wish.skus) {
    if (const EngineView* found = first_of(candidates, sku)) return found;
  }
  return nullptr;
}

std::string reason_against(const EngineView& engine, const EngineView& chosen,
                           const EngineQuery& wish) {
  const bool wished = wish.skus.empty() ||
                      std::find(wish.skus.begin(), wish.skus.end(), engine.sku) != wish.skus.end();
  if (!wished) return "is for another device";
  if (engine.sku != chosen.sku) return "runs here too, but " + chosen.sku + " comes first";
  return "is older";
}

}  // namespace

EngineQuery parse_engine_wish(const std::string& text) {
  const size_t at = text.rfind('@');
  const bool tagged = at != std::string::npos && at > 0 && !text.starts_with("sha256:");
  if (!tagged) return {text, "", {}};
  return {text.substr(0, at), text.substr(at + 1), {}};
}

Result<EngineChoice> choose_engine(const EngineQuery& wish,
                                   const std::vector<EngineView>& candidates) {
  const std::string name = wish.name + (wish.tag.empty() ? "" : "@" + wish.tag);
  if (candidates.empty()) {
    return Error{
        ErrorCode::not_found,
        fmt::format("the farm has no engine called {}; enginery jobs lists what was built, "
                    "enginery submit MODEL --name {} builds one",
                    name, wish.name)};
  }
  const EngineView* chosen = first_wished(wish, candidates);
  if (!chosen) {
    return Error{ErrorCode::not_found, fmt::format("{} has no engine for {}; it has: {}", name,
                                                   wish.skus.front(), skus_of(candidates))};
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
                                         reason_against(other, *chosen, wish)));
  }
  return choice;
}

std::filesystem::path default_engine_path(const std::string& name, const std::string& sku) {
  std::string file = name + "." + sku + ".engine";
  for (char& c : file) {
    const bool bad = c == '/' || c == '\\' || static_cast<unsigned char>(c) < 0x20;
    if (bad) c = '_';
  }
  return std::filesystem::path(".") / file;
}

}  // namespace enginery
