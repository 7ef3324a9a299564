// `enginery catalog gc`: what goes, and what its loss would cost.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/local/catalog_actions.h"
#include "cli/output/table.h"
#include "cli/output/text.h"

namespace enginery {
namespace {

std::string gc_text(const Json& report) {
  const bool dry_run = report["dry_run"] == true;
  const uint64_t freed = report.value("freed_bytes", uint64_t{0});
  const uint64_t kept = report.value("kept_bytes", uint64_t{0});
  std::string text = fmt::format("{} {} in {} of {}; {} {}\n", dry_run ? "would free" : "freed",
                                 human_bytes(freed), report.value("blobs", 0),
                                 counted(report.value("blobs_before", uint64_t{0}), "blob"),
                                 human_bytes(kept), dry_run ? "would stay" : "stay");
  for (const Json& rebuild : report["rebuilds"]) {
    const uint64_t blobs = rebuild.value("blobs", uint64_t{0});
    text +=
        fmt::format("  to be made again when it is asked for: {}{}\n", rebuild.value("what", ""),
                    blobs > 1 ? fmt::format(" ({})", counted(blobs, "blob")) : "");
  }
  if (const uint64_t shared = report.value("files_shared", uint64_t{0}); shared > 0)
    text +=
        counted(shared, "file") + (shared == 1 ? " of an engine's part now shares the engine's\n"
                                               : " of engines' parts now share the engines'\n");
  return text;
}

}  // namespace

Result<ExitCode> catalog_gc(const CatalogDoor& door, const CatalogArguments& arguments,
                            Console& console) {
  CHECK_OK(words_between(arguments, 0, 0, "catalog gc [--dry-run] [--keep N] [--grace HOURS]"));
  Json options = {{"dry_run", arguments.dry_run}};
  if (arguments.keep) options["keep"] = *arguments.keep;
  if (arguments.grace_hours) options["grace_hours"] = *arguments.grace_hours;
  TRY(const Json report, door("gc", {}, options));
  if (arguments.json)
    print_json(console, report);
  else
    console.print(gc_text(report));
  return ExitCode::ok;
}

}  // namespace enginery
