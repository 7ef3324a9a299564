// Effort: how much measuring one problem of a network deserves, by its share of the network's time.
//
// Where: network_problems computes the shares from the sources' estimates before anything is
// measured; worth_measuring and the problem tuner follow. A wrong choice between close tactics of a
// problem costs the network at most their difference times the share. Values; pure functions.
#pragma once

#include <limits>
#include <map>
#include <optional>
#include <string>

#include "engine/plan/network.h"

namespace enginery {

// 0: no timing, the analytic model. 1: only what the store has. 2: a short list. 3: the default.
// 4: every tactic offered. 5 and more: more whole networks.
inline constexpr int kDefaultLevel = 3;

struct Effort {
  // Of tactics of one kind (a source's algorithm or kernel family, one precision, the same
  // formats): the first so many by their estimates; of a library's, which orders them itself ...
  size_t of_a_kind = std::numeric_limits<size_t>::max();
  size_t of_a_library = std::numeric_limits<size_t>::max();
  // ... and none whose estimate is beyond this times the least one of the kind.
  double within = std::numeric_limits<double>::infinity();
  // Of each source in a precision that is likely slower; of libraries none where that is 1 and our
  // kernels have the precision: compiling theirs takes longest.
  size_t of_slower = 2;
  // In how many fixtures more the close ones race again.
  size_t further_fixtures = 3;
  // Whether they race in cold caches, too.
  bool cold = true;
  // Rounds that the finalists of a race run after the others left.
  int final_samples = 24;
  // Where samples scatter they run on until half the confidence interval of each is below this
  // share of its median (RaceRules::precise): what that can cost the network is this times the
  // problem's share.
  double precise = 0.005;
  bool operator==(const Effort&) const = default;
};

// The tactic's kind, as text. Estimates order tactics of one kind well, others roughly.
std::string kind_of(const Tactic& tactic);

// What a problem gets that takes `share` of a network's time, never less for a larger share. All of
// it at levels above the default, and where nothing is known of the share (below 0).
Effort effort_for(double share, int level);
// For timings that decide nothing, such as those of a check.
Effort least_effort();

// The least estimate of what may run in the node, in microseconds, 0 for a view; nothing where some
// tactic has none.
std::optional<double> least_estimate(const NetworkNode& node);

// The shares of the network's problems by their offer_key, from the least estimates of their
// tactics; those of alternatives as if they were in force. Below 0 where a problem has no estimate.
std::map<std::string, double> estimated_shares(const Network& network);

// What the network takes by the same estimates, in microseconds.
double estimated_network_us(const Network& network);

}  // namespace enginery
