#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "tuner/gate/sampled_reference.h"

namespace enginery {
namespace {

// Index of each matrix, row and column of the output's element.
std::vector<int64_t> index_of(const Attention& op, int64_t element) {
  Dims sizes = op.batch;
  sizes.push_back(op.queries);
  sizes.push_back(op.width);
  std::vector<size_t> order;  // the largest stride first
  for (size_t d = 0; d < sizes.size(); ++d)
    if (sizes[d] > 1) order.push_back(d);
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return op.y[a + 1] > op.y[b + 1]; });
  std::vector<int64_t> index(sizes.size(), 0);
  for (const size_t d : order) {
    index[d] = element / op.y[d + 1];
    element %= op.y[d + 1];
  }
  return index;
}

// One operand's matrix of an index; made once, read for every score of a row.
template <typename T>
class Matrix {
 public:
  Matrix(const T* operand, const std::vector<int64_t>& places, const std::vector<int64_t>& index)
      : first_(operand + places[0]), row_(places[places.size() - 2]), column_(places.back()) {
    for (size_t i = 0; i + 3 < places.size(); ++i) first_ += index[i] * places[i + 1];
  }
  T at(int64_t i, int64_t j) const { return row(i)[j * column_]; }
  const T* row(int64_t i) const { return first_ + i * row_; }
  // From one element of a row to the next.
  int64_t step() const { return column_; }

 private:
  const T* first_;
  int64_t row_, column_;
};

// A score and the sizes of what was added up for it.
struct Score {
  float value = 0;
  double magnitude = 0;
};

// The scores of one index's matrices.
class Scores {
 public:
  Scores(const Attention& op, const std::vector<const Tensor*>& in,
         const std::vector<int64_t>& index)
      : op_(op),
        q_(in[0]->data<float>().data(), op.q, index),
        k_(in[1]->data<float>().data(), op.k, index) {
    if (!op.addend.empty()) addend_.emplace(in[3]->data<float>().data(), op.addend, index);
    if (!op.choice.empty())
      choice_.emplace(static_cast<const uint8_t*>(in[4]->raw()), op.choice, index);
  }
  Score at(int64_t i, int64_t j) const {
    // The gate spends its time here; a sanitized build would call a function for each element.
    const float *q = q_.row(i), *k = k_.row(j);
    const int64_t q_step = q_.step(), k_step = k_.step(), depth = op_.depth;
    double sum = 0, magnitude = 0;
    for (int64_t d = 0; d < depth; ++d) {
      const double product =
          static_cast<double>(q[d * q_step]) * static_cast<double>(k[d * k_step]);
      sum += product;
      magnitude += std::abs(product);
    }
    Score out{static_cast<float>(op_.scale * sum), std::abs(op_.scale) * magnitude};
    if (op_.causal && j > i + op_.keys - op_.queries) out = {op_.blank, 0};
    if (choice_ && (choice_->at(i, j) != 0) == op_.hides) out = {op_.blank, 0};
    if (addend_) out.value += addend_->at(i, j);
    return out;
  }

 private:
  const Attention& op_;
  Matrix<float> q_, k_;
  std::optional<Matrix<float>> addend_;
  std::optional<Matrix<uint8_t>> choice_;
};

}  // namespace

// The error of a score, the exponent of a weight, moves the weight by as much of itself; weights
// are rounded to float16 or bfloat16 before tensor cores multiply with them.
SampledValue attention_at(const Attention& op, const std::vector<const Tensor*>& in,
                          int64_t element) {
  const std::vector<int64_t> index = index_of(op, element);
  const int64_t row = index[index.size() - 2], column = index.back();
  const Matrix<float> v(in[2]->data<float>().data(), op.v, index);
  const Scores scores_of(op, in, index);
  std::vector<Score> scores(static_cast<size_t>(op.keys));
  double largest = -std::numeric_limits<double>::infinity(), spread = 0;
  for (int64_t j = 0; j < op.keys; ++j) {
    const Score score = scores[static_cast<size_t>(j)] = scores_of.at(row, j);
    largest = std::max<double>(largest, score.value);
    spread = std::max(spread, score.magnitude);
  }
  double weights = 0, value = 0, magnitude = 0;
  for (int64_t j = 0; j < op.keys; ++j) {
    const double weight = std::exp(scores[static_cast<size_t>(j)].value - largest);
    const double x = v.at(j, column);
    weights += weight;
    value += weight * x;
    magnitude += weight * std::abs(x);
  }
  constexpr double kHidden = -std::numeric_limits<double>::infinity();
  const bool is_masked =
      std::ranges::all_of(scores, [](const Score& s) { return s.value == kHidden; });
  if (op.zeros == ZeroRows::nan && std::isnan(weights)) return {0, 0};
  if (op.zeros == ZeroRows::masked && is_masked) return {0, 0};
  if (std::isnan(value / weights))
    return {value / weights, std::numeric_limits<double>::infinity()};
  return {value / weights, (2 + spread) * magnitude / weights};
}

}  // namespace enginery
