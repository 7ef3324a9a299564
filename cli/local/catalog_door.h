// One door to a catalog, wherever it is: this machine's folder, or the coordinator that is named.
//
// Where: `enginery catalog` and `enginery cache` open it with where_catalog_is; behind it are the
// actions of coordinator/catalog, which do the same in both places. Threads: one at a time.
#pragma once

#include <functional>

#include "cli/farm/farm.h"
#include "cli/local/local_catalog.h"
#include "cli/output/json_output.h"
#include "coordinator/catalog/catalog_actions.h"

namespace enginery {

struct CatalogDoor {
  // Carries the action out and gives its document. Errors: as carry_out, and as Client.
  std::function<Result<Json>(const std::string& action, const std::vector<std::string>& words,
                             const Json& options)>
      act;
  // Hands out a blob's bytes in order; whoever takes them checks their hash. Errors: not_found.
  std::function<Status(const Digest& digest, const ChunkSink& sink)> read;
  // Stores a blob. Errors: corrupt_data (the bytes have another hash).
  std::function<Status(const Digest& digest, ByteSpan bytes)> write;

  Result<Json> operator()(const std::string& action, const std::vector<std::string>& words,
                          const Json& options) const;
};

// The catalogs outlive the door.
CatalogDoor door_to(Catalog& catalog, Catalog& reader);
CatalogDoor door_to(std::shared_ptr<Client> client);

// Where the catalog of a verb is: in --data's folder when it is named, else with the coordinator
// that is named (--coordinator, ENGINERY_COORDINATOR, configuration), else in the user's folder.
struct CatalogOptionsOfVerb {
  CatalogPlace place;
  FarmOptions farm;
  void declare(Options& options);
};
// What happens where the folder has no catalog: an import makes one.
enum class NoCatalog : uint8_t { is_an_error, is_made };
// Errors: not_found (no catalog in the folder), unavailable (no coordinator answers).
Result<CatalogDoor> open_door(const CatalogOptionsOfVerb& where,
                              NoCatalog missing = NoCatalog::is_an_error);

}  // namespace enginery
