// verify: an engine's signature, hashes and provenance; or a set of engines.
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/farm/set_files.h"
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
    options.positional("ENGINE", engine_,
                       "the engine file, or a NAME.set with its engines beside it");
    options.flag("--json", json_, "print JSON (enginery.verify/1; of a set enginery.verify.set/1)");
    options.about(
        "Its provenance statement (enginery inspect --provenance) must be true of the file.\n"
        "Exit code 5: cut, changed, appended to, or signed by a key that is not trusted here "
        "(enginery keys --help).");
  }

  Result<ExitCode> run(Session& session) override {
    TRY(const TrustStore trust, load_trust());
    TRY(Bytes bytes, read_file(engine_));
    if (looks_like_set(bytes)) return verify_set(bytes, trust, session.console);
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
  Result<ExitCode> verify_set(const Bytes& bytes, const TrustStore& trust, Console& console) const {
    const Result<SignedSet> read = read_set(as_bytes(bytes), trust);
    if (!read.ok()) return read.error().within(engine_);
    const auto folder = std::filesystem::path(engine_).parent_path();
    const Status files = check_set_files(read->set, folder);
    if (!files.ok()) return files.error().within(engine_);
    if (json_) {
      Json skus = Json::array();
      for (const EngineView& engine : read->set.engines) skus.push_back(engine.sku);
      print_json(console, {{"schema", "enginery.verify.set/1"},
                           {"ok", true},
                           {"name", valid_utf8(read->set.name)},
                           {"job", json_text_or_null(read->set.job)},
                           {"skus", skus},
                           {"signer", key_id(read->signer)}});
    } else {
      console.print_line("ok " + std::to_string(read->set.engines.size()) + " engines of " +
                         read->set.name + ", signed by " + key_id(read->signer));
    }
    return ExitCode::ok;
  }

  std::string engine_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_verify() {
  return std::make_unique<VerifyCommand>();
}

}  // namespace enginery
