#include "engine/tactics/cuda_kernel/epilogue_lowering.h"

#include "engine/device/format_convert.h"

namespace enginery {
namespace {

// `dims` aligned to `rank` from the right.
Dims aligned(Dims dims, size_t rank) {
  if (dims.size() < rank) dims.insert(dims.begin(), rank - dims.size(), 1);
  return dims;
}

bool all_ones_but(const Dims& dims, std::initializer_list<size_t> axes) {
  for (size_t d = 0; d < dims.size(); ++d) {
    bool excepted = false;
    for (size_t axis : axes) excepted |= d == axis;
    if (!excepted && dims[d] != 1) return false;
  }
  return true;
}

PackConstant pack_channels(const EpilogueSource& source, int64_t padded) {
  return [source, padded](Weights weights) {
    Tensor values = convert(*weights[static_cast<size_t>(source.input)], DataType::float32);
    std::vector<float> packed(static_cast<size_t>(source.access == OperandAccess::single ? 1 : padded), 0.0f);
    auto data = values.data<float>();
    for (size_t i = 0; i < data.size(); ++i) packed[i] = source.scale * data[i];
    return bytes_of_values(packed);
  };
}

// A constant of the output's size, as the output lies.
PackConstant pack_whole(const EpilogueSource& source, const EpilogueFrame& frame) {
  return [source, frame](Weights weights) {
    Tensor values = convert(*weights[static_cast<size_t>(source.input)], DataType::float32).reshaped(frame.dims);
    for (float& v : values.mutable_data<float>()) v *= source.scale;
    Bytes packed(static_cast<size_t>(physical_bytes(frame.dims, frame.format)), '\0');
    to_physical(values, frame.format, packed.data());
    return packed;
  };
}

}  // namespace

std::optional<OperandAccess> classify_operand(const TensorDesc& desc, const EpilogueFrame& frame) {
  if (!desc.present || !is_floating(desc.type.type) || desc.type.dims.size() > frame.dims.size()) return {};
  Dims dims = aligned(desc.type.dims, frame.dims.size());
  auto axis = static_cast<size_t>(frame.channel_axis);
  if (desc.constant) {
    if (volume(dims) == 1) return OperandAccess::single;
    if (axis < dims.size() && dims[axis] == frame.dims[axis] && all_ones_but(dims, {axis})) return OperandAccess::channel;
    if (dims == frame.dims) return OperandAccess::same;
    return {};
  }
  if (dims == frame.dims) return OperandAccess::same;
  bool images = axis == 1 && dims.size() > 2 && dims[0] == frame.dims[0] && dims[1] == frame.dims[1];
  if (images && all_ones_but(dims, {0, 1}) && desc.type.dims.size() == frame.dims.size()) return OperandAccess::image_channel;
  return {};
}

Result<LoweredEpilogue> lower_epilogue(const Problem& problem, const EpilogueFrame& frame, AnchorBias bias) {
  LoweredEpilogue out;
  out.frame = frame;
  out.code.output = frame.format.type;
  auto axis = static_cast<size_t>(frame.channel_axis);
  out.code.zero_padding = axis < frame.dims.size() && frame.padded > frame.dims[axis];
  constexpr size_t kMostSlots = 6;
  auto add_operand = [&](CodeStepKind kind, int input, OperandAccess access, float scale) {
    out.code.steps.push_back({kind, {}, access, static_cast<int>(out.sources.size())});
    out.sources.push_back({access, input, problem.inputs[static_cast<size_t>(input)].constant, scale});
  };
  if (bias.input >= 0) {
    const TensorDesc& desc = problem.inputs[static_cast<size_t>(bias.input)];
    bool fits = desc.constant && volume(desc.type.dims) == frame.dims[axis];
    bool one = desc.constant && volume(desc.type.dims) == 1;
    if (!fits && !one) return no_kernel("a bias that is no constant of one value a channel");
    add_operand(CodeStepKind::add, bias.input, fits ? OperandAccess::channel : OperandAccess::single, bias.scale);
  }
  for (const EpilogueStep& step : problem.epilogue) {
    if (step.kind == EpilogueKind::activation) {
      out.code.steps.push_back({CodeStepKind::activation, step.activation, {}, -1});
      continue;
    }
    const TensorDesc& desc = problem.inputs[static_cast<size_t>(step.operand)];
    bool is_bias = step.kind == EpilogueKind::bias && desc.constant && volume(desc.type.dims) == frame.dims[axis];
    auto access = is_bias ? OperandAccess::channel : classify_operand(desc, frame);
    if (!access) return no_kernel("an epilogue operand " + to_string(desc.type) + " beside " + to_string(frame.dims));
    add_operand(step.kind == EpilogueKind::multiply ? CodeStepKind::multiply : CodeStepKind::add, step.operand, *access, 1);
  }
  if (out.sources.size() > kMostSlots) return no_kernel("more than 6 epilogue operands");
  return out;
}

void want_operands(const LoweredEpilogue& epilogue, Tactic& tactic) {
  for (const EpilogueSource& source : epilogue.sources) {
    if (!source.constant) tactic.inputs[static_cast<size_t>(source.input)] = epilogue.frame.format;
  }
}

void attach_sources(const std::vector<EpilogueSource>& sources, const EpilogueFrame& frame, size_t offset, KernelPlan& plan,
                    KernelLaunch& launch) {
  for (size_t slot = 0; slot < sources.size(); ++slot) {
    const EpilogueSource& source = sources[slot];
    PointerSlot pointer{offset + slot * sizeof(void*), PointerSource::input, source.input};
    if (source.constant) {
      pointer.source = PointerSource::constant;
      bool whole = source.access == OperandAccess::same;
      pointer.index = plan.add_constant(whole ? pack_whole(source, frame) : pack_channels(source, frame.padded));
    }
    launch.slots.push_back(pointer);
  }
}

void attach_epilogue(const LoweredEpilogue& epilogue, size_t offset, KernelPlan& plan, KernelLaunch& launch) {
  attach_sources(epilogue.sources, epilogue.frame, offset, plan, launch);
}

}  // namespace enginery
