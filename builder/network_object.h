// What stands behind an enginery_network, and the numbers of its tensors.
//
// Where: between the handles of engine/c_api and the functions of enginery/build.h. Threads: a
// NetworkUse is one thread's, others wait for it.
#pragma once

#include <mutex>

#include "engine/c_api/handles.h"
#include "engine/c_api/outcome.h"
#include "engine/graph/graph.h"
#include "enginery/build.h"

namespace enginery {

struct NetworkObject {
  NetworkObject();

  const uint64_t number;  // of this network, in the upper half of its tensors
  std::mutex mutex;
  Graph graph;
};

using NetworkHandles = Handles<enginery_network, NetworkObject>;

// The network of a handle until it ends. Without one: HANDLE.
class NetworkUse {
 public:
  explicit NetworkUse(const enginery_network* handle);
  explicit operator bool() const { return object_ != nullptr; }
  const Failure& failure() const { return failure_; }
  Graph& graph() const { return object_->graph; }

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
