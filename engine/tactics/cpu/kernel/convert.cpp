// Family cast, and reformats that change the element type.
#include "engine/kernels/cpu/isa/moving/convert.h"

#include "engine/tactics/cpu/kernel/cpu_kernel_family.h"
#include "engine/tactics/shapes/strided_copy.h"
#include "engine/tactics/shapes/view.h"

namespace enginery {
namespace {

std::optional<ElementType> element_type_of(DataType type) {
  switch (type) {
    case DataType::float64:
      return ElementType::float64;
    case DataType::float32:
      return ElementType::float32;
    case DataType::float16:
      return ElementType::float16;
    case DataType::bfloat16:
      return ElementType::bfloat16;
    case DataType::int8:
      return ElementType::int8;
    case DataType::uint8:
      return ElementType::uint8;
    case DataType::int16:
      return ElementType::int16;
    case DataType::uint16:
      return ElementType::uint16;
    case DataType::int32:
      return ElementType::int32;
    case DataType::uint32:
      return ElementType::uint32;
    case DataType::int64:
      return ElementType::int64;
    case DataType::uint64:
      return ElementType::uint64;
    case DataType::boolean:
      return ElementType::boolean;
    default:
      return {};
  }
}

// Integers of more bits than a float32 holds would be rounded twice on their way to bfloat16.
bool rounds_twice(DataType from, DataType to) {
  return to == DataType::bfloat16 && is_integer(from) && element_bytes(from) >= 4;
}

bool is_narrow_float(DataType type) {
  return type == DataType::float16 || type == DataType::bfloat16;
}

// The formats in which a cast's input may lie: its own type, or float32 where that holds all of its
// numbers.
std::vector<DataType> source_types(DataType type) {
  if (is_narrow_float(type)) return {type, DataType::float32};
  return {type};
}

}  // namespace

Result<CpuKernelCandidate> convert_candidate(const CpuKernelContext& context, const Problem& p,
                                             Tactic tactic) {
  const Format &from = tactic.inputs[0], &to = tactic.outputs[0];
  const auto in = element_type_of(from.type), out = element_type_of(to.type);
  if (!in || !out || rounds_twice(from.type, to.type))
    return no_cpu_kernel("a conversion of " + std::string(to_string(from.type)) + " to " +
                         std::string(to_string(to.type)));
  const StridedCopy copy = in_output_order(reformat_copy(input_dims(p, 0), from.layout, to.layout));
  if (copy.loops.size() > static_cast<size_t>(kMaxCopyLoops))
    return no_cpu_kernel("a conversion of high rank");
  const StridedCopy simple = simplified(copy);
  ConvertArguments a{};
  a.from = *in;
  a.to = *out;
  a.loops = static_cast<int>(simple.loops.size());
  for (size_t i = 0; i < simple.loops.size(); ++i)
    a.loop[i] = {simple.loops[i].extent, simple.loops[i].in_stride, simple.loops[i].out_stride};
  tactic.estimated_us = movement_us(context, p);
  return CpuKernelCandidate{std::move(tactic), [kernel = context.kernels.convert, a](Weights) {
                              return run_of(kernel, a);
                            }};
}

// A value that is kept in float32 may hold more digits than its type; only a cast to that type
// rounds them away.
CpuKernelCandidates offer_cpu_cast(const CpuKernelContext& context, const Problem& p) {
  std::vector<CpuKernelCandidate> out;
  for (const DataType from : source_types(p.inputs[0].type.type)) {
    for (const Layout& layout : dense_layouts(context, input_dims(p, 0))) {
      const DataType to = p.outputs[0].type.type;
      Tactic tactic = cpu_kernel_tactic(p, "convert");
      tactic.inputs[0] = {from, layout};
      tactic.outputs[0] = {to, layout};
      if (from == to && is_widening_cast(p)) {
        tactic.id = "view";
        tactic.view_of = 0;
        out.push_back({std::move(tactic), {}});
        continue;
      }
      TRY(auto candidate, convert_candidate(context, p, std::move(tactic)));
      out.push_back(std::move(candidate));
    }
  }
  return out;
}

}  // namespace enginery
