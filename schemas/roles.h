// Roles: what a key may do with the farm. messages.inc says for each request which roles may send
// it; a key has some of them (coordinator/access/principals.h).
//
// Threads: as any value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/base/result.h"

namespace enginery {

enum class Role : uint8_t {
  anyone,  // every key that is allowed at all
  submit,  // give the farm work: jobs and their models
  fetch,   // read: jobs, logs, engines
  work,    // be a worker: leases, results, timings
  admin,   // run the farm: drain, collect, pin
  join,    // exchange a token for a key of one's own, once
};

// A set of roles. A value.
class Roles {
 public:
  constexpr Roles() = default;
  constexpr Roles(Role role) : bits_(bit(role)) {}  // NOLINT: one role is a set
  constexpr Roles operator|(Roles other) const { return Roles(bits_ | other.bits_, 0); }
  constexpr bool has(Role role) const { return (bits_ & bit(role)) != 0; }
  constexpr bool meets(Roles other) const { return (bits_ & other.bits_) != 0; }
  constexpr bool operator==(const Roles&) const = default;
  // "submit,fetch", in the order of the enumeration; "none".
  std::string text() const;

 private:
  constexpr Roles(unsigned bits, int) : bits_(static_cast<uint8_t>(bits)) {}
  static constexpr uint8_t bit(Role role) {
    return static_cast<uint8_t>(1u << static_cast<unsigned>(role));
  }
  uint8_t bits_ = 0;
};

constexpr Roles operator|(Role a, Role b) {
  return Roles(a) | Roles(b);
}

// What the owner of the coordinator's own socket may: everything.
inline constexpr Roles kEveryRole =
    Role::anyone | Role::submit | Role::fetch | Role::work | Role::admin;

const char* to_string(Role role);
// "submit,fetch" and so on. usage: the word that is no role, with the list of those that are.
Result<Roles> parse_roles(std::string_view text);

}  // namespace enginery
