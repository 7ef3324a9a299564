// Where an execution's inputs and outputs are: in place, or staged; and the launches on them.
#include <algorithm>

#include "engine/device/interop.h"
#include "engine/runtime/execution.h"

namespace enginery {
namespace {

std::vector<TensorMemory> host_memory(std::span<const void* const> buffers) {
  std::vector<TensorMemory> out;
  // An input's is never written through.
  for (const void* data : buffers) out.push_back({const_cast<void*>(data), MemoryKind::host});
  return out;
}

bool any_on_device(std::span<const TensorMemory> memories) {
  return std::ranges::any_of(
      memories, [](const TensorMemory& memory) { return memory.kind == MemoryKind::device; });
}

}  // namespace

Status Execution::check_buffer(const char* role, size_t index, int tensor,
                               const void* buffer) const {
  const PlanTensor& t = program_->plan().tensors[static_cast<size_t>(tensor)];
  const auto wrong = [&](const std::string& reason) {
    return Error{ErrorCode::invalid_argument, std::string(role) + " " + std::to_string(index) +
                                                  " ('" + t.name + "'): " + reason};
  };
  if (bytes_of(t.type) > 0 && !buffer) return wrong("the buffer is null");
  const auto alignment = static_cast<uintptr_t>(element_bytes(t.type.type));
  if (reinterpret_cast<uintptr_t>(buffer) % alignment != 0)
    return wrong("the buffer is not aligned to the " + std::to_string(alignment) +
                 " bytes of its elements");
  return {};
}

Status Execution::check_buffers(Memories inputs, Memories outputs) const {
  const Plan& plan = program_->plan();
  if (inputs.size() != plan.inputs.size() || outputs.size() != plan.outputs.size()) {
    return Error{ErrorCode::invalid_argument,
                 "expected buffers for " + std::to_string(plan.inputs.size()) + " inputs and " +
                     std::to_string(plan.outputs.size()) + " outputs, got " +
                     std::to_string(inputs.size()) + " and " + std::to_string(outputs.size())};
  }
  for (size_t i = 0; i < inputs.size(); ++i)
    CHECK_OK(check_buffer("input", i, plan.inputs[i], inputs[i].data));
  for (size_t i = 0; i < outputs.size(); ++i)
    CHECK_OK(check_buffer("output", i, plan.outputs[i], outputs[i].data));
  return {};
}

Status Execution::require_on_device(const char* role, Memories memories,
                                    const std::vector<int>& of) const {
  for (size_t i = 0; i < memories.size(); ++i) {
    if (is_in_place(memories[i]) || bytes_of_tensor(of[i]) == 0) continue;
    return Error{ErrorCode::invalid_argument,
                 std::string(role) + " '" +
                     program_->plan().tensors[static_cast<size_t>(of[i])].name +
                     "' is in host memory: what is enqueued reads and writes the device's"};
  }
  return {};
}

Status Execution::require_inputs_set() const {
  if (inputs_set_) return {};
  return Error{ErrorCode::invalid_argument, "there are no inputs yet: run it once first"};
}

bool Execution::is_in_place(const TensorMemory& memory) const {
  return memory.kind == MemoryKind::device || program_->device().info().shares_host_memory();
}

size_t Execution::bytes_of_tensor(int tensor) const {
  return static_cast<size_t>(bytes_of(program_->plan().tensors[static_cast<size_t>(tensor)].type));
}

Result<void*> Execution::address_for(const TensorMemory& memory, size_t staging, int tensor) {
  if (is_in_place(memory)) return memory.data;
  DeviceMemory& staged = staging_[staging];
  if (!staged.data()) {
    TRY(staged, program_->device().allocate(std::max<size_t>(bytes_of_tensor(tensor), 1)));
  }
  return staged.data();
}

// Gives the storages of inputs and outputs their addresses.
Status Execution::place(Memories inputs, Memories outputs) {
  const Plan& plan = program_->plan();
  bool changed = false;
  for (size_t s = 0; s < plan.storages.size(); ++s) {
    const Storage& storage = plan.storages[s];
    if (storage.kind == StorageKind::arena) continue;
    const auto index = static_cast<size_t>(storage.offset);
    const bool is_input = storage.kind == StorageKind::input;
    // Kernels never write to an input's storage: the planner gives it to no output.
    TRY(void* address,
        is_input ? address_for(inputs[index], index, plan.inputs[index])
                 : address_for(outputs[index], plan.inputs.size() + index, plan.outputs[index]));
    changed |= storage_addresses_[s] != address;
    storage_addresses_[s] = address;
  }
  if (changed || !inputs_set_) bind_storages();
  // A CPU's recording reads the addresses when it is launched; a GPU's has them in it.
  if (changed && !program_->device().info().shares_host_memory()) {
    moved_ = inputs_set_;
    list_.reset();
    step_batches_.clear();
  }
  inputs_set_ = true;
  return {};
}

Status Execution::follow_default_stream(Memories inputs, Memories outputs) {
  Interop* interop = interop_of(program_->device());
  if (!interop || (!any_on_device(inputs) && !any_on_device(outputs))) return {};
  TRY(const BorrowedStream borrowed, interop->borrow_stream(nullptr));
  TRY(const auto before, borrowed.stream->mark());
  return stream_->wait(*before);
}

Status Execution::copy_inputs(Memories inputs) {
  const Plan& plan = program_->plan();
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (is_in_place(inputs[i])) continue;
    // An input that no step reads has no storage, and no staging.
    if (!staging_[i].data()) continue;
    CHECK_OK(program_->device().copy(*stream_, staging_[i].data(), inputs[i].data,
                                     bytes_of_tensor(plan.inputs[i]), CopyKind::to_device));
  }
  return {};
}

