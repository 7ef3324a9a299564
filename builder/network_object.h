// What stands behind an enginery_network, and the numbers of its tensors.
//
// Where: between the handles of engine/c_api and the functions of enginery/build.h. Threads: a
// NetworkUse is one thread's, others wait for it.
#pragma once

#include <mutex>

#include "engine/c_api/handles.h"
#include "engine/c_api/outcome.h"
#include "engine/graph/counted_outputs.h"
#include "enginery/build.h"

namespace enginery {

struct NetworkObject {
  NetworkObject();

  const uint64_t number;  // of this network, in the upper half of its tensors
  std::mutex mutex;
  Graph graph;
  std::vector<CountedAxes> counted;  // of the graph's outputs; those behind its end have none
  bool is_half_changed = false;      // a change that began did not end
};

using NetworkHandles = Handles<enginery_network, NetworkObject>;

// The network of a handle until it ends. Without one: HANDLE; OUT_OF_MEMORY for one that is half
// changed.
class NetworkUse {
 public:
  explicit NetworkUse(const enginery_network* handle);
  explicit operator bool() const { return lock_.owns_lock(); }
  const Failure& failure() const { return failure_; }
  Graph& graph() const { return object_->graph; }
  // The graph as it is saved and built: with the counts of its outputs' sizes behind its outputs.
  Result<Graph> whole() const;
  // What a run counts of the output that was marked last.
  void count_last_output(CountedAxes axes) const;
  // What `change` returns. Where it throws, the network stays half changed.
  template <typename Change>
  auto change(Change&& change) const {
    object_->is_half_changed = true;
    auto out = change(object_->graph);
    object_->is_half_changed = false;
    return out;
  }

  // A value's number for callers.
  enginery_tensor tensor_of(ValueId value) const;
  // The value of a tensor. Errors: invalid_argument (another network's, or none at all).
  Result<ValueId> value_of(enginery_tensor tensor) const;

 private:
  std::shared_ptr<NetworkObject> object_;
  std::unique_lock<std::mutex> lock_;  // ends before the object
  Failure failure_;
};

}  // namespace enginery
