#include "engine/ops/attention.h"

#include <algorithm>
#include <cmath>

#include "engine/ops/support.h"

namespace enginery {
namespace {

constexpr std::string_view kAttention = Attention::kName;
constexpr std::string_view kZeroRows[] = {"false", "true", "masked"};

// The dims of one operand's matrices, all of them: batch, rows, columns.
Dims matrix_dims(const Attention& op, int64_t rows, int64_t columns) {
  Dims out = op.batch;
  out.push_back(rows);
  out.push_back(columns);
  return out;
}

Status require_sizes(const Attention& op) {
  for (const int64_t size : matrix_dims(op, op.queries, op.keys))
    if (size < 1) return rule_error(kAttention, "expected sizes of at least 1");
  if (op.depth < 1 || op.width < 1) return rule_error(kAttention, "expected sizes of at least 1");
  for (const auto& [rows, columns] :
       {std::pair(op.queries, op.depth), std::pair(op.keys, op.depth), std::pair(op.keys, op.width),
        std::pair(op.queries, op.width), std::pair(op.queries, op.keys)})
    if (const Status s = require_representable({DataType::float64, matrix_dims(op, rows, columns)});
        !s.ok())
      return s.error().within(std::string(kAttention));
  return {};
}

// Whether every place lies within `elements`.
Status require_places(const std::vector<int64_t>& places, const Dims& dims, int64_t elements,
                      std::string_view role) {
  bool fits = places.size() == dims.size() + 1 && places[0] >= 0 && places[0] < elements;
  int64_t last = fits ? places[0] : 0;
  for (size_t i = 0; fits && i < dims.size(); ++i) {
    const int64_t stride = places[i + 1];
    fits = stride >= 0 && (dims[i] == 1 || stride <= (elements - 1 - last) / (dims[i] - 1));
    if (fits) last += stride * (dims[i] - 1);
  }
  if (fits) return {};
  return rule_error(kAttention, std::string(role) +
                                    ": expected an offset and a stride for each of " +
                                    to_string(dims) + " within " + std::to_string(elements) +
                                    " elements, got " + ints_text(places));
}

// Whether `places` fill a tensor, each element once.
Status require_bijection(const std::vector<int64_t>& places, const Dims& dims) {
  std::vector<std::pair<int64_t, int64_t>> steps;  // stride, size
  for (size_t i = 0; i < dims.size(); ++i)
    if (dims[i] > 1) steps.emplace_back(places[i + 1], dims[i]);
  std::sort(steps.begin(), steps.end());
  int64_t next = 1;
  for (const auto& [stride, size] : steps) {
    if (stride != next) return rule_error(kAttention, "y: places that leave gaps or overlap");
    next *= size;
  }
  return {};
}

Status require_operand(Operands in, size_t i, const std::vector<int64_t>& places, const Dims& dims,
                       std::string_view role) {
  if (!has(in, i)) {
    if (places.empty()) return {};
    return rule_error(kAttention, std::string(role) + ": places without an input");
  }
  const Dims& given_dims = in[i].type.dims;
  if (!is_static(given_dims))
    return Error{ErrorCode::unsupported, "attention: " + std::string(role) + " of run-time sizes"};
  return require_places(places, dims, volume(given_dims), role);
}

// Where the matrices of each index into the batch begin.
template <typename F>
void for_each_matrix(const Attention& op, F&& f) {
  Dims index(op.batch.size(), 0);
  const int64_t matrices = volume(op.batch);
  for (int64_t m = 0; m < matrices; ++m) {
    f(index);
    for (size_t d = index.size(); d-- > 0 && ++index[d] == op.batch[d];) index[d] = 0;
  }
}

int64_t start_of(const std::vector<int64_t>& places, const Dims& index) {
  if (places.empty()) return 0;
  int64_t start = places[0];
  for (size_t i = 0; i < index.size(); ++i) start += index[i] * places[i + 1];
  return start;
}

// One operand's matrix.
template <typename T>
struct Matrix {
  T* data = nullptr;  // null where the operand is absent
  int64_t row = 0, column = 0;
  T& at(int64_t i, int64_t j) const { return data[i * row + j * column]; }
};

template <typename T, typename Data>
Matrix<Data> matrix_of(Data* data, const std::vector<int64_t>& places, const Dims& index) {
  if (!data) return {};
  return {data + start_of(places, index), places[places.size() - 2], places.back()};
}

// The matrices of one index.
template <typename T>
struct Matrices {
  Matrix<const T> q, k, v, addend;
  Matrix<const uint8_t> choice;
  Matrix<T> y;
};

template <typename T>
T score_at(const Attention& op, const Matrices<T>& m, int64_t i, int64_t j) {
  double sum = 0;
  for (int64_t d = 0; d < op.depth; ++d)
    sum += static_cast<double>(m.q.at(i, d)) * static_cast<double>(m.k.at(j, d));
  T score = static_cast<T>(static_cast<double>(op.scale) * sum);
  if (op.causal && j > i + op.keys - op.queries) score = static_cast<T>(op.blank);
  if (m.choice.data && (m.choice.at(i, j) != 0) == op.hides) score = static_cast<T>(op.blank);
  return m.addend.data ? score + m.addend.at(i, j) : score;
}

template <typename T>
void attend_row(const Attention& op, const Matrices<T>& m, int64_t i,
                std::vector<double>& weights) {
  double largest = -std::numeric_limits<double>::infinity(), sum = 0;
  for (int64_t j = 0; j < op.keys; ++j) {
    const double score = score_at(op, m, i, j);
    weights[static_cast<size_t>(j)] = score;
    largest = std::max(largest, score);
  }
  constexpr double kHidden = -std::numeric_limits<double>::infinity();
  const bool is_masked = std::ranges::all_of(weights, [](double s) { return s == kHidden; });
  for (double& w : weights) {
    w = std::exp(w - largest);
    sum += w;
  }
  const bool blank =
      (op.zeros == ZeroRows::nan && std::isnan(sum)) || (op.zeros == ZeroRows::masked && is_masked);
  for (int64_t c = 0; c < op.width; ++c) {
    double y = 0;
    for (int64_t j = 0; !blank && j < op.keys; ++j)
      y += weights[static_cast<size_t>(j)] / sum * static_cast<double>(m.v.at(j, c));
    m.y.at(i, c) = static_cast<T>(y);
  }
}

}  // namespace

std::span<const std::string_view> enum_names(ZeroRows) {
  return kZeroRows;
}

InferredTypes infer(const Attention& op, Operands in) {
  CHECK_OK(require_inputs(kAttention, in, 3, 5));
  CHECK_OK(require_floating(kAttention, in.first(3)));
  CHECK_OK(require_same_type(kAttention, in, {0, 1, 2, 3}));
  if (has(in, 4) && in[4].type.type != DataType::boolean)
    return rule_error(kAttention, "expected a boolean choice, got " + to_string(in[4].type));
  CHECK_OK(require_sizes(op));
  const Dims scores = matrix_dims(op, op.queries, op.keys),
             result = matrix_dims(op, op.queries, op.width);
  CHECK_OK(require_operand(in, 0, op.q, matrix_dims(op, op.queries, op.depth), "q"));
  CHECK_OK(require_operand(in, 1, op.k, matrix_dims(op, op.keys, op.depth), "k"));
  CHECK_OK(require_operand(in, 2, op.v, matrix_dims(op, op.keys, op.width), "v"));
  CHECK_OK(require_operand(in, 3, op.addend, scores, "addend"));
  CHECK_OK(require_operand(in, 4, op.choice, scores, "choice"));
  const TensorType out{in[0].type.type, op.output};
  CHECK_OK(require_representable(out));
  if (!is_static(out.dims) || volume(out.dims) != volume(result))
    return rule_error(
        kAttention, "an output of " + to_string(out.dims) + " does not hold " + to_string(result));
  CHECK_OK(require_places(op.y, result, volume(result), "y"));
  CHECK_OK(require_bijection(op.y, result));
  return std::vector<TensorType>{out};
}

Status reference(const Attention& op, ReferenceInputs in, ReferenceOutputs out) {
  return with_floating_type(in[0]->type(), [&](auto type) -> Status {
    using T = decltype(type);
    const T* addend = given(in, 3) ? elements<T>(*in[3]) : nullptr;
    const uint8_t* choice = given(in, 4) ? elements<uint8_t>(*in[4]) : nullptr;
    std::vector<double> weights(static_cast<size_t>(op.keys));
    for_each_matrix(op, [&](const Dims& index) {
      const Matrices<T> m{matrix_of<T>(elements<T>(*in[0]), op.q, index),
                          matrix_of<T>(elements<T>(*in[1]), op.k, index),
                          matrix_of<T>(elements<T>(*in[2]), op.v, index),
                          matrix_of<T>(addend, op.addend, index),
                          matrix_of<T>(choice, op.choice, index),
                          matrix_of<T>(elements<T>(out[0]), op.y, index)};
      for (int64_t i = 0; i < op.queries; ++i) attend_row(op, m, i, weights);
    });
    return {};
  });
}

}  // namespace enginery
