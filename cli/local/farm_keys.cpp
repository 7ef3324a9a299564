#include "cli/local/farm_keys.h"

#include <unistd.h>

#include "cli/local/user_keys.h"
#include "coordinator/client/client.h"
#include "engine/base/clock.h"
#include "engine/base/file.h"

namespace enginery {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::hours kTokenLife{24};
constexpr std::chrono::seconds kJoinPatience{6};

fs::path address_file(const fs::path& data) {
  return data / "keys" / "coordinator.address";
}
fs::path joined_file() {
  return keys_folder() / "farm" / "joined.key";
}

std::string this_host() {
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  return host;
}

Result<CurveKey> coordinator_key(const fs::path& data) {
  Result<CurveKey> key = CurveKey::load(data / "keys" / kCoordinatorKeyFile);
  if (key.ok() || key.error().code != ErrorCode::not_found) return key;
  return Error{ErrorCode::not_found, "no coordinator's key is in " + (data / "keys").string() +
                                         "; run this on the coordinator's host with its --data, or "
                                         "make one: enginery keys coordinator new"};
}

// The key that a token is to be exchanged for; kept before it is sent, so that an answer that is
// lost costs nothing.
Result<FarmIdentity> pending_key(const fs::path& file, const FarmIdentity& token) {
  Result<FarmIdentity> known = read_identity(file);
  if (known.ok() || known.error().code != ErrorCode::not_found) return known;
  FarmIdentity made{"", CurveKey::generate(), token.coordinator, token.address};
  CHECK_OK(write_identity(file, made));
  return made;
}

}  // namespace

Principals farm_principals(const fs::path& data) {
  return Principals(data / "keys");
}

Result<PublicKey> make_coordinator_key(const fs::path& data) {
  TRY(const CurveKey key, CurveKey::load_or_create(data / "keys" / kCoordinatorKeyFile));
  return key.public_key;
}

Result<Principal> make_farm_key(const fs::path& data, const NewKey& wanted, const fs::path& file) {
  TRY(const CurveKey coordinator, coordinator_key(data));
  std::error_code ignored;
  if (fs::exists(file, ignored))
    return Error{ErrorCode::usage, file.string() + " is there already; choose another with -o"};
  const CurveKey key = CurveKey::generate();
  const Principal principal{key.public_key, wanted.name, wanted.roles, wanted.tenant, 0, 0, {}};
  CHECK_OK(farm_principals(data).allow(principal));
  const std::string address = wanted.address.empty() ? known_address(data) : wanted.address;
  CHECK_OK(write_identity(file, {wanted.name, key, coordinator.public_key, address}));
  return principal;
}

Result<std::string> make_token(const fs::path& data, const std::string& tenant,
                               const std::string& address) {
  TRY(const CurveKey coordinator, coordinator_key(data));
  const std::string reached = dialable(address.empty() ? known_address(data) : address);
  if (reached.empty())
    return Error{ErrorCode::usage,
                 "a token names the coordinator's address, and none is known yet: say it with "
                 "--address tcp://HOST:PORT"};
  const CurveKey key = CurveKey::generate();
  const auto end = SystemClock().wall_time() + kTokenLife;
  const int64_t end_s = std::chrono::duration_cast<std::chrono::seconds>(end).count();
  CHECK_OK(
      farm_principals(data).allow({key.public_key, "token", Role::join, tenant, end_s, 0, {}}));
  return join_token({"", key, coordinator.public_key, reached});
}

Status remember_address(const fs::path& data, const std::string& address) {
  return write_file(address_file(data), address + "\n", 0600);
}

std::string known_address(const fs::path& data) {
  const Result<Bytes> text = read_file(address_file(data), 4096);
  return text.ok() ? text->substr(0, text->find('\n')) : "";
}

std::string dialable(const std::string& address) {
  return address.empty() ? "" : with_host_of(address, "tcp://" + this_host() + ":0");
}

Result<fs::path> redeem_token(const std::string& token, const std::string& name) {
  TRY(const FarmIdentity holder, parse_join_token(token));
  const fs::path pending =
      joined_file().parent_path() / (key_id(holder.own.public_key) + ".pending");
  TRY(FarmIdentity mine, pending_key(pending, holder));
  ClientOptions options;
  options.address = holder.address;
  options.connect_timeout = kJoinPatience;
  auto client = Client::connect(options, make_zmq_dial({holder, false}));
  if (!client.ok() && client.error().code == ErrorCode::untrusted)
    return Error{ErrorCode::untrusted,
                 "join: the coordinator at " + holder.address + " does not take this token (" +
                     key_id(holder.own.public_key) +
                     "): it is not known there, revoked or expired. On its host, `enginery keys "
                     "token` makes another"};
  if (!client.ok()) return client.error().within("join");
  TRY(mine.name, (*client)->join(mine.own.public_key, name.empty() ? this_host() : name));
  CHECK_OK(write_identity(joined_file(), mine));
  return joined_file();
}

Result<fs::path> joined_key() {
  std::error_code ignored;
  if (fs::exists(joined_file(), ignored)) return joined_file();
  return Error{ErrorCode::not_found,
               "join: this host has joined no farm yet; on the coordinator's host, `enginery keys "
               "token` prints the token for: enginery join TOKEN"};
}

}  // namespace enginery
