#include <algorithm>

#include "engine/format/codec.h"
#include "engine/format/message.h"
#include "engine/plan/memory.h"
#include "engine/plan/streams.h"

namespace enginery {
namespace {

Error damaged(const std::string& reason) {
  return {ErrorCode::untrusted, "engine file: plan: " + reason};
}

Result<std::map<std::string, std::string>> parse_attributes(std::string_view text) {
  std::map<std::string, std::string> out;
  while (!text.empty()) {
    size_t end = std::min(text.find(' '), text.size());
    std::string_view pair = text.substr(0, end);
    size_t equals = pair.find('=');
    if (equals == std::string_view::npos) return damaged("an attribute without a value");
    out[std::string(pair.substr(0, equals))] = std::string(pair.substr(equals + 1));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

Result<TensorType> decode_type(const char* type, Dims dims) {
  TensorType out;
  TRY(out.type, parse_data_type(type));
  out.dims = std::move(dims);
  TRY([[maybe_unused]] int64_t size, checked_volume(out.dims, element_bytes(out.type)));
  return out;
}

Result<TensorDesc> decode(file::TensorDesc::Reader from) {
  TensorDesc out;
  TRY(out.type, decode_type(from.getType().cStr(), get_numbers<int64_t>(from.getDims())));
  out.present = from.getPresent();
  out.constant = from.getConstant();
  if (from.getHasValue()) {
    auto values = get_numbers<int64_t>(from.getValue());
    Dims dims = get_numbers<int64_t>(from.getValueDims());
    TRY(int64_t size, checked_volume(dims, 8));
    if (size != static_cast<int64_t>(values.size()))
      return damaged("a constant's value does not fit its dims");
    out.value = convert(Tensor::of<int64_t>(dims, std::span<const int64_t>(values)), out.type.type);
  }
  std::string pinned = from.getPinned().cStr();
  if (!pinned.empty()) {
    TRY(out.pinned, parse_format(pinned));
  }
  return out;
}

Result<EpilogueStep> decode(file::EpilogueStep::Reader from, int inputs) {
  EpilogueStep out;
  auto found = std::find(std::begin(kEpilogueKinds), std::end(kEpilogueKinds),
                         std::string_view(from.getKind().cStr()));
  if (found == std::end(kEpilogueKinds)) return damaged("an unknown epilogue step");
  out.kind = static_cast<EpilogueKind>(found - std::begin(kEpilogueKinds));
  TRY(auto attributes, parse_attributes(from.getActivation().cStr()));
  TRY(Op op, parse_op("act", attributes));
  out.activation = std::get<Activation>(op);
  out.operand = from.getOperand();
  if (out.operand >= inputs || (out.kind != EpilogueKind::activation && out.operand < 0)) {
    return damaged("an epilogue step's operand is out of range");
  }
  return out;
}

Result<Problem> decode(file::Problem::Reader from) {
  Problem out;
  std::map<std::string, std::string> attributes;
  for (auto fact : from.getAttributes()) attributes[fact.getKey().cStr()] = fact.getValue().cStr();
  TRY(out.op, parse_op(from.getOp().cStr(), attributes));
  out.anchor_inputs = from.getAnchorInputs();
  for (auto desc : from.getInputs()) {
    TRY(out.inputs.emplace_back(), decode(desc));
  }
  for (auto desc : from.getOutputs()) {
    TRY(out.outputs.emplace_back(), decode(desc));
  }
  int inputs = static_cast<int>(out.inputs.size());
  if (out.anchor_inputs < 0 || out.anchor_inputs > inputs || out.outputs.empty())
    return damaged("a problem's inputs are out of range");
  for (auto step : from.getEpilogue()) {
    TRY(out.epilogue.emplace_back(), decode(step, inputs));
  }
  return out;
}

Result<Tactic> decode(file::Tactic::Reader from,
                      const std::vector<std::shared_ptr<const Bytes>>& code) {
  Tactic out;
  out.source = from.getSource().cStr();
  out.id = from.getId().cStr();
  for (auto f : from.getInputs()) {
    TRY(out.inputs.emplace_back(), parse_format(f.cStr()));
  }
  for (auto f : from.getOutputs()) {
    TRY(out.outputs.emplace_back(), parse_format(f.cStr()));
  }
  TRY(out.compute, parse_precision(from.getCompute().cStr()));
  out.workspace_bytes = from.getWorkspaceBytes();
  out.deterministic = from.getDeterministic();
  out.in_place_operand = from.getInPlaceOperand();
  out.view_of = from.getViewOf();
  int index = from.getCodeIndex();
  if (index >= static_cast<int>(code.size())) return damaged("a tactic's code is out of range");
  if (index >= 0) out.code = code[static_cast<size_t>(index)];
  return out;
}

bool all_in_range(const std::vector<int>& indices, size_t size, int least) {
  return std::all_of(indices.begin(), indices.end(),
                     [&](int i) { return i >= least && i < static_cast<int>(size); });
}

// A step whose buffers are as large as its problem and formats say.
Status check_step(const Plan& plan, const PlanStep& step) {
  const Problem& problem = step.problem;
  size_t n = problem.inputs.size(), m = problem.outputs.size();
  bool lengths = step.inputs.size() == n && step.constants.size() == n &&
                 step.tactic.inputs.size() == n && step.outputs.size() == m &&
                 step.tactic.outputs.size() == m;
  if (!lengths || !all_in_range(step.inputs, plan.tensors.size(), -1) ||
      !all_in_range(step.constants, plan.constants.size(), -1) ||
      !all_in_range(step.outputs, plan.tensors.size(), 0)) {
    return damaged("step '" + step.name + "' is wired wrongly");
  }
  int views = step.tactic.view_of, in_place = step.tactic.in_place_operand;
  if (views >= static_cast<int>(n) || in_place >= static_cast<int>(n))
    return damaged("step '" + step.name + "' shares an input that it does not have");
  if (step.workspace < -1 || step.workspace >= static_cast<int>(plan.storages.size()) ||
      step.tactic.workspace_bytes < 0 || (step.workspace < 0 && step.tactic.workspace_bytes > 0) ||
      (step.workspace >= 0 &&
       plan.storages[static_cast<size_t>(step.workspace)].bytes < step.tactic.workspace_bytes)) {
    return damaged("step '" + step.name + "' has no room for its workspace");
  }
  auto fits = [&](int tensor, const TensorDesc& desc, const Format& format) {
    const PlanTensor& t = plan.tensors[static_cast<size_t>(tensor)];
    const Storage& s = plan.storages[static_cast<size_t>(t.storage)];
    return t.type == desc.type && physical_bytes(desc.type.dims, format) <= s.bytes;
  };
  for (size_t i = 0; i < n; ++i) {
    bool given = step.inputs[i] >= 0 || step.constants[i] >= 0;
    if (given != problem.inputs[i].present ||
        (step.constants[i] >= 0) != problem.inputs[i].constant)
      return damaged("step '" + step.name + "' lacks an input");
    if (step.inputs[i] >= 0 && !fits(step.inputs[i], problem.inputs[i], step.tactic.inputs[i]))
      return damaged("step '" + step.name + "' reads past a tensor");
    if (step.constants[i] >= 0 &&
        plan.constants[static_cast<size_t>(step.constants[i])].tensor.tensor_type() !=
            problem.inputs[i].type) {
      return damaged("step '" + step.name + "' has a constant of another type");
    }
  }
  for (size_t i = 0; i < m; ++i) {
    if (!fits(step.outputs[i], problem.outputs[i], step.tactic.outputs[i]))
      return damaged("step '" + step.name + "' writes past a tensor");
  }
  return {};
}

Status check_plan(const Plan& plan) {
  for (const PlanTensor& t : plan.tensors) {
    if (t.storage < 0 || t.storage >= static_cast<int>(plan.storages.size()))
      return damaged("a tensor has no storage");
  }
  for (const Storage& s : plan.storages) {
    size_t callers = s.kind == StorageKind::input ? plan.inputs.size() : plan.outputs.size();
    if (s.bytes < 0 || s.offset < 0) return damaged("a storage has a negative size or offset");
    if (s.kind != StorageKind::arena && s.offset >= static_cast<int64_t>(callers))
      return damaged("a storage of the caller is out of range");
  }
  if (!all_in_range(plan.inputs, plan.tensors.size(), 0) ||
      !all_in_range(plan.outputs, plan.tensors.size(), 0)) {
    return damaged("an input or output is out of range");
  }
  for (const PlanStep& step : plan.steps) CHECK_OK(check_step(plan, step));
  const int streams = stream_count(plan);
  bool too_many =
      plan.steps.size() > kMaxStepsSideBySide || plan.storages.size() > 4 * kMaxStepsSideBySide;
  if (streams > kMaxStreams || (streams > 1 && too_many))
    return damaged("it runs more side by side than any build makes");
  Status memory = check_memory(plan);
  return memory.ok() ? memory : Status(damaged(memory.error().message));
}

Result<std::vector<std::shared_ptr<const Bytes>>> decode_code(file::Plan::Reader root,
                                                              ByteSpan code) {
  std::vector<std::shared_ptr<const Bytes>> out;
  for (auto range : root.getCode()) {
    uint64_t offset = static_cast<uint64_t>(range.getOffset()),
             size = static_cast<uint64_t>(range.getSize());
    if (offset > code.size() || size > code.size() - offset)
      return damaged("device code is out of range");
    out.push_back(std::make_shared<const Bytes>(as_text(code.subspan(offset, size))));
  }
  return out;
}

Status decode_memory(file::Plan::Reader root, Plan& plan) {
  for (auto t : root.getTensors()) {
    PlanTensor tensor;
    tensor.name = t.getName().cStr();
    TRY(tensor.type, decode_type(t.getType().cStr(), get_numbers<int64_t>(t.getDims())));
    TRY(tensor.format, parse_format(t.getFormat().cStr()));
    tensor.storage = t.getStorage();
    plan.tensors.push_back(std::move(tensor));
  }
  for (auto s : root.getStorages()) {
    if (s.getKind() > 2) return damaged("an unknown kind of storage");
    plan.storages.push_back({static_cast<StorageKind>(s.getKind()), s.getBytes(), s.getOffset(),
                             s.getFirstStep(), s.getLastStep()});
  }
  plan.inputs = get_numbers<int>(root.getInputs());
  plan.outputs = get_numbers<int>(root.getOutputs());
  plan.arena_bytes = root.getArenaBytes();
  if (plan.arena_bytes < 0 || plan.arena_bytes > (int64_t{1} << 42))
    return damaged("an arena of impossible size");
  return {};
}

}  // namespace

Result<Plan> decode_plan(ByteSpan bytes, ByteSpan code, ByteSpan weights,
                         const std::shared_ptr<const void>& keep_alive) {
  return read_message<file::Plan>(
      bytes, "engine file: plan", [&](file::Plan::Reader root) -> Result<Plan> {
        Plan plan;
        TRY(auto objects, decode_code(root, code));
        CHECK_OK(decode_memory(root, plan));
        for (auto c : root.getConstants()) {
          TRY(TensorType type, decode_type(c.getType().cStr(), get_numbers<int64_t>(c.getDims())));
          uint64_t offset = static_cast<uint64_t>(c.getOffset()),
                   size = static_cast<uint64_t>(bytes_of(type));
          if (offset > weights.size() || size > weights.size() - offset)
            return damaged("weights are out of range");
          std::shared_ptr<const void> data(keep_alive, weights.data() + offset);
          plan.constants.push_back(
              {c.getName().cStr(), Tensor::borrow(type.type, type.dims, std::move(data))});
        }
        for (auto s : root.getSteps()) {
          PlanStep step;
          step.name = s.getName().cStr();
          TRY(step.problem, decode(s.getProblem()));
          TRY(step.tactic, decode(s.getTactic(), objects));
          step.inputs = get_numbers<int>(s.getInputs());
          step.constants = get_numbers<int>(s.getConstants());
          step.outputs = get_numbers<int>(s.getOutputs());
          step.workspace = s.getWorkspace();
          step.stream = s.getStream();
          plan.steps.push_back(std::move(step));
        }
        CHECK_OK(check_plan(plan));
        return plan;
      });
}

}  // namespace enginery
