#include "engine/tactics/shapes/norm_rows.h"

#include "engine/tactics/shapes/reading.h"

namespace enginery {
namespace {

int64_t volume_of(const Dims& dims, size_t first, size_t last) {
  return volume(Dims(dims.begin() + static_cast<std::ptrdiff_t>(first),
                     dims.begin() + static_cast<std::ptrdiff_t>(last)));
}

// Over dims[axis..], each element with its own scale.
NormRows from_axis(const Dims& x, int64_t axis, float epsilon) {
  const size_t first = static_cast<size_t>(wrapped(axis, x.size()));
  NormRows out;
  out.rows = volume_of(x, 0, first);
  out.size = volume_of(x, first, x.size());
  out.epsilon = epsilon;
  out.factors = Dims(x.begin() + static_cast<std::ptrdiff_t>(first), x.end());
  return out;
}

// Over groups of channels, each channel with its own scale.
NormRows over_channels(const Dims& x, int64_t groups, float epsilon) {
  const int64_t channels = x[1] / groups, plane = volume_of(x, 2, x.size());
  NormRows out;
  out.rows = x[0] * groups;
  out.size = channels * plane;
  out.period = groups;
  out.step = channels;
  out.each = plane;
  out.epsilon = epsilon;
  out.has_bias = true;
  out.factors = {x[1]};
  return out;
}

}  // namespace

Result<NormRows> norm_rows(const Problem& problem) {
  if (!is_one_of<LayerNorm, RmsNorm, InstanceNorm, GroupNorm>(problem))
    return refusal("no normalisation of rows");
  const Dims& x = input_dims(problem, 0);
  if (volume(x) == 0) return refusal("no elements");
  if (const auto* op = std::get_if<InstanceNorm>(&problem.op))
    return over_channels(x, x[1], op->epsilon);
  if (const auto* op = std::get_if<GroupNorm>(&problem.op))
    return over_channels(x, op->groups, op->epsilon);
  if (const auto* op = std::get_if<RmsNorm>(&problem.op)) {
    NormRows out = from_axis(x, op->axis, op->epsilon);
    out.centred = false;
    return out;
  }
  const auto& op = std::get<LayerNorm>(problem.op);
  NormRows out = from_axis(x, op.axis, op.epsilon);
  out.has_bias = problem.anchor_inputs > 2 && problem.inputs[2].present;
  return out;
}

Tensor norm_factors(const NormRows& rows, const Tensor& given) {
  const Dims &to = rows.factors, dims = aligned(given.dims(), to.size()),
             strides = strides_of(dims);
  const Tensor from = convert(given, DataType::float32);
  Tensor out(DataType::float32, to);
  int64_t place = 0;
  for (float& value : out.mutable_data<float>()) {
    int64_t rest = place++, at = 0;
    for (size_t d = to.size(); d-- > 0; rest /= to[d])
      at += dims[d] == 1 ? 0 : rest % to[d] * strides[d];
    value = from.data<float>()[static_cast<size_t>(at)];
  }
  return out;
}

}  // namespace enginery
