#include "engine/tactics/shapes/averaged_product.h"

#include <algorithm>

#include "engine/ops/element_order.h"
#include "engine/tactics/shapes/reading.h"

namespace enginery {
namespace {

bool is_global_average(const Op& op) {
  const auto* pool = std::get_if<GlobalPooling>(&op);
  return pool && pool->kind == PoolKind::average;
}

// A 1x1 convolution of single pixels as the product of a Gemm; `p` is left alone where it is none.
Status make_gemm(Problem& p) {
  const auto* op = std::get_if<Convolution>(&p.op);
  if (!op) return {};
  const Dims &x = input_dims(p, 0), &w = input_dims(p, 1);
  if (op->groups != 1 || !all_are(op->pads_begin, 0) || !all_are(op->pads_end, 0) ||
      volume(x) != x[0] * x[1] || volume(w) != w[0] * w[1])
    return refusal("a convolution of averages with groups, a window or padding");
  const Dims rows{x[0], x[1]}, columns{x[0], w[0]};
  p.inputs[1].type.dims = {w[0], w[1]};
  p.inputs[0].type.dims = rows;
  p.outputs[0].type.dims = columns;
  p.op = Gemm{.transpose_b = true};
  return {};
}

}  // namespace

std::vector<RegionPattern> averaged_product_patterns() {
  bool (*const act)(const Op&) = is_operator<Activation>;
  bool (*const dense)(const Op&) = is_operator<Gemm, MatMul>;
  bool (*const conv)(const Op&) = is_operator<Convolution>;
  return {chain_of({is_global_average, keeps_element_order, dense, act}),
          chain_of({is_global_average, keeps_element_order, dense}),
          chain_of({is_global_average, conv, act}), chain_of({is_global_average, conv})};
}

bool is_averaged_product(const Problem& problem) {
  return is_region(problem) && is_global_average(problem.op);
}

Result<AveragedProduct> averaged_product(const Problem& problem) {
  if (!is_averaged_product(problem)) return refusal("no global average in front");
  CHECK_OK(require_elements(problem));
  const std::vector<RegionPart> parts = operators_of(problem);
  const int inputs = static_cast<int>(problem.inputs.size());
  size_t at = 1;
  const auto reads_the_last = [&] {
    return at < parts.size() && parts[at].operands[0] == inputs + static_cast<int>(at) - 1;
  };
  if (reads_the_last() && keeps_element_order(parts[at].problem.op)) ++at;
  if (!reads_the_last()) return refusal("no product of the averages");
  AveragedProduct out{parts[at].problem, parts[at].operands};
  const auto is_result = [&](int operand) { return operand >= inputs; };
  if (std::any_of(out.from.begin() + 1, out.from.end(), is_result))
    return refusal("a product of two results");
  out.from[0] = -1;
  CHECK_OK(make_gemm(out.product));
  const Dims& x = input_dims(problem, 0);
  if (!is_one_of<Gemm, MatMul>(out.product) || input_dims(out.product, 0) != Dims{x[0], x[1]})
    return refusal("other operators behind a global average");
  ++at;
  const auto* activation =
      reads_the_last() ? std::get_if<Activation>(&parts[at].problem.op) : nullptr;
  if (activation) {
    out.product.epilogue.push_back({EpilogueKind::activation, *activation, -1});
    ++at;
  }
  if (at < parts.size()) return refusal("other operators behind a product of averages");
  return out;
}

}  // namespace enginery
