#include <map>

#include "engine/format/codec.h"
#include "engine/format/message.h"
#include "engine/format/sections.h"

namespace enginery {
namespace {

unsigned count(size_t n) {
  return static_cast<unsigned>(n);
}

void encode(const TensorDesc& desc, file::TensorDesc::Builder to) {
  to.setType(std::string(to_string(desc.type.type)));
  set_list(to.initDims(count(desc.type.dims.size())), desc.type.dims);
  to.setPresent(desc.present);
  to.setConstant(desc.constant);
  to.setHasValue(desc.value.has_value());
  if (desc.value) {
    auto values = to_int64s(*desc.value);
    set_list(to.initValue(count(values.size())), values);
    set_list(to.initValueDims(count(desc.value->dims().size())), desc.value->dims());
  }
  if (desc.pinned) to.setPinned(to_string(*desc.pinned));
}

void encode(const Problem& problem, file::Problem::Builder to) {
  to.setOp(std::string(op_name(problem.op)));
  Properties attributes;
  auto collect = [&](std::string_view name, const auto& value) {
    attributes.emplace_back(std::string(name), attribute_text(value));
  };
  std::visit([&](const auto& o) { std::decay_t<decltype(o)>::fields(o, collect); }, problem.op);
  set_facts(to.initAttributes(count(attributes.size())), attributes);
  to.setAnchorInputs(problem.anchor_inputs);
  auto inputs = to.initInputs(count(problem.inputs.size()));
  for (unsigned i = 0; i < inputs.size(); ++i) encode(problem.inputs[i], inputs[i]);
  auto outputs = to.initOutputs(count(problem.outputs.size()));
  for (unsigned i = 0; i < outputs.size(); ++i) encode(problem.outputs[i], outputs[i]);
  auto steps = to.initEpilogue(count(problem.epilogue.size() + problem.rest.size()));
  unsigned at = 0;
  for (const EpilogueStep& step : problem.epilogue) {
    auto out = steps[at++];
    out.setKind(std::string(kEpilogueKinds[static_cast<size_t>(step.kind)]));
    out.setActivation(attributes_text(Op(step.activation)));
    out.setOperand(step.operand);
  }
  for (const RegionOp& op : problem.rest) {
    auto out = steps[at++];
    out.setKind(std::string(kFurtherOperator));
    out.setActivation(region_op_text(op, problem.inputs.size()));
    out.setOperand(-1);
  }
}

void encode(const Tactic& tactic, int code_index, file::Tactic::Builder to) {
  to.setSource(tactic.source);
  to.setId(tactic.id);
  auto inputs = to.initInputs(count(tactic.inputs.size()));
  for (unsigned i = 0; i < inputs.size(); ++i) inputs.set(i, to_string(tactic.inputs[i]));
  auto outputs = to.initOutputs(count(tactic.outputs.size()));
  for (unsigned i = 0; i < outputs.size(); ++i) outputs.set(i, to_string(tactic.outputs[i]));
  to.setCompute(std::string(to_string(tactic.compute)));
  to.setWorkspaceBytes(tactic.workspace_bytes);
  to.setDeterministic(tactic.deterministic);
  to.setInPlaceOperand(tactic.in_place_operand);
  to.setViewOf(tactic.view_of);
  to.setCodeIndex(code_index);
}

// Device code of all steps, each object once.
class CodeTable {
 public:
  int add(const std::shared_ptr<const Bytes>& code) {
    if (!code || code->empty()) return -1;
    auto [found, fresh] = index_.emplace(sha256(*code), static_cast<int>(ranges_.size()));
    if (fresh) {
      ranges_.emplace_back(bytes_.size(), code->size());
      bytes_ += *code;
    }
    return found->second;
  }
  const std::vector<std::pair<size_t, size_t>>& ranges() const { return ranges_; }
  Bytes take() { return std::move(bytes_); }

