// Who may say what: the coordinator's list of keys as it is now, asked for every message.
//
// Where: the ZAP handler asks it when somebody connects, both servers for each request. A change of
// the file is seen with the next question, so a revoked key is refused at once, on connections that
// are open as well. Threads: any.
#pragma once

#include <map>
#include <mutex>
#include <optional>

#include "coordinator/access/principals.h"
#include "engine/base/clock.h"
#include "schemas/messages.h"

namespace enginery {

// Where a message came from, as the socket knows it: nothing of this is the sender's word.
struct Caller {
  bool network = false;          // not over the coordinator's own socket
  std::optional<PublicKey> key;  // of CURVE; none on this host, or where keys are not asked for
  std::string address;           // of the other host, for logs
};

class KeyRing {
 public:
  // The clock outlives it. `keyless`: who comes over the network without a key.
  enum class Keyless : uint8_t { refused, owner };
  KeyRing(std::filesystem::path keys, const Clock& clock, Keyless keyless = Keyless::refused)
      : principals_(std::move(keys)), clock_(clock), keyless_(keyless) {}

  // Whether the key may connect at all. untrusted: unknown, revoked or expired, with the key's id
  // and what would allow it.
  Result<Principal> find(const PublicKey& key);
  // Whether the caller may send this. A caller of this host is the owner: every role, no name.
  // untrusted: as find, or the key has none of the roles; the message names the key, what it may,
  // what the request needs and the command that would grant it.
  Result<Principal> admit(const Caller& caller, const Body& body);
  // Principals::redeem.
  Result<Principal> redeem(const PublicKey& token, const JoinFarm& join);

 private:
  int64_t now_s() const;
  Status refresh();

  Principals principals_;
  const Clock& clock_;
  const Keyless keyless_;
  std::mutex mutex_;
  std::string seen_;  // what the file was when it was read
  std::map<PublicKey, Principal> known_;
};

// Whether a worker of that name may be the principal's: its own name, or that and "/...".
// untrusted.
Status check_worker_name(const Principal& principal, const std::string& worker);

}  // namespace enginery
