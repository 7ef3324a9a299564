#include "engine/runtime/execution.h"

#include <algorithm>
#include <map>

#include "engine/base/statistics.h"
#include "engine/device/format_convert.h"
#include "engine/plan/memory.h"

namespace enginery {

Result<std::unique_ptr<Execution>> Execution::make(std::shared_ptr<const Program> program) {
  auto execution = std::make_unique<Execution>(MakeKey{}, std::move(program));
  CHECK_OK(execution->set_up());
  return execution;
}

Result<std::unique_ptr<Execution>> Execution::make_in(std::shared_ptr<const Program> program,
                                                      DeviceMemory arena) {
  const auto needed = static_cast<size_t>(program->plan().arena_bytes);
  const auto wrong = [](const std::string& reason) {
    return Error{ErrorCode::invalid_argument, "the memory for the context " + reason};
  };
  if (!arena.data()) return wrong("is null");
  if (arena.bytes() < needed)
    return wrong("has " + std::to_string(arena.bytes()) + " bytes, and it takes " +
                 std::to_string(needed));
  if (reinterpret_cast<uintptr_t>(arena.data()) % kArenaAlignment != 0)
    return wrong("does not begin at a multiple of " + std::to_string(kArenaAlignment) + " bytes");
  auto execution = std::make_unique<Execution>(MakeKey{}, std::move(program));
  execution->arena_ = std::move(arena);
  CHECK_OK(execution->set_up());
  return execution;
}

Status Execution::set_up() {
  const Plan& plan = program_->plan();
  Device& device = program_->device();
  TRY(stream_, device.create_stream());
  if (!arena_.data()) {
    TRY(arena_, device.allocate(static_cast<size_t>(std::max<int64_t>(plan.arena_bytes, 1))));
  }
  const auto streams = static_cast<size_t>(stream_count(plan));
  for (size_t s = 1; s < streams; ++s) {
    TRY(side_streams_.emplace_back(), device.create_stream());
  }
  std::vector<int64_t> wide_bytes(streams, 0);
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    slots_.push_back({input_slots_.size(), output_slots_.size()});
    input_slots_.resize(input_slots_.size() + plan.steps[i].inputs.size());
    output_slots_.resize(output_slots_.size() + plan.steps[i].outputs.size());
    int64_t& wide = wide_bytes[static_cast<size_t>(plan.steps[i].stream)];
    if (outgrows_plan(i)) wide = std::max(wide, program_->step(i)->workspace_bytes());
  }
  for (int64_t bytes : wide_bytes) {
    wide_workspaces_.emplace_back();
    if (bytes == 0) continue;
    TRY(wide_workspaces_.back(), device.allocate(static_cast<size_t>(bytes)));
  }
  storage_addresses_.resize(plan.storages.size(), nullptr);
  staging_.resize(plan.inputs.size() + plan.outputs.size());
  return {};
}

void* Execution::address_of(int tensor) const {
  const PlanTensor& t = program_->plan().tensors[static_cast<size_t>(tensor)];
  return static_cast<char*>(storage_addresses_[static_cast<size_t>(t.storage)]) + t.offset;
}

void Execution::bind_storages() {
  const Plan& plan = program_->plan();
  for (size_t s = 0; s < plan.storages.size(); ++s) {
    if (plan.storages[s].kind == StorageKind::arena) {
      storage_addresses_[s] = static_cast<char*>(arena_.data()) + plan.storages[s].offset;
    }
  }
  auto address = [&](int tensor) { return tensor < 0 ? nullptr : address_of(tensor); };
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const PlanStep& step = plan.steps[i];
    for (size_t k = 0; k < step.inputs.size(); ++k)
      input_slots_[slots_[i].input + k] = address(step.inputs[k]);
    for (size_t k = 0; k < step.outputs.size(); ++k)
      output_slots_[slots_[i].output + k] = address(step.outputs[k]);
  }
}

// As with more threads than at the build, or another version of a library.
bool Execution::outgrows_plan(size_t step) const {
  const PreparedTactic* prepared = program_->step(step);
  return prepared &&
         prepared->workspace_bytes() > program_->plan().steps[step].tactic.workspace_bytes;
}

Arguments Execution::arguments_of(size_t index) {
  const PlanStep& step = program_->plan().steps[index];
  void* workspace = outgrows_plan(index) ? wide_workspaces_[static_cast<size_t>(step.stream)].data()
                    : step.workspace < 0 ? nullptr
                                         : storage_addresses_[static_cast<size_t>(step.workspace)];
  return {{input_slots_.data() + slots_[index].input, step.inputs.size()},
          {output_slots_.data() + slots_[index].output, step.outputs.size()},
          workspace};
}

