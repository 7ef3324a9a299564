#include "schemas/roles.h"

#include <array>

namespace enginery {
namespace {

constexpr std::array kRoles{Role::anyone, Role::submit, Role::fetch,
                            Role::work,   Role::admin,  Role::join};

}  // namespace

const char* to_string(Role role) {
  switch (role) {
    case Role::anyone:
      return "anyone";
    case Role::submit:
      return "submit";
    case Role::fetch:
      return "fetch";
    case Role::work:
      return "work";
    case Role::admin:
      return "admin";
    case Role::join:
      return "join";
  }
  return "unknown";
}

std::string Roles::text() const {
  std::string text;
  for (const Role role : kRoles)
    if (has(role)) text += (text.empty() ? "" : ",") + std::string(to_string(role));
  return text.empty() ? "none" : text;
}

Result<Roles> parse_roles(std::string_view text) {
  Roles roles;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    bool known = false;
    for (const Role role : kRoles) {
      if (word != to_string(role)) continue;
      roles = roles | Roles(role);
      known = true;
    }
    if (known) continue;
    return Error{ErrorCode::usage, "'" + std::string(word.substr(0, 40)) +
                                       "' is no role; there are: submit, fetch, work, admin"};
  }
  return roles;
}

}  // namespace enginery
