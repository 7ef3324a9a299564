// Keys whose steps end the processes that run them: a model that takes its runner or its worker
// down is tried three times in all, whatever the number of workers, and then the key remembers.
//
// Where: inside Queue, which reports each death and asks before it makes or leases a step of the
// key; the rows keep it across a restart. A key is forgotten a while after the latest death, when
// one of its steps succeeds, or when somebody asks for another try. Threads: as Core.
#pragma once

#include "coordinator/core/turn.h"

namespace enginery {

// From this many deaths on a step of the key runs alone on its device, so that it takes nobody with
// it and nobody else is to blame.
inline constexpr uint32_t kAloneAfterKills = 2;
// With this many the key is quarantined.
inline constexpr uint32_t kQuarantineAfterKills = 3;

class KeyTroubles {
 public:
  // `keep`: how long after the latest death.
  explicit KeyTroubles(Nanoseconds keep) : keep_(keep) {}
  void load(std::map<Digest, KeyTrouble> troubles) { troubles_ = std::move(troubles); }

  // A process ended while it ran the key's step: `evidence` says which, and how.
  void add_kill(const Digest& key, const std::string& evidence, Turn& turn);
  // It turned out to be alive.
  void take_back(const Digest& key, Turn& turn);
  // Nothing is held against the key any longer.
  void clear(const Digest& key, Turn& turn);

  bool knows(const Digest& key) const { return troubles_.count(key) != 0; }
  bool runs_alone(const Digest& key) const;
  // Why the key's step, a `step_name`, is not tried again; nothing when it may be.
  std::optional<Fault> quarantine_of(const Digest& key, const std::string& step_name,
                                     Now now) const;

 private:
  const Nanoseconds keep_;
  std::map<Digest, KeyTrouble> troubles_;
};

}  // namespace enginery
