#include "builder/network_object.h"

#include <atomic>

namespace enginery {
namespace {

constexpr int kNumberShift = 32;

uint64_t next_network() {
  static std::atomic<uint32_t> last{0};
  return ++last;
}

}  // namespace

NetworkObject::NetworkObject() : number(next_network()) {}

NetworkUse::NetworkUse(const enginery_network* handle)
    : object_(NetworkHandles::table().find(handle)) {
  if (!object_) {
    failure_ = {ENGINERY_ERROR_HANDLE,
                "the handle is not a live network: destroyed before, or never one"};
    return;
  }
  lock_ = std::unique_lock(object_->mutex);
  if (!object_->is_half_changed) return;
  failure_ = {ENGINERY_ERROR_OUT_OF_MEMORY,
              "memory ran out while this network was changed before: it can only be destroyed"};
  lock_.unlock();
}

Result<Graph> NetworkUse::whole() const {
  Graph out = graph();
  CHECK_OK(mark_counts(out, object_->counted));
  CHECK_OK(verify(out));
  return out;
}

void NetworkUse::count_last_output(CountedAxes axes) const {
  object_->counted.resize(graph().outputs().size());
  object_->counted.back() = std::move(axes);
}

// Values are counted from 1: no tensor is 0.
enginery_tensor NetworkUse::tensor_of(ValueId value) const {
  return object_->number << kNumberShift | static_cast<uint32_t>(value + 1);
}

Result<ValueId> NetworkUse::value_of(enginery_tensor tensor) const {
  const auto refused = [](const char* reason) {
    return Error{ErrorCode::invalid_argument, reason};
  };
  if (tensor == ENGINERY_NO_TENSOR) return refused("there is no tensor");
  if (tensor >> kNumberShift != object_->number)
    return refused("the tensor is not of this network");
  const auto index = static_cast<uint32_t>(tensor);
  if (index == 0 || index > static_cast<uint32_t>(graph().value_count()))
    return refused("the network has no such tensor");
  return static_cast<ValueId>(index - 1);
}

}  // namespace enginery
