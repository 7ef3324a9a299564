// `enginery catalog gc`: what goes, and what its loss would cost.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/local/catalog_actions.h"
#include "cli/output/table.h"

namespace enginery {
namespace {

std::string gc_text(const Json& report) {
  const bool dry_run = report["dry_run"] == true;
  const uint64_t freed = report.value("freed_bytes", uint64_t{0});
  const uint64_t kept = report.value("kept_bytes", uint64_t{0});
  std::string text =
      fmt::format("{} {} in {} of {} blobs; {} {}\n", dry_run ? "would free" : "freed",
                  human_bytes(freed), report.value("blobs", 0), report.value("blobs_before", 0),
                  human_bytes(kept), dry_run ? "would stay" : "stay");
  for (const Json& rebuild : report["rebuilds"]) {
    const int blobs = rebuild.value("blobs", 0);
    text +=
        fmt::format("  to be made again when it is asked for: {}{}\n", rebuild.value("what", ""),
                    blobs > 1 ? fmt::format(" ({} times)", blobs) : "");
  }
  if (const int shared = report.value("files_shared", 0); shared > 0)
    text += fmt::format("{} files of engines' parts now share the engines'\n", shared);
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
