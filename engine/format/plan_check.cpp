#include "engine/format/plan_check.h"

#include <algorithm>
#include <map>
#include <set>

#include "engine/format/codec.h"
#include "engine/plan/memory.h"
#include "engine/plan/streams.h"
#include "engine/tactics/shapes/parts.h"
#include "engine/tactics/shapes/view.h"

namespace enginery {
namespace {

const PlanTensor& tensor_of(const Plan& plan, int tensor) {
  return plan.tensors[static_cast<size_t>(tensor)];
}

const Storage& storage_of(const Plan& plan, int tensor) {
  return plan.storages[static_cast<size_t>(tensor_of(plan, tensor).storage)];
}

// Bytes from where the tensor begins to the end of its storage; below 0 where it begins behind it.
int64_t room_of(const Plan& plan, int tensor) {
  return storage_of(plan, tensor).bytes - tensor_of(plan, tensor).offset;
}

Error damaged_step(const PlanStep& step, const std::string& reason) {
  return damaged_plan("step '" + step.name + "' " + reason);
}

bool all_in_range(const std::vector<int>& indices, size_t size, int least) {
  return std::all_of(indices.begin(), indices.end(),
                     [&](int i) { return i >= least && i < static_cast<int>(size); });
}

Status check_indices(const Plan& plan) {
  for (const PlanTensor& t : plan.tensors) {
    if (t.storage < 0 || t.storage >= static_cast<int>(plan.storages.size()))
      return damaged_plan("a tensor has no storage");
    if (!fits_pitch(t.type.dims, t.format)) return damaged_plan("a tensor's pitch does not fit it");
    if (t.offset % (has_pitch(t.format) ? kSliceUnit : kArenaAlignment) != 0)
      return damaged_plan("a tensor is not aligned");
  }
  for (const Storage& s : plan.storages) {
    const size_t callers = s.kind == StorageKind::input ? plan.inputs.size() : plan.outputs.size();
    if (s.bytes < 0 || s.offset < 0) return damaged_plan("a storage has a negative size or offset");
    if (s.kind != StorageKind::arena && s.offset >= static_cast<int64_t>(callers))
      return damaged_plan("a storage of the caller is out of range");
  }
  if (!all_in_range(plan.inputs, plan.tensors.size(), 0) ||
      !all_in_range(plan.outputs, plan.tensors.size(), 0)) {
    return damaged_plan("an input or output is out of range");
  }
  return {};
}

Status check_wiring(const Plan& plan, const PlanStep& step) {
  const size_t n = step.problem.inputs.size(), m = step.problem.outputs.size();
  const bool lengths = step.inputs.size() == n && step.constants.size() == n &&
                       step.tactic.inputs.size() == n && step.outputs.size() == m &&
                       step.tactic.outputs.size() == m;
  if (!lengths || !all_in_range(step.inputs, plan.tensors.size(), -1) ||
      !all_in_range(step.constants, plan.constants.size(), -1) ||
      !all_in_range(step.outputs, plan.tensors.size(), 0)) {
    return damaged_step(step, "is wired wrongly");
  }
  const int views = step.tactic.view_of, in_place = step.tactic.in_place_operand;
  if (views >= static_cast<int>(n) || in_place >= static_cast<int>(n))
    return damaged_step(step, "shares an input that it does not have");
  return {};
}

// A workspace of its own, in the arena.
Status check_workspace(const Plan& plan, const PlanStep& step) {
  const int64_t bytes = step.tactic.workspace_bytes;
  const bool named = step.workspace >= 0 && step.workspace < static_cast<int>(plan.storages.size());
  const bool fits = named ? plan.storages[static_cast<size_t>(step.workspace)].bytes >= bytes
                          : step.workspace == -1 && bytes == 0;
  if (bytes < 0 || !fits) return damaged_step(step, "has no room for its workspace");
  if (named && plan.storages[static_cast<size_t>(step.workspace)].kind != StorageKind::arena)
    return damaged_step(step, "has its workspace in the caller's memory");
  return {};
}

// Buffers as large as the problem and the formats say, and in these formats.
Status check_buffers(const Plan& plan, const PlanStep& step) {
  const Problem& problem = step.problem;
  const auto fits = [&](int tensor, const TensorDesc& desc, const Format& format) {
    return tensor_of(plan, tensor).type == desc.type && fits_pitch(desc.type.dims, format) &&
           physical_bytes(desc.type.dims, format) <= room_of(plan, tensor);
  };
  for (size_t i = 0; i < problem.inputs.size(); ++i) {
    const TensorDesc& desc = problem.inputs[i];
    const bool tensor = step.inputs[i] >= 0, constant = step.constants[i] >= 0;
    if ((tensor || constant) != desc.present || (tensor && constant) || constant != desc.constant)
      return damaged_step(step, "lacks an input");
    if (tensor && !fits(step.inputs[i], desc, step.tactic.inputs[i]))
      return damaged_step(step, "reads past a tensor");
    if (constant &&
        plan.constants[static_cast<size_t>(step.constants[i])].tensor.tensor_type() != desc.type)
      return damaged_step(step, "has a constant of another type");
    if (tensor && tensor_of(plan, step.inputs[i]).format != step.tactic.inputs[i])
      return damaged_step(step, "reads a tensor in another format");
    if (desc.pinned && *desc.pinned != step.tactic.inputs[i])
      return damaged_step(step, "reads another format than its problem says");
  }
  for (size_t i = 0; i < problem.outputs.size(); ++i) {
    if (!fits(step.outputs[i], problem.outputs[i], step.tactic.outputs[i]))
      return damaged_step(step, "writes past a tensor");
    if (tensor_of(plan, step.outputs[i]).format != step.tactic.outputs[i])
      return damaged_step(step, "writes a tensor in another format");
    const auto& pinned = problem.outputs[i].pinned;
    if (pinned && *pinned != step.tactic.outputs[i])
      return damaged_step(step, "writes another format than its problem says");
  }
  return {};
}

// Whether the output's elements are the input's bytes, as both lie.
bool shows_its_input(const Problem& problem, const Format& from, const Format& to) {
  if (from.type != to.type || has_pitch(from) || has_pitch(to)) return false;
  const bool is_cast = is_widening_cast(problem) && from == to && from.type == DataType::float32;
  return is_cast || is_view(problem, from.layout, to.layout);
}

// Whether every part lies where it belongs in the whole.
bool shows_parts(const Plan& plan, const PlanStep& step) {
  const auto offsets = part_offsets(step.problem, step.tactic);
  if (!offsets) return false;
  const bool joins = joins_parts(step.problem);
  const PlanTensor& whole = tensor_of(plan, joins ? step.outputs[0] : step.inputs[0]);
  const std::vector<int>& parts = joins ? step.inputs : step.outputs;
  for (size_t i = 0; i < offsets->size(); ++i) {
    const PlanTensor& part = tensor_of(plan, parts[i]);
    if (part.storage != whole.storage || part.offset != whole.offset + (*offsets)[i]) return false;
  }
  return true;
}

bool shows_the_same(const Plan& plan, const PlanStep& step) {
  if (step.outputs.size() != 1) return false;
  const PlanTensor &in = tensor_of(plan, step.inputs[0]), &out = tensor_of(plan, step.outputs[0]);
  return in.storage == out.storage && in.offset == out.offset &&
         shows_its_input(step.problem, step.tactic.inputs[0], step.tactic.outputs[0]);
}

// A view launches nothing, so it must be one: the same bytes under other dims, or joined or cut.
Status check_view(const Plan& plan, const PlanStep& step) {
  const bool is_one = step.tactic.view_of == 0 && step.inputs[0] >= 0 &&
                      (shows_the_same(plan, step) || shows_parts(plan, step));
  return is_one ? Status() : damaged_step(step, "is called a view and is none");
}

// With a pitch a launch reads its first input and writes its only output, if any.
Status check_pitches(const Plan& plan, const PlanStep& step) {
  const auto is_pitched = [&](int t) { return t >= 0 && has_pitch(tensor_of(plan, t).format); };
  for (size_t i = 1; i < step.inputs.size(); ++i) {
    if (is_pitched(step.inputs[i]))
      return damaged_step(step, "reads a further tensor with a pitch");
  }
  if (step.tactic.in_place_operand == 0 && is_pitched(step.inputs[0]))
    return damaged_step(step, "writes over what it reads with a pitch");
  const bool writes_so = std::ranges::any_of(step.outputs, is_pitched);
  if (writes_so && (step.outputs.size() > 1 || step.tactic.in_place_operand >= 0))
    return damaged_step(step, "writes more than one tensor with a pitch");
  return {};
}

// Every output and the workspace are memory of their own; only the first output may take over the
// place of the operand that the tactic adds in place.
Status check_sharing(const Plan& plan, const PlanStep& step) {
  CHECK_OK(check_pitches(plan, step));
  for (const int t : step.outputs) {
    if (storage_of(plan, t).kind == StorageKind::input)
      return damaged_step(step, "writes to an input of the caller");
  }
  std::vector<ByteRange> written = bytes_written(plan, step);
  const ByteRange first = written[0];
  std::ranges::sort(written);
  for (size_t i = 1; i < written.size(); ++i) {
    if (written[i].meets(written[i - 1]))
      return damaged_step(step, "writes two things to one storage");
  }
  for (size_t i = 0; i < step.inputs.size(); ++i) {
    if (step.inputs[i] < 0) continue;
    const ByteRange read = bytes_of_tensor(plan, step.inputs[i]);
    const bool may_overwrite = static_cast<int>(i) == step.tactic.in_place_operand;
    // From the last that begins before the end of what is read.
    auto behind = std::ranges::lower_bound(written, ByteRange{read.storage, read.end, 0});
    for (; behind != written.begin() && std::prev(behind)->meets(read); --behind) {
      const bool in_place = *std::prev(behind) == first && first.begin == read.begin;
      if (!may_overwrite || !in_place)
        return damaged_step(step, "writes to a storage that it reads");
    }
  }
  return {};
}

Status check_shapes(const Plan& plan, PlanStep& step) {
  std::vector<const Tensor*> constants;
  for (const int c : step.constants)
    constants.push_back(c < 0 ? nullptr : &plan.constants[static_cast<size_t>(c)].tensor);
  const Status shapes = check_problem(step.problem, constants);
  return shapes.ok() ? shapes : damaged_step(step, "breaks a rule: " + shapes.error().message);
}

Status check_step(const Plan& plan, PlanStep& step) {
  CHECK_OK(check_wiring(plan, step));
  CHECK_OK(check_workspace(plan, step));
  CHECK_OK(check_buffers(plan, step));
  CHECK_OK(check_shapes(plan, step));
  return step.tactic.view_of >= 0 ? check_view(plan, step) : check_sharing(plan, step);
}

// Whether the tensor lies as the caller's buffers do: linear, in its own type.
bool is_as_the_caller_has_it(const PlanTensor& tensor) {
  return tensor.format == Format{tensor.type.type, {}};
}

// The caller's memory: each input in its own, and no storage larger than the buffer behind it.
Status check_callers_memory(const Plan& plan) {
  for (size_t i = 0; i < plan.inputs.size(); ++i) {
    const Storage& s = storage_of(plan, plan.inputs[i]);
    if (s.kind != StorageKind::input || s.offset != static_cast<int64_t>(i))
      return damaged_plan("an input lies in memory that is not the caller's");
  }
  for (const auto* tensors : {&plan.inputs, &plan.outputs}) {
    for (const int t : *tensors) {
      const PlanTensor& tensor = tensor_of(plan, t);
      if (!is_as_the_caller_has_it(tensor) || bytes_of(tensor.type) > room_of(plan, t))
        return damaged_plan("an input or output does not lie as the caller has it");
    }
  }
  for (size_t i = 0; i < plan.storages.size(); ++i) {
    const Storage& s = plan.storages[i];
    if (s.kind == StorageKind::arena) continue;
    const auto& tensors = s.kind == StorageKind::input ? plan.inputs : plan.outputs;
    const PlanTensor& tensor = tensor_of(plan, tensors[static_cast<size_t>(s.offset)]);
    if (tensor.storage != static_cast<int>(i) || s.bytes != bytes_of(tensor.type))
      return damaged_plan("a storage of the caller is not its input's or output's");
  }
  return {};
}

// Which bytes of one storage have been written.
class WrittenBytes {
 public:
  void add(int64_t begin, int64_t end) {
    auto at = ends_.upper_bound(begin);
    if (at != ends_.begin() && std::prev(at)->second >= begin) --at;
    while (at != ends_.end() && at->first <= end) {
      begin = std::min(begin, at->first);
      end = std::max(end, at->second);
      at = ends_.erase(at);
    }
    ends_.emplace(begin, end);
  }
  bool hold(int64_t begin, int64_t end) const {
    const auto at = ends_.upper_bound(begin);
    return at != ends_.begin() && std::prev(at)->second >= end;
  }

