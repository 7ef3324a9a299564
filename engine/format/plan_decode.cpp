#include <algorithm>

#include "engine/format/codec.h"
#include "engine/format/message.h"
#include "engine/format/plan_check.h"
#include "engine/format/sections.h"

namespace enginery {
namespace {

Result<TensorType> decode_type(const char* type, Dims dims) {
  constexpr size_t kMaxRank = 64;  // as of an initialiser that the importer reads
  if (dims.size() > kMaxRank) return damaged_plan("a tensor of too many dimensions");
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
  if (found == std::end(kEpilogueKinds)) return damaged_plan("an unknown epilogue step");
  out.kind = static_cast<EpilogueKind>(found - std::begin(kEpilogueKinds));
  TRY(auto attributes, parse_attributes(from.getActivation().cStr()));
  TRY(Op op, parse_op("act", attributes));
  out.activation = std::get<Activation>(op);
  out.operand = from.getOperand();
  if (out.operand >= inputs || (out.kind != EpilogueKind::activation && out.operand < 0)) {
    return damaged_plan("an epilogue step's operand is out of range");
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
    return damaged_plan("a problem's inputs are out of range");
  for (auto step : from.getEpilogue()) {
    if (std::string_view(step.getKind().cStr()) == kFurtherOperator) {
      TRY(out.rest.emplace_back(), parse_region_op(step.getActivation().cStr(), out.inputs.size()));
      continue;
    }
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
  if (index >= static_cast<int>(code.size()))
    return damaged_plan("a tactic's code is out of range");
  if (index >= 0) out.code = code[static_cast<size_t>(index)];
  return out;
}

Result<std::vector<std::shared_ptr<const Bytes>>> decode_code(file::Plan::Reader root,
                                                              ByteSpan code) {
  std::vector<std::shared_ptr<const Bytes>> out;
  // One after the other, as the writer puts them: ranges that overlap would be copied many times.
  uint64_t end = 0;
  for (auto range : root.getCode()) {
    const auto offset = static_cast<uint64_t>(range.getOffset()),
               size = static_cast<uint64_t>(range.getSize());
    if (offset != end || size > code.size() - offset)
      return damaged_plan("device code is out of range");
    end += size;
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
    tensor.offset = t.getSlice() * kSliceUnit;
    plan.tensors.push_back(std::move(tensor));
  }
  for (auto s : root.getStorages()) {
    if (s.getKind() > 2) return damaged_plan("an unknown kind of storage");
    // Lifetimes follow from the steps: check_plan finds them again.
    plan.storages.push_back(
        {static_cast<StorageKind>(s.getKind()), s.getBytes(), s.getOffset(), 0, 0});
  }
  plan.inputs = get_numbers<int>(root.getInputs());
  plan.outputs = get_numbers<int>(root.getOutputs());
  plan.arena_bytes = root.getArenaBytes();
  if (plan.arena_bytes < 0 || plan.arena_bytes > (int64_t{1} << 42))
    return damaged_plan("an arena of impossible size");
  return {};
}

Status decode_constants(file::Plan::Reader root, ByteSpan weights,
                        const std::shared_ptr<const void>& keep_alive, Plan& plan) {
  for (auto c : root.getConstants()) {
    TRY(TensorType type, decode_type(c.getType().cStr(), get_numbers<int64_t>(c.getDims())));
    const auto offset = static_cast<uint64_t>(c.getOffset()),
               size = static_cast<uint64_t>(bytes_of(type));
    if (offset > weights.size() || size > weights.size() - offset)
      return damaged_plan("weights are out of range");
    if (offset % kSectionAlignment != 0) return damaged_plan("weights are not aligned");
    std::shared_ptr<const void> data(keep_alive, weights.data() + offset);
    plan.constants.push_back(
        {c.getName().cStr(), Tensor::borrow(type.type, std::move(type.dims), std::move(data))});
  }
  return {};
}

// The values that select code are the constants themselves: what the file repeats of them is not
// read.
void take_values(file::Step::Reader from, const Plan& plan, PlanStep& step) {
  auto inputs = from.getProblem().getInputs();
  for (unsigned i = 0; i < inputs.size() && i < step.constants.size(); ++i) {
    const int c = step.constants[i];
    if (inputs[i].getHasValue() && c >= 0 && c < static_cast<int>(plan.constants.size()))
      step.problem.inputs[i].value = plan.constants[static_cast<size_t>(c)].tensor;
  }
}

}  // namespace

Result<Plan> decode_plan(ByteSpan bytes, ByteSpan code, ByteSpan weights,
                         const std::shared_ptr<const void>& keep_alive) {
  return read_message<file::Plan>(bytes, "engine file: plan",
                                  [&](file::Plan::Reader root) -> Result<Plan> {
                                    Plan plan;
                                    TRY(auto objects, decode_code(root, code));
                                    CHECK_OK(decode_memory(root, plan));
                                    CHECK_OK(decode_constants(root, weights, keep_alive, plan));
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
                                      take_values(s, plan, step);
                                      plan.steps.push_back(std::move(step));
                                    }
                                    CHECK_OK(check_plan(plan));
                                    return plan;
                                  });
}

}  // namespace enginery
