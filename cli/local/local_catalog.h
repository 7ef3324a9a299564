// This user's catalog, which `build` fills and the coordinator of `up` shares.
//
// Where: every verb that works on a local catalog declares a CatalogPlace. Threads: as any value; a
// Catalog says its own rules.
#pragma once

#include <memory>

#include "cache/catalog.h"
#include "cli/options/options.h"
#include "schemas/values.h"

namespace enginery {

// Where the catalog is.
struct CatalogPlace {
  std::string data;  // --data; "" means data_folder()
  void declare(Options& options);
  std::filesystem::path folder() const;
};

// Opens it, and makes one where there is none. Errors: as Catalog::open.
Result<std::unique_ptr<Catalog>> open_catalog(const CatalogPlace& place);
// The same for verbs that only look. Errors: not_found where there is none.
Result<std::unique_ptr<Catalog>> open_existing_catalog(const CatalogPlace& place);

// Why the key was a miss: now where it has no result, else when it was asked for first. not_found:
// no such key.
Result<MissView> explain_miss(Catalog& catalog, const Digest& key);

}  // namespace enginery
