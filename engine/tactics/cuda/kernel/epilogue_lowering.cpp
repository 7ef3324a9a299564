#include "engine/tactics/cuda/kernel/epilogue_lowering.h"

#include <algorithm>
#include <numeric>

#include "engine/device/format_convert.h"

namespace enginery {
namespace {

bool all_ones_but(const Dims& dims, std::initializer_list<size_t> axes) {
  for (size_t d = 0; d < dims.size(); ++d) {
    bool excepted = false;
    for (size_t axis : axes) excepted |= d == axis;
    if (!excepted && dims[d] != 1) return false;
  }
  return true;
}

// How a tensor of `dims`, aligned, is read beside the frame's output; nullopt where it repeats in
// another way.
std::optional<OperandAccess> simple_access(const TensorDesc& desc, const Dims& dims,
                                           const EpilogueFrame& frame) {
  auto axis = static_cast<size_t>(frame.channel_axis);
  if (desc.constant) {
    if (volume(dims) == 1) return OperandAccess::single;
    if (axis < dims.size() && dims[axis] == frame.dims[axis] && all_ones_but(dims, {axis}))
      return OperandAccess::channel;
    if (dims == frame.dims) return OperandAccess::same;
    return {};
  }
  if (dims == frame.dims) return OperandAccess::same;
  bool images =
      axis == 1 && dims.size() > 2 && dims[0] == frame.dims[0] && dims[1] == frame.dims[1];
  if (images && all_ones_but(dims, {0, 1}) && desc.type.dims.size() == frame.dims.size())
    return OperandAccess::image_channel;
  return {};
}

bool repeats_within(const Dims& dims, const Dims& output) {
  for (size_t d = 0; d < dims.size(); ++d) {
    if (dims[d] != 1 && dims[d] != output[d]) return false;
  }
  return true;
}

// Of an operand of `dims`, stored in order, beside the output as the frame stores it.
OperandWalk walk_beside(const Dims& dims, const EpilogueFrame& frame) {
  const Dims own = strides_of(dims);
  std::vector<size_t> stored(dims.size());
  std::iota(stored.begin(), stored.end(), size_t{0});
  const bool last = frame.format.layout.kind == LayoutKind::channels_last;
  if (last) std::rotate(stored.begin() + 1, stored.begin() + 2, stored.end());
  OperandWalk out;
  out.type = frame.format.type;
  for (size_t d : stored) out.append(frame.dims[d], dims[d] == 1 ? 0 : own[d]);
  return out;
}

PackConstant pack_channels(const EpilogueSource& source, int64_t padded) {
  return [source, padded](Weights weights) {
    Tensor values = convert(*weights[static_cast<size_t>(source.input)], DataType::float32);
    std::vector<float> packed(
        static_cast<size_t>(source.access == OperandAccess::single ? 1 : padded), 0.0f);
    auto data = values.data<float>();
    for (size_t i = 0; i < data.size(); ++i) packed[i] = source.scale * data[i];
    return bytes_of_values(packed);
  };
}

PackConstant pack_in_order(const EpilogueSource& source) {
  return [source](Weights weights) {
    Tensor values = convert(*weights[static_cast<size_t>(source.input)], DataType::float32);
    for (float& v : values.mutable_data<float>()) v *= source.scale;
    return Bytes(as_text(values.byte_span()));
  };
}

// A constant of the output's size, as the output lies.
PackConstant pack_whole(const EpilogueSource& source, const EpilogueFrame& frame) {
  return [source, frame](Weights weights) {
    Tensor values = convert(*weights[static_cast<size_t>(source.input)], DataType::float32)
                        .reshaped(frame.dims);
    for (float& v : values.mutable_data<float>()) v *= source.scale;
    Bytes packed(static_cast<size_t>(physical_bytes(frame.dims, frame.format)), '\0');
    to_physical(values, frame.format, packed.data());
    return packed;
  };
}

}  // namespace

EpilogueFrame frame_in_order(const Dims& dims, DataType type) {
  return {dims,
          static_cast<int64_t>(dims.size()) - 1,
          dims.empty() ? 1 : dims.back(),
          {type, {}},
          true};
}

std::optional<EpilogueSource> classify_operand(int input, const TensorDesc& desc,
                                               const EpilogueFrame& frame) {
  if (!desc.present || !is_floating(desc.type.type) || desc.type.dims.size() > frame.dims.size())
    return {};
  const Dims dims = aligned(desc.type.dims, frame.dims.size());
  EpilogueSource out{OperandAccess::same, input, desc.constant, 1, {}};
  if (auto access = simple_access(desc, dims, frame)) {
    out.access = *access;
    return out;
  }
  if (!frame.walks || !repeats_within(dims, frame.dims)) return {};
  out.access = OperandAccess::walked;
  out.walk = walk_beside(dims, frame);
  if (desc.constant) out.walk.type = DataType::float32;
  return out;
}

Format wanted_format(const EpilogueSource& source, const EpilogueFrame& frame) {
  return source.access == OperandAccess::walked ? Format{frame.format.type, {}} : frame.format;
}

Result<LoweredEpilogue> lower_epilogue(const Problem& problem, const EpilogueFrame& frame,
                                       AnchorBias bias) {
  LoweredEpilogue out;
  out.frame = frame;
  out.code.output = frame.format.type;
  auto axis = static_cast<size_t>(frame.channel_axis);
  out.code.zero_padding = axis < frame.dims.size() && frame.padded > frame.dims[axis];
  constexpr size_t kMaxSlots = 6;
  auto add_operand = [&](CodeStepKind kind, EpilogueSource source) {
    out.code.steps.push_back(
        {kind, {}, source.access, static_cast<int>(out.sources.size()), source.walk});
    out.sources.push_back(std::move(source));
  };
  if (bias.input >= 0) {
    const TensorDesc& desc = problem.inputs[static_cast<size_t>(bias.input)];
    bool fits = desc.constant && volume(desc.type.dims) == frame.dims[axis];
    bool one = desc.constant && volume(desc.type.dims) == 1;
    if (!fits && !one) return no_kernel("a bias that is no constant of one value a channel");
    add_operand(
        CodeStepKind::add,
        {fits ? OperandAccess::channel : OperandAccess::single, bias.input, true, bias.scale, {}});
  }
  for (const EpilogueStep& step : problem.epilogue) {
    if (step.kind == EpilogueKind::activation) {
      out.code.steps.push_back({CodeStepKind::activation, step.activation, {}, -1, {}});
      continue;
    }
    const TensorDesc& desc = problem.inputs[static_cast<size_t>(step.operand)];
    bool is_bias = step.kind == EpilogueKind::bias && desc.constant &&
                   volume(desc.type.dims) == frame.dims[axis];
    auto source = is_bias ? EpilogueSource{OperandAccess::channel, step.operand, true, 1, {}}
                          : classify_operand(step.operand, desc, frame);
    if (!source)
      return no_kernel("an epilogue operand " + to_string(desc.type) + " beside " +
                       to_string(frame.dims));
    add_operand(step.kind == EpilogueKind::multiply ? CodeStepKind::multiply : CodeStepKind::add,
                std::move(*source));
  }
  if (out.sources.size() > kMaxSlots) return no_kernel("more than 6 epilogue operands");
  return out;
}

void want_operands(const LoweredEpilogue& epilogue, Tactic& tactic) {
  for (const EpilogueSource& source : epilogue.sources) {
    if (!source.constant)
      tactic.inputs[static_cast<size_t>(source.input)] = wanted_format(source, epilogue.frame);
  }
}

void attach_sources(const std::vector<EpilogueSource>& sources, const EpilogueFrame& frame,
                    size_t offset, KernelPlan& plan, KernelLaunch& launch) {
  for (size_t slot = 0; slot < sources.size(); ++slot) {
    const EpilogueSource& source = sources[slot];
    PointerSlot pointer{offset + slot * sizeof(void*), PointerSource::input, source.input};
    if (source.constant) {
      pointer.source = PointerSource::constant;
      pointer.index = plan.add_constant(
          source.access == OperandAccess::same     ? pack_whole(source, frame)
          : source.access == OperandAccess::walked ? pack_in_order(source)
                                                   : pack_channels(source, frame.padded));
    }
    launch.slots.push_back(pointer);
  }
}

void attach_epilogue(const LoweredEpilogue& epilogue, size_t offset, KernelPlan& plan,
                     KernelLaunch& launch) {
  attach_sources(epilogue.sources, epilogue.frame, offset, plan, launch);
}

}  // namespace enginery
