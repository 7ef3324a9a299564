#include "engine/tactics/shapes/parts.h"

#include <algorithm>

#include "engine/tactics/shapes/reading.h"
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

// But for a pitch.
bool is_packed(const Dims& dims, const Format& format) {
  return volume(dims) > 0 && fits_pitch(dims, format) &&
         physical_bytes(dims, without_pitch(format)) == volume(dims) * element_bytes(format.type);
}

// All of these tensors lie in `format`, packed, when the problem runs.
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

std::vector<int64_t> offsets_along_channels(const Problem& p, DataType type) {
  std::vector<int64_t> offsets;
  int64_t channels = 0;
  for (const TensorDesc& part : p.inputs) {
    offsets.push_back(channels * element_bytes(type));
    channels += part.type.dims[1];
  }
  return offsets;
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
  if (!lie_in(format, p.outputs, tactic.outputs, p.outputs.size())) return {};
  const auto pitched = pitched_parts(p, format);
  if (pitched && lie_in(*pitched, p.inputs, tactic.inputs, parts))
    return offsets_along_channels(p, format.type);
  if (has_pitch(format) || !lie_in(format, p.inputs, tactic.inputs, joins ? parts : 1)) return {};
  const auto copies = read_copies(p, format.layout);
  if (!copies.ok() || copies->size() != parts || !std::ranges::all_of(*copies, moves_one_piece))
    return {};
  std::vector<int64_t> offsets;
  for (const StridedCopy& copy : *copies)
    offsets.push_back((joins ? copy.out_offset : copy.in_offset) * element_bytes(format.type));
  return offsets;
}

std::optional<Format> pitched_parts(const Problem& p, const Format& format) {
  const auto* op = std::get_if<Concat>(&p.op);
  if (!op || is_region(p) || p.outputs.empty()) return {};
  const Dims& whole = output_dims(p);
  if (whole.size() < 3 || wrapped(op->axis, whole.size()) != 1 ||
      format.layout != Layout{LayoutKind::channels_last, 0})
    return {};
  const Format pitched = with_pitch(format, whole[1]);
  const bool fit = std::ranges::all_of(
      p.inputs, [&](const TensorDesc& part) { return fits_pitch(part.type.dims, pitched); });
  return fit ? std::optional(pitched) : std::nullopt;
}

}  // namespace enginery