 private:
  std::map<int64_t, int64_t> ends_;  // by begin; neither overlap nor touch
};

// Nothing is read, and nothing given to the caller, that no earlier step wrote.
Status check_order(const Plan& plan) {
  std::vector<WrittenBytes> written(plan.storages.size());
  std::set<ByteRange> pitched;  // and what lies between their pixels is not
  const auto write = [&](int tensor) {
    const ByteRange bytes = bytes_of_tensor(plan, tensor);
    if (bytes.pitch > 0)
      pitched.insert(bytes);
    else
      written[bytes.storage].add(bytes.begin, bytes.end);
  };
  const auto is_written = [&](int tensor) {
    const ByteRange bytes = bytes_of_tensor(plan, tensor);
    return pitched.contains(bytes) || written[bytes.storage].hold(bytes.begin, bytes.end);
  };
  for (const int t : plan.inputs) write(t);
  for (const PlanStep& step : plan.steps) {
    for (const int t : step.inputs) {
      if (t >= 0 && !is_written(t)) return damaged_step(step, "reads what no step has written");
    }
    for (const int t : step.outputs) write(t);
  }
  for (const int t : plan.outputs) {
    if (!is_written(t)) return damaged_plan("an output that no step writes");
  }
  return {};
}

Status check_arena(Plan& plan) {
  const int streams = stream_count(plan);
  const bool too_many =
      plan.steps.size() > kMaxStepsSideBySide || plan.storages.size() > 4 * kMaxStepsSideBySide;
  if (streams > kMaxStreams || (streams > 1 && too_many))
    return damaged_plan("it runs more side by side than any build makes");
  find_lifetimes(plan);
  for (const Storage& s : plan.storages) {
    if (s.kind != StorageKind::arena) continue;
    if (s.last_step < 0) return damaged_plan("a storage that no step uses");
    if (s.offset % kArenaAlignment != 0) return damaged_plan("a storage is not aligned");
  }
  const Status memory = check_memory(plan);
  return memory.ok() ? memory : Status(damaged_plan(memory.error().message));
}

Status require_types(const std::vector<NamedType>& promised, const std::vector<int>& tensors,
                     const Plan& plan, const std::string& what) {
  const auto same = [&](const NamedType& p, int t) {
    return p.name == tensor_of(plan, t).name && p.type == tensor_of(plan, t).type;
  };
  if (std::equal(promised.begin(), promised.end(), tensors.begin(), tensors.end(), same)) return {};
  return Error{ErrorCode::untrusted, "engine file: the manifest's " + what + " are not the plan's"};
}

}  // namespace

Error damaged_plan(const std::string& reason) {
  return {ErrorCode::untrusted, "engine file: plan: " + reason};
}

Status check_plan(Plan& plan) {
  CHECK_OK(check_indices(plan));
  for (PlanStep& step : plan.steps) CHECK_OK(check_step(plan, step));
  CHECK_OK(check_callers_memory(plan));
  CHECK_OK(check_order(plan));
  return check_arena(plan);
}

Status check_manifest(const Manifest& manifest, const Plan& plan) {
  CHECK_OK(require_types(manifest.inputs, plan.inputs, plan, "inputs"));
  CHECK_OK(require_types(manifest.outputs, plan.outputs, plan, "outputs"));
  std::vector<TensorType> outputs;
  for (const NamedType& output : manifest.outputs) outputs.push_back(output.type);
  if (are_counted(manifest.run_time_sizes, outputs)) return {};
  return Error{ErrorCode::untrusted,
               "engine file: the manifest has a size of an output that nothing counts"};
}

}  // namespace enginery
