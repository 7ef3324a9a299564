// cache: what builds have measured and seen of calibration data, and carrying it from one catalog
// to another.
#include "cli/local/catalog_actions.h"
#include "cli/verbs/verbs.h"
#include "engine/base/did_you_mean.h"

namespace enginery {
namespace {

std::vector<CatalogAction> timing_actions() {
  return {{"ls", timing_ls},
          {"query", timing_query},
          {"export", timing_export},
          {"import", timing_import},
          {"clear", timing_clear}};
}

std::vector<CatalogAction> calibration_actions() {
  return {{"ls", calibration_ls},
          {"export", calibration_export},
          {"import", calibration_import},
          {"merge", calibration_merge}};
}

class CacheCommand final : public Command {
 public:
  void declare(Options& options) override {
    options.positional("CACHE", cache_, "timing or calibration");
    options.positional("ACTION", action_,
                       "timing: ls, query, export, import or clear; "
                       "calibration: ls, export, import or merge");
    options.positionals("ARGUMENT", arguments_.words, "what the action works on",
                        Presence::optional);
    options.text("--target", arguments_.target, "SKU", "only what was measured on this SKU");
    options.number("-n,--limit", arguments_.limit, {1, 10'000}, "N",
                   "query: at most N timings (default: 50)");
    options.flag("--json", arguments_.json,
                 "print JSON (enginery.cache.timing/1, .calibration/1 and others)");
    where_.declare(options);
    options.about(
        "  cache timing ls              the devices that were measured on, with the number of "
        "timings\n"
        "  cache timing query TEXT      the timings of problems that contain the text\n"
        "  cache timing export FILE     all of them into a file, for another catalog\n"
        "  cache timing import FILE     what is newer there than here\n"
        "  cache timing clear           away with them: the next build measures anew\n"
        "  cache calibration ls         the histograms that --calib-data collected\n"
        "  cache calibration export FILE [KEY...]\n"
        "  cache calibration import FILE\n"
        "  cache calibration merge FILE SHARD...   histograms of several parts of the data as "
        "one;\n"
        "                               a part is a file of histograms or an export of one KEY\n\n"
        "With --coordinator (or ENGINERY_COORDINATOR, or the configuration) it is that "
        "coordinator's "
        "catalog. One build's own file is `build --timing-cache FILE`.");
  }

  Result<ExitCode> run(Session& session) override {
    const bool timing = cache_ == "timing";
    if (!timing && cache_ != "calibration")
      return Error{ErrorCode::usage, "unknown cache '" + cache_ + "'" +
                                         did_you_mean(cache_, {"timing", "calibration"}) +
                                         " (enginery cache --help)"};
    return act_on_catalog(timing ? timing_actions() : calibration_actions(), action_,
                          "enginery cache --help", where_, arguments_, session.console);
  }

 private:
  CatalogOptionsOfVerb where_;
  CatalogArguments arguments_;
  std::string cache_, action_;
};

}  // namespace

std::unique_ptr<Command> make_cache() {
  return std::make_unique<CacheCommand>();
}

}  // namespace enginery
