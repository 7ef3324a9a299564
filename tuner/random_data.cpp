#include "tuner/random_data.h"

#include <cmath>
#include <random>

#include "engine/base/parallel.h"

namespace enginery {
namespace {

// One past the largest index that an integer input may hold: positions in Gather's data, else 0
// and 1.
int64_t index_bound(const Problem& problem, size_t index) {
  int64_t axis = 0;
  if (const auto* op = std::get_if<Gather>(&problem.op))
    axis = op->axis;
  else if (const auto* elements = std::get_if<GatherElements>(&problem.op))
    axis = elements->axis;
  else
    return 2;
  const Dims& dims = problem.inputs[0].type.dims;
  if (index == 0 || dims.empty()) return 2;
  return std::max<int64_t>(
      dims[static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(dims.size()) : axis)], 1);
}

// Weights shrink with the number of terms that are summed.
double scale_of(const Problem& problem, size_t index) {
  const Dims& dims = problem.inputs[index].type.dims;
  bool weights = index == 1 && problem.inputs[index].constant && dims.size() >= 2;
  if (!weights) return 1;
  double terms =
      std::holds_alternative<Convolution>(problem.op)
          ? static_cast<double>(volume(dims)) / static_cast<double>(std::max<int64_t>(dims[0], 1))
          : static_cast<double>(dims[0]);
  return std::sqrt(3.0 / std::max(terms, 1.0));
}

}  // namespace

Tensor random_input(const Problem& problem, size_t index, uint64_t seed) {
  const TensorDesc& desc = problem.inputs[index];
  if (desc.value) return *desc.value;
  std::mt19937_64 random(seed * 1000003 + index);
  if (!is_floating(desc.type.type)) {
    Tensor whole(DataType::int64, desc.type.dims);
    std::uniform_int_distribution<int64_t> any(0, index_bound(problem, index) - 1);
    for (int64_t& v : whole.mutable_data<int64_t>()) v = any(random);
    return convert(whole, desc.type.type);
  }
  Tensor out(DataType::float32, desc.type.dims);
  float scale = static_cast<float>(scale_of(problem, index));
  bool positive = std::holds_alternative<BatchNorm>(problem.op) && index == 4;
  auto values = out.mutable_data<float>();
  // Each piece has a generator of its own: the values do not depend on how many threads there are.
  constexpr int64_t kPiece = 1 << 18;
  parallel_ranges(static_cast<int64_t>(values.size()), kPiece, [&](int64_t begin, int64_t end) {
    std::mt19937_64 of_piece(seed * 1000003 + index +
                             static_cast<uint64_t>(begin / kPiece) * 0x9e3779b97f4a7c15);
    std::uniform_real_distribution<float> uniform(-1, 1);
    for (int64_t i = begin; i < end; ++i) {
      values[static_cast<size_t>(i)] =
          positive ? 1 + 0.5f * uniform(of_piece) : scale * uniform(of_piece);
    }
  });
  return convert(out, desc.type.type);
}

}  // namespace enginery
