// catalog: what was built here, and what is kept of it.
#include "cli/local/catalog_actions.h"
#include "cli/verbs/verbs.h"

namespace enginery {
namespace {

std::vector<CatalogAction> actions() {
  return {{"ls", catalog_ls},   {"show", catalog_show},     {"verify", catalog_verify},
          {"pin", catalog_pin}, {"unpin", catalog_unpin},   {"tag", catalog_tag},
          {"gc", catalog_gc},   {"export", catalog_export}, {"import", catalog_import}};
}

class CatalogCommand final : public Command {
 public:
  void declare(Options& options) override {
    options.positional("ACTION", action_,
                       "ls, show, verify, pin, unpin, tag, gc, export or import");
    options.positionals("ARGUMENT", arguments_.words, "what the action works on",
                        Presence::optional);
    options.text("--target", arguments_.target, "SKU",
                 "show, pin, unpin, tag, export: the engine of this SKU (default: the best that "
                 "this machine runs)");
    options.number("-n,--limit", arguments_.limit, {1, 1'000'000}, "N",
                   "ls: list at most N (default: 1000)");
    options.number("--rehash", arguments_.rehash, {0, INT64_MAX}, "N",
                   "verify: hash only N blobs again (default: all)");
    options.flag("--repair", arguments_.repair,
                 "verify: move damaged blobs aside and forget the results that need them");
    options.text("--reason", arguments_.reason, "TEXT", "pin: why");
    options.flag("--dry-run", arguments_.dry_run, "gc: only say what would go");
    options.number("--keep", arguments_.keep, {0, 1'000'000}, "N",
                   "gc: engines of each model, SKU and toolchain that stay (default: 3)");
    options.number("--grace", arguments_.grace_hours, {0, 1'000'000}, "HOURS",
                   "gc: nothing younger goes (default: 24)");
    options.flag("--json", arguments_.json, "print JSON (enginery.catalog/1 and others)");
    where_.declare(options);
    options.about(
        "  catalog ls [NAME]            engines, newest first\n"
        "  catalog show ENGINE|KEY      one engine with the fields of its key, or a key with its "
        "result\n"
        "  catalog verify [--repair]    database, references, keys and the bytes of every blob; "
        "exit code 1 when something is wrong\n"
        "  catalog pin|unpin ENGINE     protect an engine from garbage collection\n"
        "  catalog tag ENGINE TAG       ENGINE is a name or sha256: and at least 8 hex digits; "
        "fetch finds it as NAME@TAG\n"
        "  catalog gc [--dry-run]       remove what is neither pinned, tagged, among the newest "
        "nor needed by a running job; says what would have to be made again\n"
        "  catalog export FILE [ENGINE...]  engines (all, or those named) with keys, results and "
        "tags in one file, signed with the user's key\n"
        "  catalog import FILE          such a file into this catalog, if its signer is trusted "
        "here "
        "(enginery keys trust)\n\n"
        "With --coordinator (or ENGINERY_COORDINATOR, or the configuration) it is that "
        "coordinator's "
        "catalog.");
  }

  Result<ExitCode> run(Session& session) override {
    return act_on_catalog(actions(), action_, "enginery catalog --help", where_, arguments_,
                          session.console);
  }

 private:
  CatalogOptionsOfVerb where_;
  CatalogArguments arguments_;
  std::string action_;
};

}  // namespace

std::unique_ptr<Command> make_catalog() {
  return std::make_unique<CatalogCommand>();
}

}  // namespace enginery
