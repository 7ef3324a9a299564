#include "engine/tactics/shapes/parts.h"

#include <algorithm>

#include "engine/tactics/shapes/strided_copy.h"

namespace enginery {
namespace {

// Whether both sides are one piece, walked alike.
bool moves_one_piece(const StridedCopy& copy) {
  const StridedCopy simple = simplified(in_output_order(copy));
  const StridedCopy::Loop& loop = simple.loops[0];
  const bool is_single = simple.loops.size() == 1 && loop.extent == 1;
  return simple.loops.size() == 1 && (is_single || (loop.in_stride == 1 && loop.out_stride == 1));
}

bool is_packed(const Dims& dims, const Format& format) {
  return volume(dims) > 0 &&
         physical_bytes(dims, format) == volume(dims) * element_bytes(format.type);
}

// All of these tensors lie in `format`, unpadded, when the problem runs.
bool lie_in(const Format& format, const std::vector<TensorDesc>& descs,
            const std::vector<Format>& formats, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const TensorDesc& desc = descs[i];
    if (!desc.present || desc.constant || desc.value || formats[i] != format ||
        !is_packed(desc.type.dims, format))
      return false;
  }
  return true;
}

}  // namespace

bool joins_parts(const Problem& problem) {
  return std::holds_alternative<Concat>(problem.op);
}

std::optional<std::vector<int64_t>> part_offsets(const Problem& p, const Tactic& tactic) {
  if (!is_one_of<Concat, Split, Slice>(p) || is_region(p) || p.inputs.empty() || p.outputs.empty())
    return {};
  const bool joins = joins_parts(p);
  const size_t parts = joins ? p.inputs.size() : p.outputs.size();
  const Format& format = tactic.outputs[0];
  if (!lie_in(format, p.inputs, tactic.inputs, joins ? parts : 1) ||
      !lie_in(format, p.outputs, tactic.outputs, p.outputs.size()))
    return {};
  const auto copies = read_copies(p, format.layout);
  if (!copies.ok() || copies->size() != parts || !std::ranges::all_of(*copies, moves_one_piece))
    return {};
  std::vector<int64_t> offsets;
  for (const StridedCopy& copy : *copies)
    offsets.push_back((joins ? copy.out_offset : copy.in_offset) * element_bytes(format.type));
  return offsets;
}

}  // namespace enginery