Status Execution::copy_outputs(Memories outputs, Stream& stream) {
  const Plan& plan = program_->plan();
  for (size_t i = 0; i < outputs.size(); ++i) {
    const void* from = address_of(plan.outputs[i]);
    if (from == outputs[i].data) continue;
    const CopyKind kind =
        outputs[i].kind == MemoryKind::device ? CopyKind::on_device : CopyKind::to_host;
    CHECK_OK(program_->device().copy(stream, outputs[i].data, from,
                                     bytes_of_tensor(plan.outputs[i]), kind));
  }
  return {};
}

Status Execution::record_launches() {
  TRY(list_, program_->device().record(*stream_, [this](Stream& s) { return enqueue_all(s); }));
  return {};
}

// A recording costs more than one launch of its steps: memory that changes from run to run is not
// recorded.
Status Execution::launch_on(Stream& stream) {
  if (moved_) {
    moved_ = false;
    return enqueue_all(stream);
  }
  if (!list_) CHECK_OK(record_launches());
  return list_->launch(stream);
}

Status Execution::launch() {
  CHECK_OK(require_inputs_set());
  return launch_on(*stream_);
}

Status Execution::set_inputs(std::span<const void* const> inputs, std::span<void* const> outputs) {
  const auto from = host_memory(inputs), to = host_memory(outputs);
  CHECK_OK(check_buffers(from, to));
  CHECK_OK(place(from, to));
  return copy_inputs(from);
}

Status Execution::get_outputs(std::span<void* const> outputs) {
  return copy_outputs(host_memory(outputs), *stream_);
}

Status Execution::run(std::span<const void* const> inputs, std::span<void* const> outputs) {
  return run(host_memory(inputs), host_memory(outputs));
}

Status Execution::run(Memories inputs, Memories outputs) {
  CHECK_OK(check_buffers(inputs, outputs));
  CHECK_OK(place(inputs, outputs));
  CHECK_OK(follow_default_stream(inputs, outputs));
  CHECK_OK(copy_inputs(inputs));
  CHECK_OK(launch());
  CHECK_OK(copy_outputs(outputs, *stream_));
  return wait();
}

Status Execution::enqueue(Memories inputs, Memories outputs, void* callers_stream) {
  CHECK_OK(check_buffers(inputs, outputs));
  CHECK_OK(require_on_device("input", inputs, program_->plan().inputs));
  CHECK_OK(require_on_device("output", outputs, program_->plan().outputs));
  Interop* interop = interop_of(program_->device());
  if (!interop) return Error{ErrorCode::unsupported, "this device takes no streams of a program"};
  TRY(const BorrowedStream borrowed, interop->borrow_stream(callers_stream));
  CHECK_OK(place(inputs, outputs));
  CHECK_OK(borrowed.recording ? enqueue_all(*borrowed.stream) : launch_on(*borrowed.stream));
  return copy_outputs(outputs, *borrowed.stream);
}

}  // namespace enginery
