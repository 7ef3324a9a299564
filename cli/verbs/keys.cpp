// keys: the user's own signing key and the public keys that it trusts.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/local/trust.h"
#include "cli/output/json_output.h"
#include "cli/output/table.h"
#include "cli/verbs/verbs.h"
#include "engine/base/file.h"

namespace enginery {
namespace {

namespace fs = std::filesystem;

struct KnownKey {
  std::string id, role;  // role: "own" or "trusted"
  std::string public_hex;
  fs::path file;
};

std::string hex_of(const PublicKey& key) {
  return to_hex(std::as_bytes(std::span(key)));
}

fs::path trusted_folder() {
  return keys_folder() / "trusted";
}
fs::path trusted_file(const PublicKey& key) {
  return trusted_folder() / (key_id(key) + ".pub");
}

Result<std::vector<KnownKey>> known_keys() {
  std::vector<KnownKey> keys;
  const auto own = SigningKey::load(signing_key_file());
  if (own.ok())
    keys.push_back(
        {key_id(own->public_key()), "own", hex_of(own->public_key()), signing_key_file()});
  if (!own.ok() && own.error().code != ErrorCode::not_found) return own.error();
  std::vector<fs::path> files;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(trusted_folder(), ignored)) {
    if (entry.path().extension() == ".pub") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) {
    TRY(const PublicKey key, read_public_key(file));
    keys.push_back({key_id(key), "trusted", hex_of(key), file});
  }
  return keys;
}

Json key_json(const KnownKey& key) {
  return {{"id", key.id},
          {"role", key.role},
          {"public", key.public_hex},
          {"file", valid_utf8(key.file.string())}};
}

// A public key from a file, or given as its 64 hex digits.
Result<PublicKey> public_key_of(const std::string& argument) {
  std::error_code ignored;
  if (fs::exists(argument, ignored)) return read_public_key(argument);
  const auto bytes = from_hex(argument);
  if (!bytes.ok() || bytes->size() != PublicKey{}.size()) {
    return Error{ErrorCode::not_found,
                 "trust " + argument + ": no such file, and not the 64 hex digits of a public key"};
  }
  PublicKey key{};
  std::copy(bytes->begin(), bytes->end(), key.begin());
  return key;
}

class KeysCommand final : public Command {
 public:
  void declare(Options& options) override {
    options.positional("ACTION", action_, "show, new, trust or untrust");
    options.positional("KEY", argument_,
                       "trust: a file with a public key, or its hex digits; untrust: a key's id",
                       Presence::optional);
    options.flag("--replace", replace_,
                 "new: make another key although there is one; the old one stays trusted");
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
    if (action_ == "new") return make_new(session.console);
    if (action_ == "trust") return trust(session.console);
    if (action_ == "untrust") return untrust(session.console);
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
    for (const KnownKey& key : keys) table.add({key.id, key.role, key.public_hex});
    if (table.empty())
      console.note("no keys yet; the first build makes one, or: enginery keys new");
    if (!table.empty()) console.print(table.text());
    return ExitCode::ok;
  }

  Result<ExitCode> make_new(Console& console) const {
    const auto old = SigningKey::load(signing_key_file());
    if (!old.ok() && old.error().code != ErrorCode::not_found) return old.error();
    if (old.ok() && !replace_) {
      return Error{
          ErrorCode::usage,
          fmt::format(
              "there is a key already, {}; --replace makes another and keeps trusting this one",
              key_id(old->public_key()))};
    }
    if (old.ok()) {
      CHECK_OK(write_public_key(trusted_file(old->public_key()), old->public_key()));
      std::error_code failed;
      fs::remove(signing_key_file(), failed);
      if (failed)
        return Error{ErrorCode::storage,
                     "remove " + signing_key_file().string() + ": " + failed.message()};
    }
    TRY(const SigningKey key, SigningKey::load_or_create(signing_key_file()));
    return print_one(
        console, {key_id(key.public_key()), "own", hex_of(key.public_key()), signing_key_file()});
  }

  Result<ExitCode> trust(Console& console) const {
    TRY(const PublicKey key, public_key_of(argument_));
    CHECK_OK(write_public_key(trusted_file(key), key));
    return print_one(console, {key_id(key), "trusted", hex_of(key), trusted_file(key)});
  }

  Result<ExitCode> untrust(Console& console) const {
    TRY(const auto keys, known_keys());
    std::vector<KnownKey> matching;
    for (const KnownKey& key : keys) {
      if (argument_.size() >= 4 && key.id.starts_with(argument_)) matching.push_back(key);
    }
    std::erase_if(matching, [](const KnownKey& key) { return key.role != "trusted"; });
    if (matching.empty()) {
      return Error{ErrorCode::not_found,
                   "no trusted key has the id " + argument_ + " (enginery keys show lists them)"};
    }
    if (matching.size() > 1)
      return Error{ErrorCode::usage, "more than one trusted key begins with " + argument_};
    std::error_code failed;
    fs::remove(matching.front().file, failed);
    if (failed)
      return Error{ErrorCode::storage,
                   "remove " + matching.front().file.string() + ": " + failed.message()};
    return print_one(console, matching.front());
  }

  Result<ExitCode> print_one(Console& console, const KnownKey& key) const {
    if (json_) {
      Json json{{"schema", "enginery.keys/1"}};
      json["keys"] = Json::array({key_json(key)});
      print_json(console, json);
    } else {
      console.print_line(key.id);
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
