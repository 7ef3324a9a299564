// What each client has used of the farm: one clock for each client over all pools, in seconds of
// device time, after which the pools serve the client that is furthest behind.
//
// The clock of a client moves by what its steps take, weighted by priority, on whatever device they
// run; a guess is charged when a step begins and put right while it runs and when it ends. Two
// bounds keep the past from deciding too long:
// - who comes with work after a rest does not begin behind all those who are being served now, as
//   in start-time fair queueing (P. Goyal, H. Vin, H. Cheng, SIGCOMM 1996), so a rest earns
//   nothing;
// - use fades with a half-life, so what was used on other devices long ago is forgotten.
// All clocks fade by the same factor, which leaves their order as it is: they are kept in the units
// of a moment in the past, and a charge of now counts more than the same charge then.
// Where: inside Pools. Knows names only. Threads: as Core.
#pragma once

#include <map>
#include <string>

#include "coordinator/core/turn.h"

namespace enginery {

class ClientClocks {
 public:
  // The half-life of what a client has used.
  static constexpr Nanoseconds kHalfLife = std::chrono::hours(1);

  // Who has used least goes first, among equals who was served longest ago.
  struct Claim {
    double used = 0;
    uint64_t served = 0;
    auto operator<=>(const Claim&) const = default;
  };
  Claim claim_of(const std::string& client) const;

  // One more step of the client is ready, or one less.
  void step_ready(const std::string& client);
  void step_left(const std::string& client);
  // A step of the client begins to run, or no longer does.
  void step_begins(const std::string& client);
  void step_ends(const std::string& client);
  // The client has used that many seconds (weighted; less than 0 takes a guess back).
  void charge(const std::string& client, double device_seconds, Nanoseconds now);

 private:
  struct Client {
    double used = 0;
    uint64_t served = 0;  // counts the farm's steps
    int ready = 0, running = 0;
  };
  // What a second of now is in the units of the clocks.
  double unit(Nanoseconds now);

  std::map<std::string, Client> clients_;
  uint64_t steps_begun_ = 0;
  Nanoseconds base_{};  // when a second was one unit
};

}  // namespace enginery
