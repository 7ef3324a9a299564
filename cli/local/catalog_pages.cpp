#include "cli/local/catalog_pages.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

namespace enginery {
namespace {

constexpr int64_t kPage = 500;  // engines; with their tags they fit a message

}  // namespace

Result<Json> list_all_engines(const CatalogDoor& door, const std::string& name,
                              std::optional<int64_t> limit) {
  const std::vector<std::string> words =
      name.empty() ? std::vector<std::string>() : std::vector<std::string>{name};
  Json all, engines = Json::array(), tags = Json::array();
  std::set<std::string> seen;
  int64_t end = limit.value_or(std::numeric_limits<int64_t>::max());
  for (int64_t skip = 0; skip < end; skip += kPage) {
    TRY(Json page, door("ls", words, {{"limit", std::min(kPage, end - skip)}, {"skip", skip}}));
    // What was added meanwhile moves the rows: nothing comes twice.
    for (Json& engine : page["engines"])
      if (seen.insert(engine["engine"].dump() + engine["name"].dump()).second)
        engines.push_back(std::move(engine));
    for (Json& tag : page["tags"])
      if (seen.insert(tag.dump()).second) tags.push_back(std::move(tag));
    end = std::min(end, page.value("rows", int64_t{0}));
    page.erase("rows");
    all = std::move(page);
  }
  all["engines"] = std::move(engines);
  all["tags"] = std::move(tags);
  return all;
}

}  // namespace enginery
