#include "cli/local/local_catalog.h"

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

}  // namespace enginery
