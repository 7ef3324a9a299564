// Which keys may do what: the coordinator's list, a file in its data folder.
//
// Where: `enginery keys` changes it, also while a coordinator runs, which sees the change with the
// next message (key_ring.h). Changes are made under a lock and replace the whole file. Threads:
// any.
//
//   file := "enginery-principals 1\n" (key name roles tenant expires revoked uses "\n")*
//   key: 64 hex digits; roles: "submit,fetch"; tenant, "-" for the default one;
//   expires, revoked: seconds since 1970, 0 for never; uses: of a token the key that was made with
//   it, else "-"
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/base/sign.h"
#include "schemas/roles.h"
#include "schemas/sight.h"

namespace enginery {

// The coordinator's own secret, in the same folder.
inline constexpr const char* kCoordinatorKeyFile = "coordinator.key";

// One key.
struct Principal {
  PublicKey key{};
  std::string name;  // whose fair share; its workers' names are this, or this and "/..."
  Roles roles;
  std::string tenant;     // the trust domain of what it submits; "": the default one
  int64_t expires_s = 0;  // wall time; 0: never
  int64_t revoked_s = 0;  // 0: in force
  PublicKey made{};       // of a token: the key that took its place; all zero: not used yet

  std::string id() const { return key_id(key); }
  bool is_token() const { return roles.has(Role::join); }
  bool is_used() const { return made != PublicKey{}; }
  bool operator==(const Principal&) const = default;
};

// Whose jobs the key sees: those of its tenant; an admin and the owner see all.
inline Sight sight_of(const Principal& who) {
  if (who.name.empty() || who.roles.has(Role::admin)) return std::nullopt;
  return who.tenant;
}

// 1 to 60 of A-Z a-z 0-9 . _ - @. usage otherwise, naming `what`.
Status check_plain(std::string_view what, std::string_view text);

class Principals {
 public:
  // `keys` is the folder; the file in it need not be there.
  explicit Principals(std::filesystem::path keys) : folder_(std::move(keys)) {}

  const std::filesystem::path& folder() const { return folder_; }
  std::filesystem::path file() const { return folder_ / "principals"; }

  // In the order in which they were allowed. corrupt_data, storage.
  Result<std::vector<Principal>> all() const;
  // Adds a key, or replaces what was said of it: a revoked one is in force again. usage: another
  // key that is in force has the name.
  Status allow(const Principal& principal) const;
  // By its name or at least 4 digits of its id. not_found; usage: several.
  Result<Principal> revoke(const std::string& name_or_id, int64_t now_s) const;
  // Exchanges a token for `key`, which gets the role work, the token's tenant and a name like
  // `name`. The same key again changes nothing. untrusted: the token is used, revoked or expired.
  Result<Principal> redeem(const PublicKey& token, const PublicKey& key, const std::string& name,
                           int64_t now_s) const;

 private:
  template <typename Change>
  auto change(Change edit) const -> decltype(edit(std::declval<std::vector<Principal>&>()));
  Status write(const std::vector<Principal>& principals) const;

  std::filesystem::path folder_;
};

}  // namespace enginery
