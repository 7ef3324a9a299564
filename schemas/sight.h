// Which jobs a sender sees: those of one tenant, or all.
//
// Where: the server derives it from the key that sent a request (coordinator/access); whoever
// answers asks it. What is not seen does not exist for the sender. Threads: as any value.
#pragma once

#include <optional>
#include <string>

namespace enginery {

// A tenant ("" is the default one); nothing: of every tenant.
using Sight = std::optional<std::string>;

inline bool sees(const Sight& sight, const std::string& tenant) {
  return !sight || *sight == tenant;
}

}  // namespace enginery
