// The catalog of this user, which `build` fills and the coordinator of `up` shares.
#pragma once

#include <memory>

#include "cache/catalog.h"
#include "cli/options/options.h"

namespace enginery {

struct CatalogPlace {
  std::string data;  // "" means data_folder()
  void declare(Options& options);
  std::filesystem::path folder() const;
};

Result<std::unique_ptr<Catalog>> open_catalog(const CatalogPlace& place);
// not_found instead of making one where there is none: for verbs that only look.
Result<std::unique_ptr<Catalog>> open_existing_catalog(const CatalogPlace& place);

}  // namespace enginery
