#include "tuner/pitched_places.h"

#include "engine/plan/slices.h"

namespace enginery {

Result<std::string> wrong_with_a_pitch(const Network& network, const std::vector<Tactic>& tactics,
                                       ProblemTuner& problems) {
  const SliceHomes homes(network, tactics);
  for (size_t n = 0; n < network.nodes.size(); ++n) {
    const NetworkNode& node = network.nodes[n];
    const Tactic placed = homes.placed(node, tactics[n]);
    if (placed.inputs == tactics[n].inputs && placed.outputs == tactics[n].outputs) continue;
    // Beside the one that it was chosen as, whose timing relates the two.
    TRY(const ProblemTimes times,
        problems.time(node.problem, {tactics[n], placed}, least_effort()));
    const std::string key = tactic_key(placed);
    const Timing* timing = find_timing(times.timings, key);
    if (timing && !timing->failure.empty())
      return "layer '" + node.name + "': " + key + ": " + timing->failure;
  }
  return std::string();
}

}  // namespace enginery
