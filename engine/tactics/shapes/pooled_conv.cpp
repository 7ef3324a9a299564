#include "engine/tactics/shapes/pooled_conv.h"

#include "engine/tactics/shapes/reading.h"

namespace enginery {
namespace {

bool is_max_pool(const Op& op) {
  const auto* pool = std::get_if<Pooling>(&op);
  return pool && pool->kind == PoolKind::max;
}

// The operators in front of the pooling: one problem with an epilogue where they are floats'.
Result<Problem> without_pool(const Problem& problem) {
  Problem out = problem;
  out.rest.pop_back();
  out.outputs[0].type = out.inner.back();
  out.inner.pop_back();
  if (!std::holds_alternative<Convolution>(out.op)) return out;
  if (out.rest.empty()) return out;
  const auto* activation = std::get_if<Activation>(&out.rest[0].op);
  if (out.rest.size() > 1 || !activation) return refusal("a pooling behind other operators");
  if (!never_falls(*activation)) return refusal("an activation that falls before a pooling");
  out.epilogue.push_back({EpilogueKind::activation, *activation, -1});
  out.rest.clear();
  out.inner.clear();
  return out;
}

}  // namespace

std::vector<RegionPattern> pooled_patterns() {
  using Place = RegionPattern::Place;
  const Place conv{is_operator<Convolution>, {}};
  const Place source{is_operator<Dequantize>, {}};
  const Place product{is_operator<Convolution>, {0}};
  const auto act = [](size_t reads) { return Place{is_operator<Activation>, {reads}}; };
  const auto bytes = [](size_t reads) { return Place{is_operator<Quantize>, {reads}}; };
  const auto pool = [](size_t reads) { return Place{is_max_pool, {reads}}; };
  return {{{source, product, act(1), bytes(2), pool(3)}},
          {{source, product, bytes(1), pool(2)}},
          {{conv, act(0), pool(1)}},
          {{conv, pool(0)}}};
}

bool is_pooled(const Problem& problem) {
  if (!is_region(problem) || !is_max_pool(problem.rest.back().op)) return false;
  const int result = static_cast<int>(problem.inputs.size() + problem.rest.size()) - 1;
  return problem.rest.back().operands[0] == result;
}

bool never_falls(const Activation& a) {
  switch (a.kind) {
    case ActivationKind::relu:
    case ActivationKind::clip:
    case ActivationKind::sigmoid:
    case ActivationKind::tanh:
    case ActivationKind::softplus:
    case ActivationKind::softsign:
      return true;
    case ActivationKind::leaky_relu:
    case ActivationKind::elu:
    case ActivationKind::hard_sigmoid:
    case ActivationKind::thresholded_relu:
      return a.alpha >= 0;
    case ActivationKind::celu:
      return a.alpha > 0;
    case ActivationKind::selu:
      return a.alpha >= 0 && a.beta >= 0;
    default:
      return false;
  }
}

Result<PooledConv> pooled_conv(const Problem& problem) {
  if (!is_pooled(problem)) return refusal("no max pooling at the end of a region");
  CHECK_OK(require_elements(problem));
  PooledConv out;
  out.pool = std::get<Pooling>(problem.rest.back().op);
  if (out.pool.kernel.size() != 2) return refusal("a pooling of another rank");
  TRY(out.conv, without_pool(problem));
  return out;
}

}  // namespace enginery
