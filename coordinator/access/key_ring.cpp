#include "coordinator/access/key_ring.h"

#include <sys/stat.h>

#include <cstring>

#include "coordinator/client/identity.h"
#include "engine/base/log.h"

namespace enginery {
namespace {

// What changes whenever the file is replaced; "" where there is none.
std::string state_of(const std::filesystem::path& file) {
  struct stat info {};
  if (stat(file.c_str(), &info) != 0) return "";
  return std::to_string(info.st_ino) + " " + std::to_string(info.st_size) + " " +
         std::to_string(info.st_mtim.tv_sec) + "." + std::to_string(info.st_mtim.tv_nsec);
}

Error refused(const PublicKey& key, const std::string& why, const std::string& next) {
  return {ErrorCode::untrusted, "key " + key_id(key) + " " + why +
                                    "; on the coordinator's host, this allows it: enginery keys " +
                                    next};
}

std::string described(const Principal& principal) {
  return principal.name + "' (role " + principal.roles.text() + ")";
}

// "submit,fetch" of roles that are one or another.
std::string any_of(Roles roles) {
  std::string text = roles.text();
  for (size_t comma; (comma = text.find(',')) != std::string::npos;) text.replace(comma, 1, " or ");
  return text;
}

}  // namespace

int64_t KeyRing::now_s() const {
  return std::chrono::duration_cast<std::chrono::seconds>(clock_.wall_time()).count();
}

// With a list that cannot be read nobody is let in.
Status KeyRing::refresh() {
  const std::string state = state_of(principals_.file());
  if (state == seen_) return {};
  known_.clear();
  seen_.clear();
  const Result<std::vector<Principal>> all = principals_.all();
  if (!all.ok()) {
    log_error("keys: nobody is let in: " + all.error().message);
    return Error{ErrorCode::untrusted,
                 "the coordinator cannot read its list of keys; its log says "
                 "why"};
  }
  for (const Principal& principal : *all) known_[principal.key] = principal;
  seen_ = state;
  return {};
}

Result<Principal> KeyRing::find(const PublicKey& key) {
  const std::lock_guard lock(mutex_);
  CHECK_OK(refresh());
  const auto found = known_.find(key);
  const std::string allow = "allow " + key_text(key) + " --name NAME --role ROLE";
  if (found == known_.end()) return refused(key, "is not known to this coordinator", allow);
  const Principal& principal = found->second;
  if (principal.revoked_s != 0)
    return refused(key, "'" + principal.name + "' has been revoked",
                   "allow " + key_text(key) + " --name " + principal.name + " --role " +
                       principal.roles.text());
  if (principal.expires_s != 0 && principal.expires_s <= now_s())
    return refused(key, "'" + principal.name + "' has expired",
                   principal.is_token() ? "token" : allow);
  return principal;
}

Result<Principal> KeyRing::admit(const Caller& caller, const Body& body) {
  if (!caller.key) {
    // libzmq lets in whom no handler refuses: a message that nobody vouched for is nobody's.
    if (caller.network && keyless_ == Keyless::refused)
      return Error{ErrorCode::untrusted, "a message of the network without a key"};
    Principal owner;
    owner.roles = kEveryRole;
    return owner;
  }
  TRY(Principal principal, find(*caller.key));
  const Roles senders = senders_of(body);
  const bool greets = std::holds_alternative<Hello>(body);  // all that a token may say but join
  if (senders.meets(principal.roles) ||
      (senders.has(Role::anyone) && (greets || !principal.is_token())))
    return principal;
  return refused(
      *caller.key,
      "'" + described(principal) + " may not send " + request_name(body) +
          ", which needs the role " + any_of(senders),
      "allow " + key_text(*caller.key) + " --name " + principal.name + " --role " +
          (principal.is_token() ? senders.text()
                                : principal.roles.text() + "," +
                                      senders.text().substr(0, senders.text().find(','))));
}

Result<Principal> KeyRing::redeem(const PublicKey& token, const JoinFarm& join) {
  PublicKey key{};
  if (join.public_key.size() != key.size())
    return Error{ErrorCode::usage, "join: a key of other than 32 bytes"};
  std::memcpy(key.data(), join.public_key.data(), key.size());
  return principals_.redeem(token, key, join.name, now_s());
}

Status check_worker_name(const Principal& principal, const std::string& worker) {
  if (principal.name.empty() || worker == principal.name ||
      worker.starts_with(principal.name + "/"))
    return {};
  return Error{ErrorCode::untrusted, "key " + principal.id() + " is called '" + principal.name +
                                         "': its workers' names are this, or begin with '" +
                                         principal.name + "/'; '" + worker.substr(0, 80) +
                                         "' is another's"};
}

}  // namespace enginery
