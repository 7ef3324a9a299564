#include "engine/tactics/shapes/averaged_bytes.h"

#include "engine/tactics/shapes/reading.h"

namespace enginery {
namespace {

constexpr int64_t kMostPlaces = int64_t{1} << 22;  // of a window: their sum is an int32

bool is_average(const Op& op) {
  const auto* pool = std::get_if<Pooling>(&op);
  const auto* global = std::get_if<GlobalPooling>(&op);
  return (pool && pool->kind == PoolKind::average) || (global && global->kind == PoolKind::average);
}

// A plane's average as that of one window.
Pooling windows_of(const Problem& problem) {
  if (const auto* pool = std::get_if<Pooling>(&problem.op)) return *pool;
  const Dims& dims = input_dims(problem, 0);
  Pooling out;
  out.kind = PoolKind::average;
  out.kernel.assign(dims.begin() + 2, dims.end());
  out.strides.assign(out.kernel.size(), 1);
  out.dilations = out.strides;
  out.pads_begin.assign(out.kernel.size(), 0);
  out.pads_end = out.pads_begin;
  return out;
}

}  // namespace

std::vector<RegionPattern> averaged_patterns() {
  using Place = RegionPattern::Place;
  const Place source{is_operator<Dequantize>, {}}, average{is_average, {0}};
  return {{{source, average, Place{is_operator<Quantize>, {1}}}}, {{source, average}}};
}

bool is_average_region(const Problem& problem) {
  return is_region(problem) && is_average(operators_of(problem)[1].problem.op);
}

Result<AveragedBytes> averaged_bytes(const Problem& problem) {
  const std::vector<RegionPart> parts = operators_of(problem);
  if (!is_average_region(problem) || parts.size() > 3) return refusal("no average of bytes");
  CHECK_OK(require_elements(problem));
  const int first_result = static_cast<int>(problem.inputs.size());
  AveragedBytes out;
  TRY(out.x, dequantized_operand(parts[0]));
  const Problem& average = parts[1].problem;
  const size_t rank = input_dims(average, 0).size();
  if (rank < 3 || rank > 4) return refusal("an average of rank " + std::to_string(rank));
  out.pool = windows_of(average);
  if (volume(out.pool.kernel) > kMostPlaces) return refusal("windows too large to add up");
  if (parts[1].operands[0] != first_result) return refusal("an average of something else");
  if (parts.size() == 2) return out;
  if (parts[2].operands[0] != first_result + 1) return refusal("other operators");
  TRY(out.result, quantized_result(parts[2]));
  return out;
}

}  // namespace enginery
