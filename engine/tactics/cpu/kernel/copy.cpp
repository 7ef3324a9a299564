// Families reformat, transpose, concat, split, slice, expand, tile, constant and view: elements
// that only move, as strided copies, or that do not even move.
#include "engine/kernels/cpu/isa/moving/copy.h"

#include <algorithm>

#include "engine/tactics/cpu/kernel/cpu_kernel_family.h"
#include "engine/tactics/shapes/strided_copy.h"
#include "engine/tactics/shapes/view.h"

namespace enginery {
namespace {

// A copy as the kernel takes it, and what it copies.
struct CopyCall {
  CopyArguments arguments{};
  int64_t in_offset = 0, out_offset = 0;  // bytes
  size_t input = 0, output = 0;
};

Result<std::vector<CopyCall>> calls_of(const std::vector<StridedCopy>& copies, DataType type) {
  std::vector<CopyCall> calls;
  for (const StridedCopy& copy : copies) {
    // By what it is before it is simplified: an offer must not depend on sizes of 1.
    if (copy.loops.size() > static_cast<size_t>(kMaxCopyLoops))
      return no_cpu_kernel("a copy of high rank");
    const StridedCopy simple = simplified(in_output_order(copy));
    const auto bytes = static_cast<int>(element_bytes(type));
    CopyCall call;
    call.arguments.element_bytes = bytes;
    call.arguments.loops = static_cast<int>(simple.loops.size());
    for (size_t i = 0; i < simple.loops.size(); ++i) {
      const StridedCopy::Loop& loop = simple.loops[i];
      call.arguments.loop[i] = {loop.extent, loop.in_stride, loop.out_stride};
    }
    call.in_offset = copy.in_offset * bytes;
    call.out_offset = copy.out_offset * bytes;
    call.input = static_cast<size_t>(copy.input);
    call.output = static_cast<size_t>(copy.output);
    calls.push_back(call);
  }
  return calls;
}

// Integers whose values the problem knows; tensors without elements for the other inputs.
std::vector<Tensor> known_inputs(const Problem& p) {
  std::vector<Tensor> out;
  for (const TensorDesc& desc : p.inputs) out.push_back(desc.value ? *desc.value : Tensor());
  return out;
}

Result<CpuKernelCandidate> copy_candidate(const CpuKernelContext& context, const Problem& p,
                                          Tactic tactic, const std::vector<StridedCopy>& copies) {
  // Of the type in which the values lie: that of a widened reformat is not the problem's.
  TRY(auto calls, calls_of(copies, tactic.inputs[0].type));
  tactic.estimated_us = movement_us(context, p);
  const auto prepare = [kernel = context.kernels.copy, calls,
                        constants = known_inputs(p)](Weights weights) -> CpuKernelRun {
    std::vector<Tensor> known(constants.begin(), constants.end());
    for (size_t i = 0; i < std::min(known.size(), weights.size()); ++i)
      if (weights[i]) known[i] = *weights[i];
    return [kernel, calls, known](const Arguments& a) {
      for (const CopyCall& call : calls) {
        CopyArguments arguments = call.arguments;
        const Tensor& constant = known[call.input];
        const void* in = constant.size() > 0 ? constant.byte_span().data() : a.inputs[call.input];
        arguments.in = static_cast<const char*>(in) + call.in_offset;
        arguments.out = static_cast<char*>(a.outputs[call.output]) + call.out_offset;
        kernel(arguments);
      }
    };
  };
  return CpuKernelCandidate{std::move(tactic), prepare};
}

// Whether all that moves is float32 of run time, and may lie as bfloat16 between who computes so.
bool may_lie_narrow(const CpuKernelContext& context, const Problem& p) {
  const auto is_wide = [](const TensorDesc& d) {
    return d.type.type == DataType::float32 && !d.constant && !d.value;
  };
  return context.tiles && is_one_of<Concat, Split, Slice>(p) && is_wide(p.inputs[0]) &&
         (!std::holds_alternative<Concat>(p.op) || std::ranges::all_of(p.inputs, is_wide));
}

Tactic narrowed(const Problem& p, Tactic tactic) {
  for (size_t i = 0; i < p.inputs.size(); ++i) {
    if (p.inputs[i].type.type == DataType::float32) tactic.inputs[i].type = DataType::bfloat16;
  }
  for (Format& format : tactic.outputs) format.type = DataType::bfloat16;
  tactic.compute = Precision::bf16;
  return tactic;
}

// The tactic `id` with all tensors in each of the layouts.
CpuKernelCandidates copies_in(const CpuKernelContext& context, const Problem& p,
                              const std::string& id, const std::vector<Layout>& layouts) {
  std::vector<CpuKernelCandidate> out;
  for (const Layout& layout : layouts) {
    auto copies = read_copies(p, layout);
    if (!copies.ok()) return no_cpu_kernel(copies.error().message);
    Tactic tactic = cpu_kernel_tactic(p, id);
    tactic.inputs[0].layout = layout;
    for (const StridedCopy& copy : *copies)
      tactic.inputs[static_cast<size_t>(copy.input)].layout = layout;
    for (Format& format : tactic.outputs) format.layout = layout;
    if (may_lie_narrow(context, p)) {
      TRY(auto narrow, copy_candidate(context, p, narrowed(p, tactic), *copies));
      narrow.tactic.estimated_us *= kNarrowShare;
      out.push_back(std::move(narrow));
    }
    TRY(auto candidate, copy_candidate(context, p, std::move(tactic), *copies));
    out.push_back(std::move(candidate));
  }
  return out;
}

// Layouts of a whole concat or split in which no part cuts through a block.
std::vector<Layout> joint_layouts(const CpuKernelContext& context, const Dims& whole, int64_t axis,
                                  const std::vector<TensorDesc>& parts) {
  std::vector<Layout> layouts = dense_layouts(context, whole);
  const bool of_channels = wrapped(axis, whole.size()) == 1;
  std::erase_if(layouts, [&](const Layout& layout) {
    return of_channels && layout.kind == LayoutKind::blocked &&
           std::ranges::any_of(
               parts, [&](const TensorDesc& d) { return d.type.dims[1] % layout.block != 0; });
  });
  return layouts;
}

}  // namespace

CpuKernelCandidates offer_cpu_reformat(const CpuKernelContext& context, const Problem& p) {
  const Dims& dims = input_dims(p, 0);
  const Format &from = *p.inputs[0].pinned, &to = *p.outputs[0].pinned;
  Tactic tactic = cpu_kernel_tactic(p, "copy");
  tactic.inputs = {from};
  tactic.outputs = {to};
  if (same_placement(dims, from, to)) {
    tactic.id = "view";
    tactic.view_of = 0;
    return std::vector<CpuKernelCandidate>{{std::move(tactic), {}}};
  }
  const bool two_blocks = from.layout.kind == LayoutKind::blocked &&
                          to.layout.kind == LayoutKind::blocked &&
                          from.layout.block != to.layout.block;
  const auto is_padded = [&](const Format& format) {
    return physical_bytes(dims, without_pitch(format)) != physical_bytes(dims, {format.type, {}});
  };
  const bool padded = is_padded(from) || is_padded(to);
  if (padded || two_blocks) return no_cpu_kernel("padded layouts");
  const bool pitched = has_pitch(from) || has_pitch(to);
  if (!fits_pitch(dims, from) || !fits_pitch(dims, to) || (pitched && from.type != to.type))
    return no_cpu_kernel("a pitch that does not fit, or another type with a pitch");
  if (from.type != to.type) {
    tactic.id = "convert";
    TRY(auto conversion, convert_candidate(context, p, std::move(tactic)));
    return std::vector{std::move(conversion)};
  }
  TRY(auto candidate,
      copy_candidate(context, p, std::move(tactic), {reformat_copy(dims, from.layout, to.layout)}));
  return std::vector{std::move(candidate)};
}

CpuKernelCandidates offer_cpu_transpose(const CpuKernelContext& context, const Problem& p) {
  TRY(auto copies, copies_in(context, p, "copy", {Layout{}}));
  std::vector<CpuKernelCandidate> out = view_candidates(p);
  out.insert(out.end(), copies.begin(), copies.end());
  return out;
}

CpuKernelCandidates offer_cpu_concat(const CpuKernelContext& context, const Problem& p) {
  // A constant part lies in order.
  if (std::ranges::any_of(p.inputs, [](const TensorDesc& d) { return d.constant || d.value; }))
    return copies_in(context, p, "concat", {Layout{}});
  const int64_t axis = std::get<Concat>(p.op).axis;
  return copies_in(context, p, "concat", joint_layouts(context, output_dims(p), axis, p.inputs));
}

CpuKernelCandidates offer_cpu_split(const CpuKernelContext& context, const Problem& p) {
  const int64_t axis = std::get<Split>(p.op).axis;
  return copies_in(context, p, "split", joint_layouts(context, input_dims(p, 0), axis, p.outputs));
}

CpuKernelCandidates offer_cpu_expand(const CpuKernelContext& context, const Problem& p) {
  return copies_in(context, p, "copy", {Layout{}});
}

CpuKernelCandidates offer_cpu_tile(const CpuKernelContext& context, const Problem& p) {
  return copies_in(context, p, "copy", {Layout{}});
}

CpuKernelCandidates offer_cpu_slice(const CpuKernelContext& context, const Problem& p) {
  return copies_in(context, p, "copy", unblocked_layouts(input_dims(p, 0)));
}

CpuKernelCandidates offer_cpu_constant(const CpuKernelContext& context, const Problem& p) {
  TRY(auto candidate, copy_candidate(context, p, cpu_kernel_tactic(p, "copy"),
                                     {reformat_copy(output_dims(p), Layout{}, Layout{})}));
  return std::vector{std::move(candidate)};
}

CpuKernelCandidates offer_cpu_view(const CpuKernelContext&, const Problem& p) {
  std::vector<CpuKernelCandidate> views = view_candidates(p);
  if (views.empty()) return no_cpu_kernel(std::string(op_name(p.op)) + " has no kernel");
  return views;
}

}  // namespace enginery