Status Execution::enqueue_step(Stream& stream, size_t index) {
  const PreparedTactic* prepared = program_->step(index);
  return prepared ? prepared->enqueue(stream, arguments_of(index)) : Status();
}

// The side streams fork from `stream`, which is stream 0, and all join it again.
Status Execution::enqueue_side_by_side(Stream& stream) {
  const Plan& plan = program_->plan();
  TRY(auto begin, stream.mark());
  for (const auto& side : side_streams_) CHECK_OK(side->wait(*begin));
  const StepOrder& order = *program_->order();
  std::map<int, std::unique_ptr<Event>> ends;  // of steps that others wait for
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const int s = plan.steps[i].stream;
    Stream& own = s == 0 ? stream : *side_streams_[static_cast<size_t>(s) - 1];
    for (int step : order.waits(i)) CHECK_OK(own.wait(*ends.at(step)));
    CHECK_OK(enqueue_step(own, i));
    if (!order.is_awaited(i)) continue;
    TRY(ends[static_cast<int>(i)], own.mark());
  }
  for (const auto& side : side_streams_) {
    TRY(auto end, side->mark());
    CHECK_OK(stream.wait(*end));
  }
  return {};
}

Status Execution::enqueue_all(Stream& stream) {
  if (program_->order()) return enqueue_side_by_side(stream);
  for (size_t i = 0; i < program_->plan().steps.size(); ++i) CHECK_OK(enqueue_step(stream, i));
  return {};
}

Status Execution::run_step_by_step(std::span<const void* const> inputs,
                                   std::span<void* const> outputs, const AroundStep& around) {
  CHECK_OK(set_inputs(inputs, outputs));
  CHECK_OK(wait());
  for (size_t i = 0; i < program_->plan().steps.size(); ++i) {
    if (!program_->step(i)) continue;
    CHECK_OK(around(i, arguments_of(i), [&] {
      const Status enqueued = enqueue_step(*stream_, i);
      const Status ended = wait();
      return enqueued.ok() ? ended : enqueued;
    }));
  }
  CHECK_OK(get_outputs(outputs));
  return wait();
}

Result<Tensor> Execution::read(const void* address, const Dims& dims, const Format& format) {
  std::vector<std::byte> bytes(static_cast<size_t>(physical_bytes(dims, format)));
  CHECK_OK(
      program_->device().copy(*stream_, bytes.data(), address, bytes.size(), CopyKind::to_host));
  CHECK_OK(wait());
  return from_physical(bytes.data(), dims, format);
}

// What so long a plan's weights leave in the caches is their own end: another run before the timed
// one would warm nothing.
bool Execution::warms_itself() const {
  constexpr double kLongUs = 20'000;
  return timed_us_ > kLongUs &&
         program_->packed_weight_bytes() > 2 * program_->device().info().cache_bytes;
}

Result<double> Execution::time_us() {
  Measurer* measurer = program_->device().measurer();
  if (!measurer) return Error{ErrorCode::unsupported, "this device cannot measure"};
  CHECK_OK(require_inputs_set());
  if (!list_ || !warms_itself()) CHECK_OK(launch());
  if (!list_) CHECK_OK(record_launches());
  CHECK_OK(wait());
  TRY(timed_us_, measurer->time_us(*stream_, *list_));
  return timed_us_;
}

Result<std::vector<double>> Execution::profile(int rounds) {
  CHECK_OK(require_inputs_set());
  if (rounds < 1) return Error{ErrorCode::invalid_argument, "expected at least one round"};
  Measurer* measurer = program_->device().measurer();
  if (!measurer) return Error{ErrorCode::unsupported, "this device cannot measure"};
  // Of one step in a row: alone, a short one would show what its start costs.
  constexpr int kMaxLaunches = 200;
  size_t count = program_->plan().steps.size();
  if (step_batches_.empty()) {
    for (size_t i = 0; i < count; ++i) {
      step_batches_.emplace_back();
      if (program_->step(i)) {
        auto enqueue = [this, i](Stream& s, int) { return enqueue_step(s, i); };
        TRY(step_batches_.back(),
            record_batch(program_->device(), *stream_, enqueue, 1, kMaxLaunches));
      }
    }
  }
  std::vector<std::vector<double>> samples(count);
  for (int r = 0; r < rounds; ++r) {
    for (size_t i = 0; i < count; ++i) {
      if (!step_batches_[i].list) continue;
      TRY(double us, measurer->time_us(*stream_, *step_batches_[i].list));
      samples[i].push_back(us / step_batches_[i].launches);
    }
  }
  std::vector<double> medians;
  for (auto& s : samples) medians.push_back(median(std::move(s)));
  return medians;
}

}  // namespace enginery
