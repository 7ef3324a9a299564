#include "tuner/gate/domain.h"

#include <algorithm>

#include "engine/tactics/shapes/norm_rows.h"

namespace enginery {
namespace {

constexpr double kAwayFromZero = 0.25;

Domain of_unary(UnaryKind kind) {
  switch (kind) {
    case UnaryKind::log:
      return {kAwayFromZero, 4};
    case UnaryKind::reciprocal:
      return {-4, 4, kAwayFromZero};
    case UnaryKind::sqrt:
      return {0, 4};
    case UnaryKind::acosh:
      return {1.25, 8};
    case UnaryKind::asin:
    case UnaryKind::acos:
    case UnaryKind::atanh:
      return {-0.9, 0.9};
    case UnaryKind::tan:
      return {-1.2, 1.2};
    case UnaryKind::is_nan:
    case UnaryKind::is_inf:
    case UnaryKind::is_positive_inf:
    case UnaryKind::is_negative_inf:
      return {-4, 4, 0, true};
    default:
      return {-4, 4};
  }
}

Domain of_binary(BinaryKind kind, size_t index) {
  const bool divides =
      kind == BinaryKind::div || kind == BinaryKind::mod || kind == BinaryKind::fmod;
  if (divides && index == 1) return {-4, 4, kAwayFromZero};
  if (kind == BinaryKind::pow) return index == 0 ? Domain{0.25, 4} : Domain{-3, 3};
  return {-2, 2};
}

Domain of_reduce(const Problem& problem, ReduceKind kind) {
  if (kind == ReduceKind::log_sum) return {0.25, 2};
  if (kind == ReduceKind::prod && terms_of(problem) > 16) return {-1.01, 1.01, 0.99};
  return {-1, 1};
}

bool is_signed(DataType type) {
  return is_floating(type) || type == DataType::int8 || type == DataType::int16 ||
         type == DataType::int32 || type == DataType::int64;
}

// What every type holds: where one does not, an implementation may wrap or saturate.
Domain of_cast(const Problem& problem) {
  const bool negative =
      is_signed(problem.inputs[0].type.type) && is_signed(std::get<Cast>(problem.op).to);
  return {negative ? -100.0 : 0.0, 100};
}

int64_t axis_size(const Dims& dims, int64_t axis) {
  if (dims.empty()) return 1;
  return std::max<int64_t>(dims[static_cast<size_t>(wrapped(axis, dims.size()))], 1);
}

// The positions that an index into `dims` may take; empty where input `index` holds none.
std::optional<int64_t> positions(const Problem& problem, size_t index) {
  if (index == 0 || problem.inputs.empty()) return std::nullopt;
  const Dims& data = problem.inputs[0].type.dims;
  if (const auto* gather = std::get_if<Gather>(&problem.op)) return axis_size(data, gather->axis);
  if (const auto* gather = std::get_if<GatherElements>(&problem.op))
    return axis_size(data, gather->axis);
  if (const auto* scatter = std::get_if<ScatterElements>(&problem.op)) {
    if (index == 1) return axis_size(data, scatter->axis);
  }
  const bool whole = is_one_of<GatherNd>(problem) || (is_one_of<ScatterNd>(problem) && index == 1);
  if (whole && !data.empty())  // one bound for all of an index tuple's places
    return std::max<int64_t>(*std::min_element(data.begin(), data.end()), 1);
  return std::nullopt;
}

int64_t reduced_elements(const Problem& problem) {
  const int64_t out = std::max<int64_t>(volume(output_dims(problem)), 1);
  return std::max<int64_t>(volume(input_dims(problem, 0)) / out, 1);
}

int64_t window(const std::vector<int64_t>& kernel) {
  int64_t n = 1;
  for (const int64_t k : kernel) n *= k;
  return n;
}

}  // namespace

Domain float_domain(const Problem& problem, size_t index) {
  if (const auto* unary = std::get_if<Unary>(&problem.op)) return of_unary(unary->kind);
  if (const auto* binary = std::get_if<Binary>(&problem.op))
    return of_binary(binary->kind, std::min<size_t>(index, 1));
  if (const auto* reduce = std::get_if<Reduce>(&problem.op))
    return of_reduce(problem, reduce->kind);
  if (is_one_of<Activation, Softmax, PRelu>(problem) && index == 0) return {-4, 4};
  if (is_one_of<Cast>(problem)) return of_cast(problem);
  if (is_one_of<BatchNorm>(problem) && index == 4) return {0.5, 1.5};
  if (is_one_of<Quantize, Dequantize>(problem) && index == 1) return {0.0625, 0.125};
  return {-1, 1};
}

Domain integer_domain(const Problem& problem, size_t index) {
  const DataType type = problem.inputs[index].type.type;
  if (type == DataType::boolean) return {0, 1};
  if (const auto size = positions(problem, index)) return {0, static_cast<double>(*size - 1)};
  if (const auto* binary = std::get_if<Binary>(&problem.op); binary && index == 1) {
    switch (binary->kind) {
      case BinaryKind::div:
      case BinaryKind::mod:
      case BinaryKind::fmod:
        return {1, 7};
      case BinaryKind::pow:
        return {0, 3};
      case BinaryKind::shift_left:
      case BinaryKind::shift_right:
        return {0, 7};
      default:
        break;
    }
  }
  if (is_one_of<Cast>(problem)) return of_cast(problem);
  const auto* reduce = std::get_if<Reduce>(&problem.op);
  if (reduce && reduce->kind == ReduceKind::prod) return {0, 1};
  return {is_signed(type) ? -100.0 : 0.0, 100};
}

bool is_product_sum(const Problem& problem) {
  return is_one_of<Convolution, Deconvolution, MatMul, Gemm>(problem);
}

int64_t terms_of(const Problem& problem) {
  if (is_one_of<Convolution>(problem)) {
    const Dims& w = input_dims(problem, 1);
    return std::max<int64_t>(volume(w) / std::max<int64_t>(w[0], 1), 1);
  }
  if (const auto* op = std::get_if<Deconvolution>(&problem.op)) {
    const Dims& w = input_dims(problem, 1);  // [C, K/groups, taps...]
    return std::max<int64_t>(volume(w) / std::max<int64_t>(w[1] * op->groups, 1), 1);
  }
  if (is_one_of<MatMul>(problem)) return std::max<int64_t>(input_dims(problem, 0).back(), 1);
  if (const auto* op = std::get_if<Gemm>(&problem.op))
    return std::max<int64_t>(input_dims(problem, 0)[op->transpose_a ? 0 : 1], 1);
  if (const auto* op = std::get_if<Pooling>(&problem.op)) return window(op->kernel);
  if (is_one_of<GlobalPooling, Reduce, Einsum>(problem)) return reduced_elements(problem);
  if (const auto* op = std::get_if<Softmax>(&problem.op))
    return axis_size(input_dims(problem, 0), op->axis);
  if (const auto rows = norm_rows(problem); rows.ok()) return rows->size;
  if (const auto* op = std::get_if<Lrn>(&problem.op)) return op->size;
  if (const auto* op = std::get_if<Attention>(&problem.op)) return op->depth + op->keys;
  if (is_one_of<CumSum>(problem)) return volume(input_dims(problem, 0));
  // As many updates as may meet one element, and the element.
  if (is_one_of<ScatterNd>(problem))
    return 1 + volume(input_dims(problem, 1)) / std::max<int64_t>(input_dims(problem, 1).back(), 1);
  if (const auto* op = std::get_if<ScatterElements>(&problem.op))
    return 1 + axis_size(input_dims(problem, 1), op->axis);
  if (is_one_of<Resize>(problem)) return 64;
  return 1;
}

}  // namespace enginery
