// Limits: what one build may cost in memory and work, so that a small file cannot ask for more than
// a machine has.
//
// Where: from the command line (`--limit NAME=VALUE`) in BuildOptions to the graph, whose passes
// and planner keep to them. A message about a limit names it as it is set. Plain values; free
// functions without state.
#pragma once

#include <string>

#include "engine/base/result.h"

namespace enginery {

struct Limits {
  int64_t value_mib = 4096;   // of one value of the network
  int64_t arena_mib = 65536;  // of the values that live at the same time
  int64_t folded_mib = 64;    // of constants made at build time, beyond twice the model's own
  int64_t folded_gflop = 4;   // of work to make them, beyond 4096 operations a byte of the model's
  friend bool operator==(const Limits&, const Limits&) = default;
};

// "value_mib=8192,folded_gflop=100": what differs from the defaults, in a fixed order; "" for none.
std::string to_text(const Limits& limits);
// The reverse, over the defaults. Errors: usage, naming the limits that there are.
Result<Limits> parse_limits(std::string_view text);
// "; --limit value_mib=8192 allows it": the end of a message, for a build that would need `wanted`.
std::string limit_advice(int64_t Limits::*limit, int64_t wanted);

}  // namespace enginery
