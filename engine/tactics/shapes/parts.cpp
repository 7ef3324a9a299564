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

// Whether a copy of `part` channels of each pixel out of `whole` ones, or into them.
bool moves_channels(const StridedCopy& copy, int64_t part, int64_t whole, bool joins) {
  const StridedCopy simple = simplified(in_output_order(copy));
  const StridedCopy::Loop &pixels = simple.loops[0], &channels = simple.loops.back();
  if (channels.extent != part || channels.in_stride != 1 || channels.out_stride != 1) return false;
  if (simple.loops.size() == 1) return true;  // of a single pixel
  return simple.loops.size() == 2 && pixels.in_stride == (joins ? part : whole) &&
         pixels.out_stride == (joins ? whole : part);
}

// Where the channels of each part begin in a pixel of the whole, in bytes; null where a part is
// something else, or begins between two pieces of 16 bytes.
std::optional<std::vector<int64_t>> offsets_of_channels(const Problem& p, const Format& format) {
  const bool joins = joins_parts(p);
  const std::vector<TensorDesc>& parts = joins ? p.inputs : p.outputs;
  const int64_t whole = joins ? output_dims(p)[1] : input_dims(p, 0)[1];
  const auto copies = read_copies(p, format.layout);
  if (!copies.ok() || copies->size() != parts.size()) return {};
  std::vector<int64_t> offsets;
  for (size_t i = 0; i < parts.size(); ++i) {
    const StridedCopy& copy = (*copies)[i];
    const int64_t first = joins ? copy.out_offset : copy.in_offset;
    const int64_t bytes = first * element_bytes(format.type);
    const bool whole_pieces = first < whole && bytes % kPieceBytes == 0;
    if (!whole_pieces || !moves_channels(copy, parts[i].type.dims[1], whole, joins)) return {};
    offsets.push_back(bytes);
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
  const Format& format = joins ? tactic.outputs[0] : tactic.inputs[0];
  const auto lies_in = [&](const Format& whole, const Format& part) {
    return joins ? lie_in(whole, p.outputs, tactic.outputs, 1) &&
                       lie_in(part, p.inputs, tactic.inputs, parts)
                 : lie_in(whole, p.inputs, tactic.inputs, 1) &&
                       lie_in(part, p.outputs, tactic.outputs, parts);
  };
  const auto pitched = pitched_parts(p, format);
  if (pitched && lies_in(format, *pitched)) return offsets_of_channels(p, without_pitch(format));
  if (has_pitch(format) || !lies_in(format, format)) return {};
  const auto copies = read_copies(p, format.layout);
  if (!copies.ok() || copies->size() != parts || !std::ranges::all_of(*copies, moves_one_piece))
    return {};
  std::vector<int64_t> offsets;
  for (const StridedCopy& copy : *copies)
    offsets.push_back((joins ? copy.out_offset : copy.in_offset) * element_bytes(format.type));
  return offsets;
}

std::optional<Format> pitched_parts(const Problem& p, const Format& format) {
  if (!is_one_of<Concat, Split, Slice>(p) || is_region(p) || p.inputs.empty() || p.outputs.empty())
    return {};
  const bool joins = joins_parts(p);
  const Dims& whole = joins ? output_dims(p) : input_dims(p, 0);
  const Format own = without_pitch(format);
  if (whole.size() < 3 || own.layout != Layout{LayoutKind::channels_last, 0} ||
      !fits_pitch(whole, format))
    return {};
  const Format pitched = has_pitch(format) ? format : with_pitch(format, whole[1]);
  const bool fit = std::ranges::all_of(joins ? p.inputs : p.outputs, [&](const TensorDesc& part) {
    return part.type.dims.size() == whole.size() && fits_pitch(part.type.dims, pitched);
  });
  return fit && offsets_of_channels(p, own) ? std::optional(pitched) : std::nullopt;
}

}  // namespace enginery
