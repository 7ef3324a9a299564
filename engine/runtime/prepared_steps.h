// PreparedSteps: prepared tactics that several programs of one device have in common.
//
// Where: programs of one network that differ in a few steps, as those that race for it. Packed
// weights are most of a program's memory and of the time that preparing it takes; what is prepared
// is immutable (tactic.h), so that programs may share it. Thread-safe.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/tactics/tactic.h"

namespace enginery {

class PreparedSteps {
 public:
  // What the source prepares of the problem's tactic and these very weights (the same memory, not
  // equal numbers), or has prepared before; who asks while another prepares it waits. Errors: those
  // of TacticSource::prepare.
  Result<std::shared_ptr<const PreparedTactic>> prepare(const TacticSource& source,
                                                        const Problem& problem,
                                                        const Tactic& tactic,
                                                        const std::vector<const Tensor*>& weights);

 private:
  struct Step {
    std::mutex mutex;
    std::shared_ptr<const PreparedTactic> prepared;  // null: nobody could yet
    std::vector<Tensor> weights;  // kept: nothing else comes to lie at their addresses
  };
  std::mutex mutex_;
  std::unordered_map<std::string, Step> steps_;
};

}  // namespace enginery
