#include "tuner/sampled_reference.h"

#include <algorithm>
#include <random>

namespace enginery {
namespace {

// Index along each dimension of a row-major element number.
std::vector<int64_t> coordinates(int64_t element, const Dims& dims) {
  std::vector<int64_t> at(dims.size());
  for (size_t i = dims.size(); i-- > 0;) {
    at[i] = element % dims[i];
    element /= dims[i];
  }
  return at;
}

// An element of a float tensor broadcast from the right to `at`.
double broadcast_at(const Tensor& t, const std::vector<int64_t>& at) {
  int64_t index = 0, stride = 1;
  for (size_t i = 0; i < t.dims().size(); ++i) {
    size_t d = t.dims().size() - 1 - i;
    int64_t coordinate = t.dims()[d] == 1 ? 0 : at[at.size() - 1 - i];
    index += coordinate * stride;
    stride *= t.dims()[d];
  }
  return t.data<float>()[static_cast<size_t>(index)];
}

double convolution_at(const Convolution& op, const Tensor& x, const Tensor& w, const Tensor* bias,
                      const std::vector<int64_t>& at) {
  const Dims &xd = x.dims(), &wd = w.dims();
  int64_t channels = wd[1], k = at[1], group = k / (wd[0] / op.groups);
  size_t spatial = wd.size() - 2;
  int64_t taps = 1, plane = 1;
  for (size_t i = 0; i < spatial; ++i) {
    taps *= wd[i + 2];
    plane *= xd[i + 2];
  }
  const float* px = x.data<float>().data() + (at[0] * xd[1] + group * channels) * plane;
  const float* pw = w.data<float>().data() + k * channels * taps;
  double sum = bias ? bias->data<float>()[static_cast<size_t>(k)] : 0;
  for (int64_t tap = 0; tap < taps; ++tap) {
    int64_t rest = tap, offset = 0, stride = 1;
    bool inside = true;
    for (size_t i = spatial; i-- > 0;) {
      int64_t r = rest % wd[i + 2];
      rest /= wd[i + 2];
      int64_t position = at[i + 2] * op.strides[i] - op.pads_begin[i] + r * op.dilations[i];
      inside &= position >= 0 && position < xd[i + 2];
      offset += position * stride;
      stride *= xd[i + 2];
    }
    if (!inside) continue;
    for (int64_t c = 0; c < channels; ++c)
      sum += static_cast<double>(px[c * plane + offset]) * pw[c * taps + tap];
  }
  return sum;
}

double gemm_at(const Gemm& op, const Tensor& a, const Tensor& b, const Tensor* c,
               const std::vector<int64_t>& at) {
  int64_t depth = a.dims()[op.transpose_a ? 0 : 1], m = at[0], n = at[1];
  auto pa = a.data<float>(), pb = b.data<float>();
  double sum = 0;
  for (int64_t k = 0; k < depth; ++k) {
    int64_t ia = op.transpose_a ? k * a.dims()[1] + m : m * depth + k;
    int64_t ib = op.transpose_b ? n * depth + k : k * b.dims()[1] + n;
    sum += static_cast<double>(pa[static_cast<size_t>(ia)]) * pb[static_cast<size_t>(ib)];
  }
  return op.alpha * sum + (c ? op.beta * broadcast_at(*c, at) : 0);
}

double epilogue_at(const Problem& problem, const std::vector<const Tensor*>& inputs,
                   const std::vector<int64_t>& at, double v) {
  for (const EpilogueStep& step : problem.epilogue) {
    const Tensor* operand = step.operand >= 0 ? inputs[static_cast<size_t>(step.operand)] : nullptr;
    bool matrix =
        std::holds_alternative<MatMul>(problem.op) || std::holds_alternative<Gemm>(problem.op);
    switch (step.kind) {
      case EpilogueKind::activation:
        v = activate(step.activation, static_cast<float>(v));
        break;
      case EpilogueKind::add:
        v += broadcast_at(*operand, at);
        break;
      case EpilogueKind::multiply:
        v *= broadcast_at(*operand, at);
        break;
      case EpilogueKind::bias:
        v += operand->data<float>()[static_cast<size_t>(matrix ? at.back() : at[1])];
        break;
    }
  }
  return v;
}

// The whole reference: anchor, then the epilogue element by element.
Result<std::vector<double>> in_full(const Problem& problem,
                                    const std::vector<const Tensor*>& inputs,
                                    const std::vector<int64_t>& elements) {
  std::span<const Tensor* const> anchor(inputs.data(), static_cast<size_t>(problem.anchor_inputs));
  TRY(auto results, run_reference(problem.op, anchor));
  Tensor wide = convert(results[0], DataType::float64);
  std::vector<double> out;
  for (int64_t e : elements) {
    double v = wide.data<double>()[static_cast<size_t>(e)];
    out.push_back(problem.epilogue.empty()
                      ? v
                      : epilogue_at(problem, inputs, coordinates(e, wide.dims()), v));
  }
  return out;
}

}  // namespace

std::vector<int64_t> sample_elements(const Dims& dims, int64_t count, uint64_t seed) {
  int64_t total = volume(dims);
  std::vector<int64_t> out;
  if (total <= count) {
    for (int64_t i = 0; i < total; ++i) out.push_back(i);
    return out;
  }
  // Corners: every dimension at its first or last index (at most 2^rank of them).
  Dims strides = strides_of(dims);
  for (uint64_t corner = 0; corner < (uint64_t{1} << std::min<size_t>(dims.size(), 10)); ++corner) {
    int64_t element = 0;
    for (size_t i = 0; i < dims.size(); ++i)
      element += (corner >> i & 1) ? (dims[i] - 1) * strides[i] : 0;
    out.push_back(element);
  }
  for (int64_t i = 0; i < 64; ++i) out.push_back(total - 1 - i % total);  // the last partial tile
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<int64_t> any(0, total - 1);
  while (static_cast<int64_t>(out.size()) < count) out.push_back(any(random));
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

Result<std::vector<double>> sampled_reference(const Problem& problem,
                                              const std::vector<const Tensor*>& inputs,
                                              const std::vector<int64_t>& elements) {
  const auto* convolution = std::get_if<Convolution>(&problem.op);
  const auto* gemm = std::get_if<Gemm>(&problem.op);
  if (!convolution && !gemm) return in_full(problem, inputs, elements);
  const Tensor* third = inputs.size() > 2 && problem.anchor_inputs > 2 ? inputs[2] : nullptr;
  const Dims& dims = problem.outputs[0].type.dims;
  std::vector<double> out;
  for (int64_t e : elements) {
    auto at = coordinates(e, dims);
    double v = convolution ? convolution_at(*convolution, *inputs[0], *inputs[1], third, at)
                           : gemm_at(*gemm, *inputs[0], *inputs[1], third, at);
    out.push_back(epilogue_at(problem, inputs, at, v));
  }
  return out;
}

}  // namespace enginery
