// Who is on the other end: what each session said of itself in Hello, and what each worker offers.
//
// Where: the control socket's thread writes it, the bulk socket's reads it: a timing belongs to a
// device, and so is taken only from a worker that has it. Thread-safe.
#pragma once

#include <mutex>
#include <string>
#include <unordered_map>

#include "engine/base/result.h"

namespace enginery {

// A session of a key on the network: its own, whatever the client calls it.
inline std::string peer_session(const std::string& key_id, const std::string& session) {
  return key_id + "/" + session;
}

class Peers {
 public:
  // Hello's name, cut to 200 bytes. Beyond 20000 sessions all are forgotten: they say Hello again.
  void said_hello(const std::string& session, const std::string& name);
  // A worker's Sync. Beyond 20000 workers all are forgotten: they sync again.
  void synced(const std::string& worker, const std::string& sku);

  // Hello's name; "unknown" before a Hello.
  std::string name_of(const std::string& session) const;
  // The SKU that the worker of this session offers. Errors: unavailable (it has not said Hello or
  // has not synced with this coordinator yet: connect again, and repeat).
  Result<std::string> sku_of(const std::string& session) const;

 private:
  mutable std::mutex mutex_;
  std::unordered_map<std::string, std::string> names_, skus_;
};

}  // namespace enginery
