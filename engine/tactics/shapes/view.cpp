#include "engine/tactics/shapes/view.h"

#include "engine/ops/element_order.h"

namespace enginery {
namespace {

// Which dimensions of more than one element follow each other in memory; each is called `name[d]`.
std::vector<size_t> memory_order(const Dims& dims, const Layout& layout,
                                 const std::vector<size_t>& name) {
  std::vector<size_t> order;
  const auto append = [&](size_t d) {
    if (dims[d] != 1) order.push_back(name[d]);
  };
  const bool last = layout.kind == LayoutKind::channels_last;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (!last || d != 1) append(d);
  }
  if (last) append(1);
  return order;
}

bool transposes_nothing(const Transpose& op, const Dims& in, const Layout& from, const Dims& out,
                        const Layout& to) {
  if (from.kind == LayoutKind::blocked || to.kind == LayoutKind::blocked) return false;
  const std::vector<size_t> axes = transposed_axes(op, in.size());
  std::vector<size_t> own(in.size()), moved(in.size());
  for (size_t i = 0; i < in.size(); ++i) {
    own[i] = i;
    moved[axes[i]] = i;
  }
  return memory_order(in, from, moved) == memory_order(out, to, own);
}

bool is_packed_last(const Layout& layout) {
  return layout.kind == LayoutKind::channels_last && layout.block == 0;
}

// Dimensions of the plane joined or split: within channels-last storage they lie in order.
bool keeps_images_and_channels(const Dims& in, const Dims& out) {
  return in.size() >= 3 && out.size() >= 3 && in[0] == out[0] && in[1] == out[1];
}

}  // namespace

bool is_view(const Problem& p, const Layout& from, const Layout& to) {
  if (p.inputs.empty() || p.outputs.size() != 1 || !p.epilogue.empty() || is_region(p))
    return false;
  if (p.inputs[0].constant || is_reformat(p)) return false;
  const Dims &in = input_dims(p, 0), &out = output_dims(p);
  if (const auto* transpose = std::get_if<Transpose>(&p.op))
    return transposes_nothing(*transpose, in, from, out, to);
  if (!keeps_element_order(p.op)) return false;
  const bool linear = from.kind == LayoutKind::linear && to.kind == LayoutKind::linear;
  const bool last = is_packed_last(from) && is_packed_last(to);
  return linear || (in == out && from == to) || (last && keeps_images_and_channels(in, out));
}

bool is_widening_cast(const Problem& p) {
  if (is_region(p) || !std::holds_alternative<Cast>(p.op) || p.inputs.size() != 1 ||
      p.outputs.size() != 1)
    return false;
  const DataType from = p.inputs[0].type.type;
  const bool is_narrow = from == DataType::float16 || from == DataType::bfloat16;
  return is_narrow && !p.inputs[0].constant && p.epilogue.empty() &&
         p.outputs[0].type.type == DataType::float32;
}

std::vector<size_t> transposed_axes(const Transpose& op, size_t rank) {
  std::vector<size_t> axes;
  for (size_t d = 0; d < rank; ++d) {
    axes.push_back(op.permutation.empty() ? rank - 1 - d : static_cast<size_t>(op.permutation[d]));
  }
  return axes;
}

}  // namespace enginery
