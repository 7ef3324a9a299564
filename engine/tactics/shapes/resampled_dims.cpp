#include "engine/tactics/shapes/resampled_dims.h"

#include <algorithm>

#include "engine/tactics/shapes/reading.h"

namespace enginery {
namespace {

Result<std::vector<ResampledDim>> resized_dims(const Problem& problem, const Resize& op) {
  const auto& inputs = problem.inputs;
  const bool sizes_alone = inputs.size() > 2 && inputs[2].value &&
                           (!inputs[1].present || volume(inputs[1].type.dims) == 0);
  if (!sizes_alone || op.coordinates == ResizeCoordinates::crop)
    return refusal("a resize by more than known sizes");
  const Dims &in = inputs[0].type.dims, &out = problem.outputs[0].type.dims;
  std::vector<ResampledDim> dims;
  for (size_t d = 0; d < in.size(); ++d) {
    ResampledDim& dim = dims.emplace_back(ResampledDim{in[d], out[d], {}});
    if (in[d] != out[d])
      dim.taps =
          resize_taps(op, {in[d], out[d], static_cast<float>(out[d]) / static_cast<float>(in[d])});
  }
  return dims;
}

Result<std::vector<ResampledDim>> padded_dims(const Problem& problem, const Pad& op) {
  const auto& inputs = problem.inputs;
  const bool has_axes = inputs.size() > 3 && inputs[3].present;
  if (!inputs[1].value || (has_axes && !inputs[3].value)) return refusal("pads that are computed");
  const std::vector<int64_t> axes = has_axes ? to_int64s(*inputs[3].value) : std::vector<int64_t>();
  const Dims &in = inputs[0].type.dims, &out = problem.outputs[0].type.dims;
  TRY(auto sources,
      pad_sources(op, to_int64s(*inputs[1].value), has_axes ? &axes : nullptr, in, out));
  std::vector<ResampledDim> dims;
  for (size_t d = 0; d < in.size(); ++d) {
    ResampledDim& dim = dims.emplace_back(ResampledDim{in[d], out[d], {}});
    bool kept = in[d] == out[d];
    for (int64_t o = 0; o < out[d]; ++o) {
      const int64_t at = sources[d][static_cast<size_t>(o)];
      kept &= at == o;
      dim.taps.push_back(at < 0 ? SampleTaps{{}, true} : SampleTaps{{{at, 1}}, false});
    }
    if (kept) dim.taps.clear();
  }
  return dims;
}

}  // namespace

Result<std::vector<ResampledDim>> resampled_dims(const Problem& problem) {
  const auto* resize = std::get_if<Resize>(&problem.op);
  const auto* pad = std::get_if<Pad>(&problem.op);
  if (!resize && !pad) return refusal("no resize and no padding");
  CHECK_OK(require_static(problem));
  const TensorDesc& x = problem.inputs[0];
  if (!is_floating(x.type.type) || x.constant || !problem.epilogue.empty())
    return refusal("integers, a constant or a fused chain");
  if (volume(x.type.dims) == 0 || volume(problem.outputs[0].type.dims) == 0)
    return refusal("no elements");
  return resize ? resized_dims(problem, *resize) : padded_dims(problem, *pad);
}

std::vector<ResampledDim> as_stored(std::vector<ResampledDim> dims, LayoutKind layout) {
  if (layout == LayoutKind::channels_last)
    std::rotate(dims.begin() + 1, dims.begin() + 2, dims.end());
  return dims;
}

}  // namespace enginery
