// What `enginery catalog ACTION` does, one function for each action.
//
// Where: between the verb, which opens the catalog, and cache/. Threads: one at a time, as the
// Catalog.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cache/catalog.h"
#include "cli/output/console.h"
#include "cli/output/exit_code.h"

namespace enginery {

struct CatalogArguments {
  std::vector<std::string> words;  // after the action
  std::string target;              // --target: a SKU or `this`
  std::string reason;              // --reason of a pin
  std::optional<int64_t> limit;    // ls: most engines listed
  std::optional<int64_t> rehash;   // verify: most blobs hashed again; nothing: all
  bool repair = false, json = false;
  std::optional<int64_t> keep,
      grace_hours;       // gc: engines of a kind that stay; no younger blob goes
  bool dry_run = false;  // gc: only say what would go
};

// Each prints what it did and returns the exit code. Errors: usage (too many or too few words),
// not_found (no such engine or key).

// [NAME]: engines, newest first, and their tags.
Result<ExitCode> catalog_ls(Catalog& catalog, const CatalogArguments& arguments, Console& console);
// ENGINE|KEY: an engine with the fields of its key, or a key with its result.
Result<ExitCode> catalog_show(Catalog& catalog, const CatalogArguments& arguments,
                              Console& console);
// Checks database, references and the bytes of blobs; exit code `failed` where something is wrong.
Result<ExitCode> catalog_verify(Catalog& catalog, const CatalogArguments& arguments,
                                Console& console);
// ENGINE: keeps it from garbage collection; unpin takes that back.
Result<ExitCode> catalog_pin(Catalog& catalog, const CatalogArguments& arguments, Console& console);
Result<ExitCode> catalog_unpin(Catalog& catalog, const CatalogArguments& arguments,
                               Console& console);
// ENGINE TAG: `fetch NAME@TAG` finds it.
Result<ExitCode> catalog_tag(Catalog& catalog, const CatalogArguments& arguments, Console& console);

// Removes what nobody needs: cache/gc.h.
Result<ExitCode> catalog_gc(Catalog& catalog, const CatalogArguments& arguments, Console& console);

}  // namespace enginery
