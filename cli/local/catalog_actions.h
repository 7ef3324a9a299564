// What `enginery catalog ACTION` and `enginery cache ... ACTION` do, one function for each action:
// asks through the door, and prints the document or a text made of it.
//
// Where: between the verbs and coordinator/catalog. Threads: one at a time.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/local/catalog_door.h"
#include "cli/output/exit_code.h"

namespace enginery {

struct CatalogArguments {
  std::vector<std::string> words;  // after the action
  std::string target;              // --target: a SKU or `this`
  std::string reason;              // --reason of a pin
  std::optional<int64_t> limit;    // most engines or timings listed
  std::optional<int64_t> rehash;   // verify: most blobs hashed again; nothing: all
  bool repair = false, json = false;
  std::optional<int64_t> keep,
      grace_hours;       // gc: engines of a kind that stay; no younger blob goes
  bool dry_run = false;  // gc: only say what would go
};

// Each prints what it did and returns the exit code. Errors: usage (too many or too few words),
// not_found (no such engine or key), and as the door.
using CatalogVerb = Result<ExitCode>(const CatalogDoor& door, const CatalogArguments& arguments,
                                     Console& console);

// An action of a verb, by its name.
struct CatalogAction {
  std::string name;
  CatalogVerb* act;
};

// Opens the catalog and carries out the action of the name; an import makes the catalog where there
// is none. Errors: usage (no such action: which was meant, and where `help` says more), and those
// of open_door and of the action.
Result<ExitCode> act_on_catalog(const std::vector<CatalogAction>& actions, const std::string& name,
                                std::string_view help, const CatalogOptionsOfVerb& where,
                                const CatalogArguments& arguments, Console& console);

// [NAME]: engines, newest first, and their tags.
CatalogVerb catalog_ls;
// ENGINE|KEY: an engine with the fields of its key, or a key with its result.
CatalogVerb catalog_show;
// Checks database, references and the bytes of blobs; exit code `failed` where something is wrong.
CatalogVerb catalog_verify;
// ENGINE: keeps it from garbage collection; unpin takes that back.
CatalogVerb catalog_pin, catalog_unpin;
// ENGINE TAG: `fetch NAME@TAG` finds it.
CatalogVerb catalog_tag;
// Removes what nobody needs: cache/gc.h.
CatalogVerb catalog_gc;

// FILE [ENGINE...]: engines with their keys, results and tags as one signed file; FILE: into the
// catalog again. Errors: untrusted (the file was changed, or its signer is not trusted here).
CatalogVerb catalog_export, catalog_import;

// Timings: the devices; those of a problem; to a file and from one; away with them.
CatalogVerb timing_ls, timing_query, timing_export, timing_import, timing_clear;

// Calibrations: those of the catalog; to a file and from one; shards of histograms made one, which
// needs no catalog.
CatalogVerb calibration_ls, calibration_export, calibration_import, calibration_merge;

// The SKUs of which an engine is looked for, as an action's options: the one that is asked for,
// else those that this machine runs, the best first.
Result<Json> sku_options(const CatalogArguments& arguments);

// usage, with the shape, when there are fewer or more words.
Status words_between(const CatalogArguments& arguments, size_t min, size_t max,
                     std::string_view shape);

}  // namespace enginery
