#include "cli/local/local_catalog.h"

#include "cache/results.h"
#include "engine/base/file.h"

namespace enginery {
namespace {

Result<std::unique_ptr<Catalog>> open_folder(const std::filesystem::path& folder) {
  auto catalog = Catalog::open(folder);
  if (catalog.ok() || catalog.error().code != ErrorCode::storage) return catalog;
  Error error = catalog.error();
  error.message +=
      "; --data or ENGINERY_HOME names another folder, enginery doctor examines this one";
  return error;
}

}  // namespace

void CatalogPlace::declare(Options& options) {
  options.text("--data", data, "DIR",
               "the catalog's folder (default: enginery's data folder, shared with `up`)");
}

std::filesystem::path CatalogPlace::folder() const {
  return data.empty() ? data_folder() : std::filesystem::path(data);
}

Result<std::unique_ptr<Catalog>> open_catalog(const CatalogPlace& place) {
  return open_folder(place.folder());
}

Result<std::unique_ptr<Catalog>> open_existing_catalog(const CatalogPlace& place) {
  std::error_code ignored;
  if (!std::filesystem::exists(place.folder() / "catalog.db", ignored)) {
    return Error{ErrorCode::not_found, "there is no catalog in " + place.folder().string() +
                                           " yet; the first build makes one"};
  }
  return open_folder(place.folder());
}

Result<MissView> explain_miss(Catalog& catalog, const Digest& digest) {
  Results& results = catalog.results();
  TRY(const ActionKey key, results.find_action(digest));
  TRY(const auto present, results.lookup(digest));
  MissView miss;
  miss.key = digest;
  miss.present = present.has_value();
  if (const std::string* sku = key.find("sku")) miss.sku = *sku;
  int64_t at_ns = kNow;
  if (miss.present) {
    TRY(at_ns, recorded_ns(catalog.database(), digest));
  }
  TRY(const auto all, nearest_actions(catalog.database(), {&key, 1}, at_ns));
  const std::optional<NearestAction>& nearest = all.front();
  if (!nearest) return miss;
  miss.nearest = nearest->key;
  for (const KeyDifference& field : nearest->differs)
    miss.differs.push_back({field.field, field.wanted, field.had});
  return miss;
}

}  // namespace enginery
