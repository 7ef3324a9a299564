#include "engine/tactics/shapes/epilogue.h"

#include <algorithm>
#include <numeric>

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
BroadcastStrides strides_beside(const Dims& dims, const EpilogueFrame& frame) {
  const Dims own = strides_of(dims);
  std::vector<size_t> stored(dims.size());
  std::iota(stored.begin(), stored.end(), size_t{0});
  const bool last = frame.format.layout.kind == LayoutKind::channels_last;
  if (last) std::rotate(stored.begin() + 1, stored.begin() + 2, stored.end());
  BroadcastStrides out;
  out.type = frame.format.type;
  for (size_t d : stored) out.append(frame.dims[d], dims[d] == 1 ? 0 : own[d]);
  return out;
}

// Integers and booleans of run time beside floats; they are stored in order.
std::optional<EpilogueSource> classify_integers(int input, const TensorDesc& desc, const Dims& dims,
                                                const EpilogueFrame& frame) {
  const bool in_order = frame.broadcasts && frame.format.layout.kind == LayoutKind::linear;
  if (desc.constant || desc.value || !in_order || !repeats_within(dims, frame.dims)) return {};
  EpilogueSource out{OperandAccess::same, input, false, 1, {}};
  if (dims == frame.dims) return out;
  out.access = OperandAccess::broadcast;
  out.strides = strides_beside(dims, frame);
  out.strides.type = desc.type.type;
  return out;
}

bool has_one_value_a_channel(const TensorDesc& desc, const EpilogueFrame& frame) {
  return desc.constant &&
         volume(desc.type.dims) == frame.dims[static_cast<size_t>(frame.channel_axis)];
}

Result<EpilogueSource> anchor_bias(const Problem& problem, const EpilogueFrame& frame,
                                   AnchorBias bias) {
  const TensorDesc& desc = problem.inputs[static_cast<size_t>(bias.input)];
  const bool fits = has_one_value_a_channel(desc, frame);
  const bool one = desc.constant && volume(desc.type.dims) == 1;
  if (!fits && !one) return refusal("a bias that is no constant of one value a channel");
  const OperandAccess access = fits ? OperandAccess::channel : OperandAccess::single;
  return EpilogueSource{access, bias.input, true, bias.scale, {}};
}

Result<EpilogueSource> step_operand(const Problem& problem, const EpilogueFrame& frame,
                                    const EpilogueStep& step) {
  const TensorDesc& desc = problem.inputs[static_cast<size_t>(step.operand)];
  if (step.kind == EpilogueKind::bias && has_one_value_a_channel(desc, frame))
    return EpilogueSource{OperandAccess::channel, step.operand, true, 1, {}};
  auto source = classify_operand(step.operand, desc, frame);
  if (source) return std::move(*source);
  return refusal("an epilogue operand " + to_string(desc.type) + " beside " +
                 to_string(frame.dims));
}

void append_operand(FusedStepKind kind, EpilogueSource source, LoweredEpilogue& out) {
  const int slot = static_cast<int>(out.sources.size());
  out.code.steps.push_back({kind, {}, source.access, slot, source.strides});
  out.sources.push_back(std::move(source));
}

}  // namespace

void BroadcastStrides::append(int64_t size, int64_t stride) {
  if (size == 1) return;
  const bool joins = !dims.empty() && strides.back() == stride * size;
  if (joins) {
    dims.back() *= size;
    strides.back() = stride;
  } else {
    dims.push_back(size);
    strides.push_back(stride);
  }
}

EpilogueFrame frame_in_order(const Dims& dims, DataType type) {
  return {dims,
          static_cast<int64_t>(dims.size()) - 1,
          dims.empty() ? 1 : dims.back(),
          {type, {}},
          true};
}

std::optional<EpilogueSource> classify_operand(int input, const TensorDesc& desc,
                                               const EpilogueFrame& frame) {
  if (!desc.present || desc.type.dims.size() > frame.dims.size()) return {};
  const Dims dims = aligned(desc.type.dims, frame.dims.size());
  if (!is_floating(desc.type.type)) return classify_integers(input, desc, dims, frame);
  EpilogueSource out{OperandAccess::same, input, desc.constant, 1, {}};
  if (auto access = simple_access(desc, dims, frame)) {
    out.access = *access;
    return out;
  }
  if (!frame.broadcasts || !repeats_within(dims, frame.dims)) return {};
  out.access = OperandAccess::broadcast;
  out.strides = strides_beside(dims, frame);
  if (desc.constant) out.strides.type = DataType::float32;
  return out;
}

Format wanted_format(const EpilogueSource& source, const EpilogueFrame& frame) {
  return source.access == OperandAccess::broadcast ? Format{frame.format.type, {}} : frame.format;
}

Result<LoweredEpilogue> lower_epilogue(const Problem& problem, const EpilogueFrame& frame,
                                       AnchorBias bias) {
  constexpr size_t kMaxSlots = 6;
  LoweredEpilogue out;
  out.frame = frame;
  out.code.output = frame.format.type;
  const auto axis = static_cast<size_t>(frame.channel_axis);
  out.code.zero_padding = axis < frame.dims.size() && frame.padded > frame.dims[axis];
  if (bias.input >= 0) {
    TRY(EpilogueSource source, anchor_bias(problem, frame, bias));
    append_operand(FusedStepKind::add, std::move(source), out);
  }
  for (const EpilogueStep& step : problem.epilogue) {
    if (step.kind == EpilogueKind::activation) {
      out.code.steps.push_back({FusedStepKind::activation, step.activation, {}, -1, {}});
      continue;
    }
    TRY(EpilogueSource source, step_operand(problem, frame, step));
    const bool multiplies = step.kind == EpilogueKind::multiply;
    append_operand(multiplies ? FusedStepKind::multiply : FusedStepKind::add, std::move(source),
                   out);
  }
  if (out.sources.size() > kMaxSlots) return refusal("more than 6 epilogue operands");
  return out;
}

void want_operands(const LoweredEpilogue& epilogue, Tactic& tactic) {
  for (const EpilogueSource& source : epilogue.sources) {
    if (!source.constant)
      tactic.inputs[static_cast<size_t>(source.input)] = wanted_format(source, epilogue.frame);
  }
}

}  // namespace enginery
