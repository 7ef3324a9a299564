// What `enginery catalog ACTION` does, one function an action.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cache/catalog.h"
#include "cli/output/console.h"
#include "cli/output/exit_code.h"

namespace enginery {

struct CatalogArguments {
  std::vector<std::string> words;  // behind the action
  std::string target;              // --target: a SKU or `this`
  std::string reason;              // --reason of a pin
  std::optional<int64_t> limit, rehash;
  bool repair = false, json = false;
};

// Each returns the exit code or what prevented it; usage: words too many or too few.
Result<ExitCode> catalog_ls(Catalog& catalog, const CatalogArguments& arguments, Console& console);
Result<ExitCode> catalog_show(Catalog& catalog, const CatalogArguments& arguments,
                              Console& console);
Result<ExitCode> catalog_verify(Catalog& catalog, const CatalogArguments& arguments,
                                Console& console);
Result<ExitCode> catalog_pin(Catalog& catalog, const CatalogArguments& arguments, Console& console);
Result<ExitCode> catalog_unpin(Catalog& catalog, const CatalogArguments& arguments,
                               Console& console);
Result<ExitCode> catalog_tag(Catalog& catalog, const CatalogArguments& arguments, Console& console);

}  // namespace enginery
