#include "cli/local/local_catalog.h"

#include "engine/base/file.h"

namespace enginery {

void CatalogPlace::declare(Options& options) {
  options.text("--data", data, "DIR",
               "the catalog's folder (default: enginery's data folder, shared with `up`)");
}

std::filesystem::path CatalogPlace::folder() const {
  return data.empty() ? data_folder() : std::filesystem::path(data);
}

Result<std::unique_ptr<Catalog>> open_catalog(const CatalogPlace& place) {
  return Catalog::open(place.folder());
}

Result<std::unique_ptr<Catalog>> open_existing_catalog(const CatalogPlace& place) {
  std::error_code ignored;
  if (!std::filesystem::exists(place.folder() / "catalog.db", ignored)) {
    return Error{ErrorCode::not_found, "there is no catalog in " + place.folder().string() +
                                           " yet; the first build makes one"};
  }
  return Catalog::open(place.folder());
}

}  // namespace enginery
