// verify: an engine's signature and the hash of each of its sections.
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/local/user_keys.h"
#include "cli/output/json_output.h"
#include "cli/output/table.h"
#include "cli/verbs/verbs.h"
#include "engine/base/file.h"
#include "engine/format/statement.h"

namespace enginery {
namespace {

class VerifyCommand final : public Command {
 public:
  void declare(Options& options) override {
    options.positional("ENGINE", engine_, "the engine file");
    options.flag("--json", json_, "print JSON (enginery.verify/1)");
    options.about(
        "Its provenance statement (enginery inspect --provenance) must be true of the file.\n"
        "Exit code 5: cut, changed, appended to, or signed by a key that is not trusted here "
        "(enginery keys --help).");
  }

  Result<ExitCode> run(Session& session) override {
    TRY(const TrustStore trust, load_trust());
    TRY(Bytes bytes, read_file(engine_));
    auto read = read_engine(std::make_shared<const Bytes>(std::move(bytes)), trust);
    if (!read.ok()) return read.error().within(engine_);
    const EngineFile& file = *read;
    if (const Status true_statement = check_statement(file); !true_statement.ok())
      return true_statement.error().within(engine_);
    if (json_) {
      print_json(session.console, {{"schema", "enginery.verify/1"},
                                   {"ok", true},
                                   {"engine", file.file_digest.text()},
                                   {"content_digest", file.content_digest.text()},
                                   {"sku", file.manifest.sku},
                                   {"signer", key_id(file.signer)},
                                   {"size_bytes", file.file_bytes},
                                   {"statement", !file.provenance.statement.empty()}});
    } else {
      session.console.print_line("ok " + file.content_digest.text() + " for " + file.manifest.sku +
                                 ", signed by " + key_id(file.signer));
    }
    return ExitCode::ok;
  }

 private:
  std::string engine_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_verify() {
  return std::make_unique<VerifyCommand>();
}

}  // namespace enginery
