// Family copy: operators that move elements: transpose, concatenation, split, slice, expansion,
// repetition; and of what is to be a part of a wider tensor, its move to its place (copy.cuh).
#include <algorithm>

#include "engine/tactics/cuda/kernel/copy/args.h"
#include "engine/tactics/cuda/kernel/families.h"
#include "engine/tactics/cuda/kernel/text/epilogue_text.h"
#include "engine/tactics/shapes/strided_copy.h"

namespace enginery {
namespace {

struct CopyVariant {
  int threads;  // of a block, a piece each
};

constexpr CopyVariant kCopyVariants[] = {{256}};

std::string id_of(const CopyVariant& v) {
  return id_by_threads("copy/strided", v.threads, 256);
}

constexpr size_t kMaxCopyDims = 6;  // of CopyArgs

// Channels-last storage without padding on either side.
bool unpadded(const std::vector<TensorDesc>& descs) {
  for (const TensorDesc& desc : descs) {
    if (desc.present && !desc.value &&
        (desc.type.dims.size() < 3 || desc.type.dims[1] % channel_block(desc.type.type)))
      return false;
  }
  return true;
}

bool is_known(const TensorDesc& desc) {
  return desc.constant || desc.value.has_value();
}

// Constants, and those that are parts of a concatenation, are packed in order.
bool reads_constants(const Problem& problem) {
  return (is_one_of<Concat>(problem) &&
          std::any_of(problem.inputs.begin(), problem.inputs.end(), is_known)) ||
         gives_a_constant(problem);
}

Result<std::vector<StridedCopy>> dense_copies(const Problem& problem, const Layout& layout) {
  if (!gives_a_constant(problem)) return read_copies(problem, layout);
  return std::vector{reformat_copy(output_dims(problem), layout, layout)};
}

// A change of format that reads or writes channels of a wider tensor.
bool is_placement(const Problem& problem) {
  return is_reformat(problem) &&
         (has_pitch(*problem.inputs[0].pinned) || has_pitch(*problem.outputs[0].pinned));
}

Result<StridedCopy> placement_copy(const Problem& problem, const Format& from, const Format& to) {
  const Dims& dims = output_dims(problem);
  const auto is_packed = [&](const Format& f) {
    return f.layout.kind != LayoutKind::blocked && fits_pitch(dims, f) &&
           physical_bytes(dims, without_pitch(f)) == volume(dims) * element_bytes(f.type);
  };
  if (!is_packed(from) || !is_packed(to) || from.type != to.type)
    return refusal("a place in a wider tensor for what is padded or of another type");
  return in_output_order(reformat_copy(dims, from.layout, to.layout));
}

// The problem's copies in the formats of the tactic.
Result<std::vector<StridedCopy>> copies_of(const Problem& problem, const Tactic& tactic) {
  if (is_placement(problem)) {
    TRY(StridedCopy copy, placement_copy(problem, tactic.inputs[0], tactic.outputs[0]));
    return std::vector{std::move(copy)};
  }
  const bool pitched = std::ranges::any_of(tactic.inputs, has_pitch) ||
                       std::ranges::any_of(tactic.outputs, has_pitch);
  if (pitched) return refusal("a pitch");
  return dense_copies(problem, tactic.outputs[0].layout);
}

Status require_copy(const Problem& problem) {
  CHECK_OK(require_static(problem));
  if (!problem.epilogue.empty()) return refusal("a fused chain");
  TRY(const auto copies, dense_copies(problem, {}));
  for (const StridedCopy& copy : copies) {
    if (simplified(copy).loops.size() > kMaxCopyDims) return refusal("more than 6 dimensions");
  }
  if (std::all_of(problem.inputs.begin(), problem.inputs.end(), is_known) &&
      !gives_a_constant(problem))
    return refusal("constants alone");
  return {};
}

Tactic copy_tactic(const Problem& problem, const Format& format,
                   const std::vector<StridedCopy>& copies, const CopyVariant& variant,
                   const KernelContext& context) {
  Tactic tactic = make_kernel_tactic(problem, id_of(variant));
  double bytes = 0;
  for (const StridedCopy& copy : copies) {
    tactic.inputs[static_cast<size_t>(copy.input)] = format;
    bytes += 2.0 * static_cast<double>(elements_of(copy) * element_bytes(format.type));
  }
  for (Format& f : tactic.outputs) f = format;
  tactic.compute = precision_of_storage(format.type);
  tactic.estimated_us = context.memory_us(bytes, to_int(std::ssize(copies)));
  return tactic;
}

Status offer_placement(const Problem& problem, const KernelContext& context,
                       std::vector<Tactic>& out) {
  CHECK_OK(require_static(problem));
  const Format &from = *problem.inputs[0].pinned, &to = *problem.outputs[0].pinned;
  TRY(const StridedCopy copy, placement_copy(problem, from, to));
  for (const CopyVariant& variant : kCopyVariants) {
    out.push_back(copy_tactic(problem, to, {copy}, variant, context));
    out.back().inputs[0] = from;
  }
  return {};
}

Status offer_copy(const Problem& problem, const KernelContext& context, std::vector<Tactic>& out) {
  if (is_placement(problem)) return offer_placement(problem, context, out);
  CHECK_OK(require_copy(problem));
  const bool any_unpadded = unpadded(problem.inputs) && unpadded(problem.outputs);
  for (DataType type : kept_types(problem.inputs[0].type.type, context)) {
    for (LayoutKind kind : {LayoutKind::linear, LayoutKind::channels_last}) {
      const Format format{type, {kind, 0}};
      const bool planes = (is_storage_float(type) || is_eight_bits(type)) && any_unpadded &&
                          !reads_constants(problem);
      if (kind == LayoutKind::channels_last && !planes) continue;
      const auto copies = dense_copies(problem, format.layout);
      if (!copies.ok()) continue;
      for (const CopyVariant& variant : kCopyVariants)
        out.push_back(copy_tactic(problem, format, *copies, variant, context));
    }
  }
  return {};
}

// One launch of the entry for the piece's size and the number of dimensions.
KernelLaunch copy_launch(const Problem& problem, DataType type, const CopyPieces& pieces,
                         const CopyVariant& variant, KernelPlan& plan) {
  const StridedCopy& copy = pieces.copy;
  gpu::CopyArgs args{};
  args.in_base = copy.in_offset;
  args.out_base = copy.out_offset;
  args.total = to_int(elements_of(copy));
  for (size_t d = 0; d < copy.loops.size(); ++d) {
    args.in_stride[d] = copy.loops[d].in_stride;
    args.out_stride[d] = copy.loops[d].out_stride;
    args.by[d] = make_divisor(copy.loops[d].extent);
  }
  KernelLaunch launch = launch_of(args, args.total, static_cast<unsigned>(variant.threads));
  launch.entry = "move_" + std::to_string(pieces.bytes) + "_" + std::to_string(copy.loops.size());
  launch.slots = {operand_slot(problem, copy.input, type, offsetof(gpu::CopyArgs, x), plan),
                  {offsetof(gpu::CopyArgs, y), PointerSource::output, copy.output}};
  return launch;
}

Result<KernelPlan> plan_copy(const Problem& problem, const Tactic& tactic, const KernelContext&) {
  const CopyVariant* variant = find_variant(kCopyVariants, tactic);
  if (!variant) return no_variant(tactic);
  const Format& format = tactic.outputs[0];
  TRY(const auto copies, copies_of(problem, tactic));
  KernelPlan plan;
  std::string entries;  // each once
  for (const StridedCopy& copy : copies) {
    const CopyPieces pieces = widest_pieces(simplified(copy), element_bytes(format.type));
    if (pieces.copy.loops.size() > kMaxCopyDims) return refusal("more than 6 dimensions");
    KernelLaunch launch = copy_launch(problem, format.type, pieces, *variant, plan);
    const std::string entry = "ENTRY(" + launch.entry + ", " + unit_text(pieces.bytes) + ", " +
                              std::to_string(pieces.copy.loops.size()) + ") ";
    if (entries.find(entry) == std::string::npos) entries += entry;
    plan.launches.push_back(std::move(launch));
  }
  plan.program.define("THREADS", variant->threads);
  plan.program.define("ENTRIES", entries);
  plan.program.files = {"copy/args.h", "copy/copy.cuh"};
  return plan;
}

}  // namespace

const KernelFamily kCopyFamily{"copy", offer_copy, plan_copy, true};

}  // namespace enginery
