// keys: the user's own signing key and the public keys that it trusts.
#include <nlohmann/json.hpp>

#include "cli/local/user_keys.h"
#include "cli/output/json_output.h"
#include "cli/output/table.h"
#include "cli/verbs/verbs.h"

namespace enginery {
namespace {

Json key_json(const KnownKey& key) {
  return {{"id", key.id()},
          {"role", to_string(key.role)},
          {"public", key.hex()},
          {"file", valid_utf8(key.file.string())}};
}

class KeysCommand final : public Command {
 public:
  void declare(Options& options) override {
    options.positional("ACTION", action_, "show, new, trust or untrust");
    options.positional("KEY", argument_,
                       "trust: a file with a public key, or its hex digits; untrust: a key's id",
                       Presence::optional);
    options.flag("--replace", replace_,
                 "new: make another key even if there is one; the old one stays trusted");
    options.flag("--json", json_, "print JSON (enginery.keys/1)");
    options.about(
        "Engines are signed. `build` signs with your own key, made on first use; a farm signs with "
        "its coordinator's.\n"
        "`run`, `bench`, `inspect`, `verify` and `fetch` refuse what an unknown key signed (exit "
        "code 5) and name its id.");
  }

  Result<ExitCode> run(Session& session) override {
    const bool takes_argument = action_ == "trust" || action_ == "untrust";
    if (takes_argument && argument_.empty())
      return Error{ErrorCode::usage, action_ + " needs a key (enginery keys --help)"};
    if (!takes_argument && !argument_.empty())
      return Error{ErrorCode::usage, action_ + " takes no argument"};
    if (action_ == "show") return show(session.console);
    if (action_ == "new") {
      TRY(const KnownKey key, make_own_key(replace_ ? ExistingKey::retire : ExistingKey::keep));
      return print_one(session.console, key);
    }
    if (action_ == "trust") {
      TRY(const PublicKey key, parse_public_key(argument_));
      TRY(const KnownKey trusted, trust_key(key));
      return print_one(session.console, trusted);
    }
    if (action_ == "untrust") {
      TRY(const KnownKey removed, untrust_key(argument_));
      return print_one(session.console, removed);
    }
    return Error{ErrorCode::usage,
                 "unknown action '" + action_ + "'; there are: show, new, trust, untrust"};
  }

 private:
  Result<ExitCode> show(Console& console) const {
    TRY(const auto keys, known_keys());
    if (json_) {
      Json rows = Json::array();
      for (const KnownKey& key : keys) rows.push_back(key_json(key));
      print_json(console, {{"schema", "enginery.keys/1"}, {"keys", rows}});
      return ExitCode::ok;
    }
    Table table({{"ID"}, {"ROLE"}, {"PUBLIC KEY"}});
    for (const KnownKey& key : keys) table.add({key.id(), to_string(key.role), key.hex()});
    if (table.empty())
      console.note("no keys yet; the first build makes one, or: enginery keys new");
    if (!table.empty()) console.print(table.text());
    return ExitCode::ok;
  }

  Result<ExitCode> print_one(Console& console, const KnownKey& key) const {
    if (json_) {
      Json json{{"schema", "enginery.keys/1"}};
      json["keys"] = Json::array({key_json(key)});
      print_json(console, json);
    } else {
      console.print_line(key.id());
    }
    return ExitCode::ok;
  }

  std::string action_, argument_;
  bool replace_ = false, json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_keys() {
  return std::make_unique<KeysCommand>();
}

}  // namespace enginery
