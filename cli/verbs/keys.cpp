// keys: the user's own signing key and the public keys that it trusts; and, where a coordinator's
// data is, the keys that it lets in over the network.
#include <nlohmann/json.hpp>

#include "cli/local/farm_keys.h"
#include "cli/local/local_catalog.h"
#include "cli/local/user_keys.h"
#include "cli/output/json_output.h"
#include "cli/output/table.h"
#include "cli/verbs/verbs.h"
#include "engine/base/clock.h"

namespace enginery {
namespace {

Json key_json(const KnownKey& key) {
  return {{"id", key.id()},
          {"role", to_string(key.role)},
          {"public", key.hex()},
          {"file", valid_utf8(key.file.string())}};
}

Json principal_json(const Principal& principal) {
  const auto moment = [](int64_t seconds) { return seconds == 0 ? Json(nullptr) : Json(seconds); };
  return {{"id", principal.id()},
          {"name", principal.name},
          {"roles", principal.roles.text()},
          {"tenant", principal.tenant},
          {"public", key_text(principal.key)},
          {"expires_s", moment(principal.expires_s)},
          {"revoked_s", moment(principal.revoked_s)},
          {"used_by", principal.is_used() ? Json(key_id(principal.made)) : Json(nullptr)}};
}

std::string state_of(const Principal& principal, int64_t now_s) {
  if (principal.revoked_s != 0) return "revoked";
  if (principal.is_used()) return "used by " + key_id(principal.made);
  if (principal.expires_s != 0 && principal.expires_s <= now_s) return "expired";
  return "in force";
}

class KeysCommand final : public Command {
 public:
  void declare(Options& options) override {
    options.positional(
        "ACTION", action_,
        "show, new, trust or untrust; list, allow, revoke or token; client, worker or "
        "coordinator");
    options.positional(
        "KEY", argument_,
        "trust: a file with a public key, or its hex digits; untrust: a key's id; "
        "allow: 64 hex digits; revoke: a name or an id; client, worker, coordinator: "
        "new",
        Presence::optional);
    options.positional("NAME", name_, "client new, worker new: what the key is called",
                       Presence::optional);
    options.text("--name", name_, "NAME", "the same, for allow");
    options.text(
        "--role", roles_, "LIST",
        "what the key may: submit, fetch, work, admin (client: submit,fetch; worker: work)");
    options.text("--tenant", tenant_, "NAME",
                 "its own jobs, engines and results: it sees no other tenant's");
    options.text("-o,--output", output_, "FILE", "the key's file (default: NAME.key)");
    options.text(
        "--address", address_, "URL",
        "the coordinator's, into the key's file or the token (default: where `up` listens)");
    place_.declare(options);
    options.flag("--replace", replace_,
                 "new: make another key even if there is one; the old one stays trusted");
    options.flag("--json", json_, "print JSON (enginery.keys/1)");
    options.about(
        "Engines are signed. `build` signs with your own key, made on first use; a farm signs with "
        "its coordinator's.\n"
        "`run`, `bench`, `inspect`, `verify` and `fetch` refuse what an unknown key signed (exit "
        "code 5) and name its id.");
    options.about(
        "A coordinator on the network serves keys that it knows, on its host:\n"
        "  keys client new NAME     a key for a person or a script; the file goes to --key or "
        "ENGINERY_KEY\n"
        "  keys worker new NAME     a key for a host's workers; `keys token` lets `enginery join` "
        "make one itself\n"
        "  keys list                who may what; keys revoke NAME takes effect at once\n"
        "  keys allow HEX --name NAME --role LIST     lets a key in that was made elsewhere, or "
        "again\n"
        "  keys coordinator new     the coordinator's own; `up --listen` makes it itself");
  }

  Result<ExitCode> run(Session& session) override {
    CHECK_OK(check_words());
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
    return run_farm(session.console);
  }

 private:
  // What each action takes beside options.
  Status check_words() const {
    struct Words {
      const char* action;
      bool argument, name;
    };
    static constexpr Words kActions[] = {
        {"show", false, false},   {"new", false, false},        {"trust", true, false},
        {"untrust", true, false}, {"list", false, false},       {"token", false, false},
        {"allow", true, true},    {"revoke", true, false},      {"client", true, true},
        {"worker", true, true},   {"coordinator", true, false},
    };
    std::string all;
    for (const Words& words : kActions) {
      all += std::string(all.empty() ? "" : ", ") + words.action;
      if (action_ != words.action) continue;
      if (words.argument && argument_.empty())
        return Error{ErrorCode::usage, action_ + " needs a key (enginery keys --help)"};
      if (!words.argument && !argument_.empty())
        return Error{ErrorCode::usage, action_ + " takes no argument"};
      if (words.name && name_.empty())
        return Error{ErrorCode::usage, action_ + " needs a name (enginery keys --help)"};
      return {};
    }
    return Error{ErrorCode::usage, "unknown action '" + action_ + "'; there are: " + all};
  }