 private:
  std::map<Digest, int> index_;
  std::vector<std::pair<size_t, size_t>> ranges_;
  Bytes bytes_;
};

void encode_steps(const Plan& plan, CodeTable& code, file::Plan::Builder root) {
  auto steps = root.initSteps(count(plan.steps.size()));
  for (unsigned i = 0; i < steps.size(); ++i) {
    const PlanStep& step = plan.steps[i];
    steps[i].setName(step.name);
    encode(step.problem, steps[i].initProblem());
    encode(step.tactic, code.add(step.tactic.code), steps[i].initTactic());
    set_list(steps[i].initInputs(count(step.inputs.size())), step.inputs);
    set_list(steps[i].initConstants(count(step.constants.size())), step.constants);
    set_list(steps[i].initOutputs(count(step.outputs.size())), step.outputs);
    steps[i].setWorkspace(step.workspace);
    steps[i].setStream(static_cast<uint8_t>(step.stream));
  }
  auto ranges = root.initCode(count(code.ranges().size()));
  for (unsigned i = 0; i < ranges.size(); ++i) {
    ranges[i].setOffset(static_cast<int64_t>(code.ranges()[i].first));
    ranges[i].setSize(static_cast<int64_t>(code.ranges()[i].second));
  }
}

void encode_memory(const Plan& plan, file::Plan::Builder root) {
  auto tensors = root.initTensors(count(plan.tensors.size()));
  for (unsigned i = 0; i < tensors.size(); ++i) {
    const PlanTensor& t = plan.tensors[i];
    tensors[i].setName(t.name);
    tensors[i].setType(std::string(to_string(t.type.type)));
    set_list(tensors[i].initDims(count(t.type.dims.size())), t.type.dims);
    tensors[i].setFormat(to_string(t.format));
    tensors[i].setStorage(t.storage);
    tensors[i].setSlice(static_cast<uint32_t>(t.offset / kSliceUnit));
  }
  auto storages = root.initStorages(count(plan.storages.size()));
  for (unsigned i = 0; i < storages.size(); ++i) {
    const Storage& s = plan.storages[i];
    storages[i].setKind(static_cast<uint8_t>(s.kind));
    storages[i].setBytes(s.bytes);
    storages[i].setOffset(s.offset);
    storages[i].setFirstStep(s.first_step);
    storages[i].setLastStep(s.last_step);
  }
  set_list(root.initInputs(count(plan.inputs.size())), plan.inputs);
  set_list(root.initOutputs(count(plan.outputs.size())), plan.outputs);
  root.setArenaBytes(plan.arena_bytes);
}

size_t padding_behind(size_t bytes) {
  return (kSectionAlignment - bytes % kSectionAlignment) % kSectionAlignment;
}

// How large the weights are.
size_t encode_constants(const Plan& plan, file::Plan::Builder root) {
  size_t end = 0;
  auto constants = root.initConstants(count(plan.constants.size()));
  for (unsigned i = 0; i < constants.size(); ++i) {
    const PlanConstant& c = plan.constants[i];
    constants[i].setName(c.name);
    constants[i].setType(std::string(to_string(c.tensor.type())));
    set_list(constants[i].initDims(count(c.tensor.dims().size())), c.tensor.dims());
    constants[i].setOffset(static_cast<int64_t>(end));
    end += static_cast<size_t>(c.tensor.bytes());
    end += padding_behind(end);
  }
  return end;
}

}  // namespace

PlanSections encode_plan(const Plan& plan) {
  capnp::MallocMessageBuilder builder;
  auto root = builder.initRoot<file::Plan>();
  CodeTable code;
  encode_steps(plan, code, root);
  encode_memory(plan, root);
  const size_t weights_bytes = encode_constants(plan, root);
  return {message_bytes(builder), code.take(), weights_bytes};
}

void append_weights(const Plan& plan, Bytes& file) {
  for (const PlanConstant& c : plan.constants) {
    file.append(as_text(c.tensor.byte_span()));
    file.append(padding_behind(static_cast<size_t>(c.tensor.bytes())), '\0');
  }
}

}  // namespace enginery
