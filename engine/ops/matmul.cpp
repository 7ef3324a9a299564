#include "engine/ops/matmul.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "engine/base/parallel.h"
#include "engine/ops/support.h"

namespace enginery {
namespace {

// Rows computed together, so that a row of b is read once for all of them.
constexpr int kRows = 8;
constexpr int64_t kColumns = 256;
constexpr double kProductsWorthThreads =
    1e7;  // products of numbers, below which one thread is as fast

struct MatrixSizes {
  int64_t m, n, k;
};

// Floats accumulate in double; integers wrap as two's complement, which unsigned arithmetic does
// without overflow.
template <typename T>
using Sum = std::conditional_t<std::is_floating_point_v<T>, double, uint64_t>;

// sum += a * b for Block rows of a, `size` columns of b from the first on. The order of each sum is
// that of k, whatever the vectors' width.
template <int Block, typename T>
[[gnu::always_inline]] inline void add_products(const MatrixSizes& s, const T* a, const T* b,
                                                int64_t size, Sum<T> (&sum)[Block][kColumns]) {
  for (int64_t k = 0; k < s.k; ++k) {
    Sum<T> factor[Block];
    for (int r = 0; r < Block; ++r) factor[r] = static_cast<Sum<T>>(a[r * s.k + k]);
    const T* from = b + k * s.n;
    int64_t i = 0;
    if constexpr (std::is_same_v<T, float>) {
      using Floats = float __attribute__((vector_size(16)));
      using Doubles = double __attribute__((vector_size(32)));
      for (; i + 4 <= size; i += 4) {
        Floats narrow;
        std::memcpy(&narrow, from + i, sizeof narrow);
        const Doubles v = __builtin_convertvector(narrow, Doubles);
        for (int r = 0; r < Block; ++r) {
          Doubles to;
          std::memcpy(&to, &sum[r][i], sizeof to);
          to += factor[r] * v;
          std::memcpy(&sum[r][i], &to, sizeof to);
        }
      }
    }
    for (; i < size; ++i) {
      const Sum<T> v = static_cast<Sum<T>>(from[i]);
      for (int r = 0; r < Block; ++r) sum[r][i] += factor[r] * v;
    }
  }
}
#if defined(__x86_64__)
template <int Block, typename T>
[[gnu::target("avx2")]] void add_products_by_avx2(const MatrixSizes& s, const T* a, const T* b,
                                                  int64_t size, Sum<T> (&sum)[Block][kColumns]) {
  add_products<Block>(s, a, b, size, sum);
}
#endif

// Rows [row, row + Block) of a * b; store(row, column, sum).
template <int Block, typename T, typename F>
void multiply_rows(const MatrixSizes& s, const T* a, const T* b, int64_t row, F&& store) {
  Sum<T> sum[Block][kColumns];
  for (int64_t first = 0; first < s.n; first += kColumns) {
    const int64_t size = std::min(kColumns, s.n - first);
    for (int r = 0; r < Block; ++r) std::fill_n(sum[r], size, Sum<T>{});
#if defined(__x86_64__)
    static const bool has_avx2 = __builtin_cpu_supports("avx2");
    if (has_avx2)
      add_products_by_avx2<Block>(s, a + row * s.k, b + first, size, sum);
    else
#endif
      add_products<Block>(s, a + row * s.k, b + first, size, sum);
    for (int r = 0; r < Block; ++r) {
      for (int64_t i = 0; i < size; ++i) store(row + r, first + i, sum[r][i]);
    }
  }
}

template <typename T>
struct MatrixPair {
  const T *a, *b;
};
// Multiplies operands(i) for each i below `count`; store(i, row, column, sum) is called from
// several threads, each of which has rows of its own.
template <typename T, typename Operands, typename F>
void multiply(const MatrixSizes& s, int64_t count, Operands&& operands, F&& store) {
  const int64_t blocks = (s.m + kRows - 1) / kRows;
  const auto multiply_block = [&](int64_t index) {
    const int64_t i = index / blocks;
    const MatrixPair<T> of = operands(i);
    const auto keep = [&](int64_t row, int64_t column, Sum<T> sum) { store(i, row, column, sum); };
    int64_t row = index % blocks * kRows;
    if (row + kRows <= s.m) return multiply_rows<kRows>(s, of.a, of.b, row, keep);
    for (; row < s.m; ++row) multiply_rows<1>(s, of.a, of.b, row, keep);
  };
  const double products = static_cast<double>(count) * static_cast<double>(s.m) *
                          static_cast<double>(s.n) * static_cast<double>(s.k);
  if (products >= kProductsWorthThreads) return parallel_for(count * blocks, multiply_block);
  for (int64_t i = 0; i < count * blocks; ++i) multiply_block(i);
}

Status require_matrix_type(std::string_view op, DataType type) {
  const bool wide = type >= DataType::int32 && type <= DataType::uint64;
  if (is_floating(type) || wide) return {};
  return rule_error(
      op, "expected floats or 32- or 64-bit integers, got " + std::string(to_string(type)));
}

// MatMul's operands as stacks of matrices: a vector gets a dimension that the output then loses.
struct Stacks {
  Dims a, b;   // with at least two dimensions
  Dims batch;  // the broadcast leading dimensions
  Dims output;
};

Result<Stacks> stack(const Dims& a, const Dims& b) {
  const std::string_view name = MatMul::kName;
  CHECK_OK(require_rank(name, a, 1));
  CHECK_OK(require_rank(name, b, 1));
  Stacks s{a, b, {}, {}};
  if (a.size() == 1) s.a.insert(s.a.begin(), 1);
  if (b.size() == 1) s.b.push_back(1);
  if (!merge_sizes(s.a.back(), s.b[s.b.size() - 2])) {
    return rule_error(name, "inner sizes of " + to_string(a) + " and " + to_string(b) + " differ");
  }
  const auto batch = broadcast(Dims(s.a.begin(), s.a.end() - 2), Dims(s.b.begin(), s.b.end() - 2));
  if (!batch.ok()) return batch.error().within(std::string(name));
  s.batch = s.output = *batch;
  if (a.size() > 1) s.output.push_back(s.a[s.a.size() - 2]);
  if (b.size() > 1) s.output.push_back(s.b.back());
  return s;
}

// Where matrix i of the broadcast stack begins in an operand, counted in matrices.
std::vector<int64_t> matrix_indices(const Dims& operand, const Dims& batch) {
  std::vector<int64_t> indices(static_cast<size_t>(volume(batch)));
  const Dims own(operand.begin(), operand.end() - 2);
  for_each_mapped(batch, broadcast_strides(own, batch),
                  [&](int64_t i, int64_t j) { indices[static_cast<size_t>(i)] = j; });
  return indices;
}

Tensor transposed(const Tensor& t) {
  Tensor out(t.type(), {t.dims()[1], t.dims()[0]});
  copy_strided(t, 0, {1, t.dims()[1]}, out);
  return out;
}

}  // namespace

InferredTypes infer(const MatMul&, Operands in) {
  CHECK_OK(require_inputs(MatMul::kName, in, 2, 2));
  CHECK_OK(require_same_type(MatMul::kName, in, {0, 1}));
  CHECK_OK(require_matrix_type(MatMul::kName, in[0].type.type));
  TRY(const Stacks s, stack(in[0].type.dims, in[1].type.dims));
  return std::vector<TensorType>{{in[0].type.type, s.output}};
}

Status reference(const MatMul&, ReferenceInputs in, ReferenceOutputs out) {
  TRY(const Stacks s, stack(in[0]->dims(), in[1]->dims()));
  if (out[0].size() == 0) return {};
  MatrixSizes size{s.a[s.a.size() - 2], s.b.back(), s.a.back()};
  const auto a_index = matrix_indices(s.a, s.batch), b_index = matrix_indices(s.b, s.batch);
  return with_number_type(in[0]->type(), [&](auto type) -> Status {
    using T = decltype(type);
    T* y = elements<T>(out[0]);
    const auto operands = [&](int64_t i) {
      const auto at = static_cast<size_t>(i);
      return MatrixPair<T>{elements<T>(*in[0]) + a_index[at] * size.m * size.k,
                           elements<T>(*in[1]) + b_index[at] * size.k * size.n};
    };
    multiply<T>(size, static_cast<int64_t>(a_index.size()), operands,
                [&](int64_t i, int64_t row, int64_t column, Sum<T> sum) {
                  y[(i * size.m + row) * size.n + column] = static_cast<T>(sum);
                });
    return {};
  });
}

InferredTypes infer(const Gemm& op, Operands in) {
  const std::string_view name = Gemm::kName;
  CHECK_OK(require_inputs(name, in, 2, 3));
  CHECK_OK(require_same_type(name, in, {0, 1, 2}));
  CHECK_OK(require_matrix_type(name, in[0].type.type));
  Dims a = in[0].type.dims, b = in[1].type.dims;
  CHECK_OK(require_rank(name, a, 2, 2));
  CHECK_OK(require_rank(name, b, 2, 2));
  if (op.transpose_a) std::swap(a[0], a[1]);
  if (op.transpose_b) std::swap(b[0], b[1]);
  if (!merge_sizes(a[1], b[0])) {
    return rule_error(name, "inner sizes of " + to_string(a) + " and " + to_string(b) +
                                " (after transposition) differ");
  }
  Dims y{a[0], b[1]};
  if (has(in, 2)) {
    const Dims& c = in[2].type.dims;
    const auto joined = broadcast(y, c);
    const bool widens = joined.ok() && (joined->size() > 2 || (y[0] >= 0 && (*joined)[0] != y[0]) ||
                                        (y[1] >= 0 && (*joined)[1] != y[1]));
    if (!joined.ok() || widens) {
      return rule_error(name, "c of " + to_string(c) + " does not broadcast to " + to_string(y));
    }
  }
  return std::vector<TensorType>{{in[0].type.type, y}};
}

Status reference(const Gemm& op, ReferenceInputs in, ReferenceOutputs out) {
  if (out[0].size() == 0) return {};
  const Tensor a = op.transpose_a ? transposed(*in[0]) : *in[0];
  const Tensor b = op.transpose_b ? transposed(*in[1]) : *in[1];
  const Dims y = out[0].dims();
  const Tensor* c = given(in, 2);
  const Dims c_strides = c ? broadcast_strides(c->dims(), y) : Dims{0, 0};
  MatrixSizes size{y[0], y[1], a.dims()[1]};
  return with_number_type(a.type(), [&](auto type) -> Status {
    using T = decltype(type);
    const T* added = c ? elements<T>(*c) : nullptr;
    T* to = elements<T>(out[0]);
    const auto operands = [&](int64_t) { return MatrixPair<T>{elements<T>(a), elements<T>(b)}; };
    multiply<T>(size, 1, operands, [&](int64_t, int64_t row, int64_t column, Sum<T> sum) {
      T addend = added ? added[row * c_strides[0] + column * c_strides[1]] : T{};
      T& target = to[row * size.n + column];
      if constexpr (std::is_integral_v<T>) {
        if (op.alpha == 1 && op.beta == 1) {
          target = static_cast<T>(sum + static_cast<uint64_t>(addend));
          return;
        }
      }
      double product =
          op.alpha * static_cast<double>(
                         static_cast<std::conditional_t<std::is_integral_v<T>, T, double>>(sum));
      // Without c its factor must not matter, even when it is infinite.
      const double value = added ? product + op.beta * static_cast<double>(addend) : product;
      target = saturate<T>(value);
    });
    return {};
  });
}

}  // namespace enginery