  Result<ExitCode> run_farm(Console& console) {
    if (!tenant_.empty() && (action_ == "worker" || action_ == "token"))
      return Error{ErrorCode::usage, "--tenant is of those who submit: workers serve every tenant"};
    const Principals principals = farm_principals(place_.folder());
    if (action_ == "list") return list(console, principals);
    if (action_ == "token") {
      TRY(const std::string token, make_token(place_.folder(), tenant_, address_));
      return say(console, "join " + token, {{"join", token}});
    }
    if (action_ == "revoke") {
      TRY(const Principal revoked,
          principals.revoke(argument_, seconds_of(SystemClock().wall_time())));
      return say(console, "revoked " + revoked.id() + " '" + revoked.name + "'",
                 principal_json(revoked));
    }
    if (action_ == "allow") return allow(console, principals);
    if (argument_ != "new")
      return Error{ErrorCode::usage, "keys " + action_ + " takes: new; not '" + argument_ + "'"};
    if (action_ == "coordinator") {
      TRY(const PublicKey key, make_coordinator_key(place_.folder()));
      return say(console, key_text(key), {{"public", key_text(key)}});
    }
    return make(console);
  }

  Result<ExitCode> allow(Console& console, const Principals& principals) const {
    if (roles_.empty())
      return Error{ErrorCode::usage, "allow needs --role: some of submit, fetch, work, admin"};
    Principal principal;
    TRY(principal.key, parse_key(argument_));
    TRY(principal.roles, parse_roles(roles_));
    principal.name = name_;
    principal.tenant = tenant_;
    CHECK_OK(principals.allow(principal));
    return say(console, "allowed " + principal.id() + " '" + name_ + "' " + principal.roles.text(),
               principal_json(principal));
  }

  Result<ExitCode> make(Console& console) const {
    const std::string usual = action_ == "worker" ? "work" : "submit,fetch";
    NewKey wanted{name_, {}, tenant_, address_};
    TRY(wanted.roles, parse_roles(roles_.empty() ? usual : roles_));
    const std::string file = output_.empty() ? name_ + ".key" : output_;
    TRY(const Principal made, make_farm_key(place_.folder(), wanted, file));
    Json json = principal_json(made);
    json["file"] = valid_utf8(file);
    return say(console, file, json);
  }

  Result<ExitCode> list(Console& console, const Principals& principals) const {
    TRY(const std::vector<Principal> all, principals.all());
    if (json_) {
      Json rows = Json::array();
      for (const Principal& principal : all) rows.push_back(principal_json(principal));
      print_json(console, {{"schema", "enginery.keys/1"}, {"principals", rows}});
      return ExitCode::ok;
    }
    const int64_t now_s = seconds_of(SystemClock().wall_time());
    Table table({{"ID"}, {"NAME"}, {"ROLES"}, {"TENANT"}, {"STATE"}});
    for (const Principal& p : all)
      table.add({p.id(), p.name, p.roles.text(), p.tenant, state_of(p, now_s)});
    if (table.empty()) console.note("no keys are allowed yet; enginery keys client new NAME");
    if (!table.empty()) console.print(table.text(console.table_width()));
    return ExitCode::ok;
  }

  static int64_t seconds_of(Nanoseconds time) {
    return std::chrono::duration_cast<std::chrono::seconds>(time).count();
  }

  Result<ExitCode> say(Console& console, const std::string& line, const Json& json) const {
    if (!json_) {
      console.print_line(line);
      return ExitCode::ok;
    }
    print_json(console, {{"schema", "enginery.keys/1"}, {"principals", Json::array({json})}});
    return ExitCode::ok;
  }

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
    if (!table.empty()) console.print(table.text(console.table_width()));
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

  std::string action_, argument_, name_, roles_, tenant_, output_, address_;
  CatalogPlace place_;
  bool replace_ = false, json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_keys() {
  return std::make_unique<KeysCommand>();
}

}  // namespace enginery
