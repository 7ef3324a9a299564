// Family pointwise: an activation, unary, binary, PReLU or batch norm with its epilogue, as one
// pass over memory.
#include "engine/kernels/cpu/isa/pointwise.h"

#include <algorithm>
#include <cmath>

#include "engine/tactics/cpu/kernel/cpu_kernel_family.h"

namespace enginery {
namespace {

// The chain before layouts are known.
struct PointwiseChain {
  struct Operand {
    int input;                                // problem input, or -1: `constant` alone gives it
    Dims dims;                                // aligned to the output's rank
    std::function<Tensor(Weights)> constant;  // empty for run-time inputs
  };
  struct Step {
    PointwiseFunction function;
    int operand = -1;
    float alpha = 0, beta = 0;
  };
  std::vector<Operand> operands;
  std::vector<Step> steps;
};

Result<PointwiseFunction> function_of(UnaryKind kind) {
  switch (kind) {
    case UnaryKind::abs:
      return PointwiseFunction::abs;
    case UnaryKind::neg:
      return PointwiseFunction::neg;
    case UnaryKind::exp:
      return PointwiseFunction::exp;
    case UnaryKind::log:
      return PointwiseFunction::log;
    case UnaryKind::sqrt:
      return PointwiseFunction::sqrt;
    case UnaryKind::reciprocal:
      return PointwiseFunction::reciprocal;
    case UnaryKind::floor:
      return PointwiseFunction::floor;
    case UnaryKind::ceil:
      return PointwiseFunction::ceil;
    case UnaryKind::sign:
      return PointwiseFunction::sign;
    case UnaryKind::erf:
      return PointwiseFunction::erf;
    case UnaryKind::round:
      return PointwiseFunction::round;
    case UnaryKind::sin:
      return PointwiseFunction::sin;
    case UnaryKind::cos:
      return PointwiseFunction::cos;
    case UnaryKind::tan:
      return PointwiseFunction::tan;
    case UnaryKind::asin:
      return PointwiseFunction::asin;
    case UnaryKind::acos:
      return PointwiseFunction::acos;
    case UnaryKind::atan:
      return PointwiseFunction::atan;
    case UnaryKind::sinh:
      return PointwiseFunction::sinh;
    case UnaryKind::cosh:
      return PointwiseFunction::cosh;
    case UnaryKind::asinh:
      return PointwiseFunction::asinh;
    case UnaryKind::acosh:
      return PointwiseFunction::acosh;
    case UnaryKind::atanh:
      return PointwiseFunction::atanh;
    default:
      return no_cpu_kernel("unary " + std::string(enum_names(kind)[static_cast<size_t>(kind)]));
  }
}

Result<PointwiseFunction> function_of(BinaryKind kind) {
  switch (kind) {
    case BinaryKind::add:
      return PointwiseFunction::add;
    case BinaryKind::sub:
      return PointwiseFunction::sub;
    case BinaryKind::mul:
      return PointwiseFunction::mul;
    case BinaryKind::div:
      return PointwiseFunction::div;
    case BinaryKind::min:
      return PointwiseFunction::min;
    case BinaryKind::max:
      return PointwiseFunction::max;
    case BinaryKind::pow:
      return PointwiseFunction::pow;
    default:
      return no_cpu_kernel("binary " + std::string(enum_names(kind)[static_cast<size_t>(kind)]));
  }
}

// Both enums begin with the one list of activations.
PointwiseFunction function_of(ActivationKind kind) {
  return static_cast<PointwiseFunction>(static_cast<int>(kind));
}

Result<int> add_input(const Problem& p, PointwiseChain& chain, int input) {
  const TensorDesc& desc = p.inputs[static_cast<size_t>(input)];
  if (desc.type.type != DataType::float32)
    return no_cpu_kernel("pointwise on " + to_string(desc.type));
  PointwiseChain::Operand operand{input, aligned(desc.type.dims, output_dims(p).size()), {}};
  if (desc.constant)
    operand.constant = [input](Weights weights) { return *weights[static_cast<size_t>(input)]; };
  chain.operands.push_back(std::move(operand));
  return static_cast<int>(chain.operands.size()) - 1;
}

Status add_channel_constant(const Problem& p, PointwiseChain& chain, PointwiseFunction function,
                            std::function<Tensor(Weights)> value) {
  Dims dims(output_dims(p).size(), 1);
  dims[1] = output_dims(p)[1];
  chain.operands.push_back({-1, dims, std::move(value)});
  chain.steps.push_back({function, static_cast<int>(chain.operands.size()) - 1});
  return {};
}

// scale * (x - mean) / sqrt(variance + epsilon) + bias as one factor and one addend a channel.
Status add_batch_norm(const Problem& p, PointwiseChain& chain, float epsilon) {
  if (output_dims(p).size() < 2) return no_cpu_kernel("batch norm of a vector");
  for (size_t i = 1; i < 5; ++i) {
    if (!p.inputs[i].constant) return no_cpu_kernel("batch norm with run-time statistics");
  }
  auto factor = [epsilon](Weights w) {
    Tensor out = *w[1];
    auto values = out.mutable_data<float>();
    auto variance = w[4]->data<float>();
    for (size_t c = 0; c < values.size(); ++c) values[c] /= std::sqrt(variance[c] + epsilon);
    return out;
  };
  auto addend = [factor](Weights w) {
    Tensor out = *w[2], scale = factor(w);
    auto values = out.mutable_data<float>();
    auto mean = w[3]->data<float>(), scales = scale.data<float>();
    for (size_t c = 0; c < values.size(); ++c) values[c] -= mean[c] * scales[c];
    return out;
  };
  CHECK_OK(add_channel_constant(p, chain, PointwiseFunction::mul, factor));
  return add_channel_constant(p, chain, PointwiseFunction::add, addend);
}

Status add_anchor(const Problem& p, PointwiseChain& chain) {
  // The chain starts from a run-time input; with a constant first operand the binary is turned
  // round.
  bool turned = std::holds_alternative<Binary>(p.op) && p.inputs[0].constant;
  TRY(int first, add_input(p, chain, turned ? 1 : 0));
  (void)first;
  if (auto* op = std::get_if<Activation>(&p.op)) {
    chain.steps.push_back({function_of(op->kind), -1, op->alpha, op->beta});
    return {};
  }
  if (auto* op = std::get_if<Unary>(&p.op)) {
    TRY(PointwiseFunction f, function_of(op->kind));
    chain.steps.push_back({f});
    return {};
  }
  if (auto* op = std::get_if<BatchNorm>(&p.op)) return add_batch_norm(p, chain, op->epsilon);
  TRY(int other, add_input(p, chain, turned ? 0 : 1));
  PointwiseFunction f = PointwiseFunction::prelu;
  if (auto* op = std::get_if<Binary>(&p.op)) {
    TRY(f, function_of(op->kind));
    if (turned && f == PointwiseFunction::sub) f = PointwiseFunction::reverse_sub;
    if (turned && f == PointwiseFunction::div) f = PointwiseFunction::reverse_div;
    if (turned && f == PointwiseFunction::pow) f = PointwiseFunction::reverse_pow;
  }
  chain.steps.push_back({f, other});
  return {};
}

Result<PointwiseChain> read_chain(const Problem& p) {
  PointwiseChain chain;
  if (p.outputs[0].type.type != DataType::float32)
    return no_cpu_kernel("pointwise to " + to_string(p.outputs[0].type));
  CHECK_OK(add_anchor(p, chain));
  for (const EpilogueStep& step : p.epilogue) {
    if (step.kind == EpilogueKind::activation) {
      chain.steps.push_back(
          {function_of(step.activation.kind), -1, step.activation.alpha, step.activation.beta});
      continue;
    }
    TRY(int operand, add_input(p, chain, step.operand));
    if (step.kind == EpilogueKind::bias) {
      Dims dims(output_dims(p).size(), 1);
      dims[1] = output_dims(p)[1];
      chain.operands.back().dims = dims;
    }
    chain.steps.push_back(
        {step.kind == EpilogueKind::multiply ? PointwiseFunction::mul : PointwiseFunction::add,
         operand});
  }
  if (chain.operands.size() > kMaxPointwiseOperands || chain.steps.size() > kMaxPointwiseSteps) {
    return no_cpu_kernel("a longer pointwise chain");
  }
  return chain;
}

// One loop over the output, with every operand's stride along it.
struct BroadcastLoop {
  int64_t extent, out_stride;
  std::vector<int64_t> strides;
};

// The operand's stride along dimension d where it lies linear, 0 where it is broadcast.
int64_t linear_stride(const Dims& dims, size_t d) {
  if (dims[d] == 1) return 0;
  int64_t stride = 1;
  for (size_t i = d + 1; i < dims.size(); ++i) stride *= dims[i];
  return stride;
}

// Loops in the order of the output's addresses. Operands of the output's own dims lie as the output
// does.
std::vector<BroadcastLoop> loops_of(const Dims& dims, const PointwiseChain& chain,
                                    const Layout& layout) {
  std::vector<BroadcastLoop> loops;
  auto append = [&](size_t d, int64_t extent, int64_t factor) {
    BroadcastLoop loop{extent, 0, {}};
    for (const auto& o : chain.operands) loop.strides.push_back(linear_stride(o.dims, d) * factor);
    loops.push_back(std::move(loop));
  };
  bool linear = layout.kind == LayoutKind::linear, blocked = layout.kind == LayoutKind::blocked;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (d == 1 && blocked)
      append(d, dims[1] / layout.block, layout.block);
    else if (d != 1 || linear)
      append(d, dims[d], 1);
  }
  if (!linear) append(1, blocked ? layout.block : dims[1], 1);
  if (loops.empty()) loops.push_back({1, 1, std::vector<int64_t>(chain.operands.size(), 0)});
  int64_t stride = 1;
  for (size_t i = loops.size(); i-- > 0;) {
    loops[i].out_stride = stride;
    for (size_t o = 0; o < chain.operands.size(); ++o) {
      bool whole = chain.operands[o].dims == dims && !chain.operands[o].constant;
      if (whole) loops[i].strides[o] = stride;
    }
    stride *= loops[i].extent;
  }
  return loops;
}

std::vector<BroadcastLoop> joined(const std::vector<BroadcastLoop>& loops) {
  std::vector<BroadcastLoop> out;
  for (const BroadcastLoop& loop : loops) {
    if (loop.extent == 1) continue;
    bool joins = !out.empty() && out.back().out_stride == loop.extent * loop.out_stride;
    for (size_t o = 0; joins && o < loop.strides.size(); ++o)
      joins = out.back().strides[o] == loop.extent * loop.strides[o];
    if (joins)
      out.back() = {out.back().extent * loop.extent, loop.out_stride, loop.strides};
    else
      out.push_back(loop);
  }
  if (out.empty()) out.push_back({1, 1, loops[0].strides});
  // A short innermost loop costs more to enter than to run: a long one goes inside instead, in
  // steps.
  constexpr int64_t kShort = 16, kLong = 64;
  auto longest = std::max_element(
      out.begin(), out.end(),
      [](const BroadcastLoop& a, const BroadcastLoop& b) { return a.extent < b.extent; });
  if (out.back().extent < kShort && longest->extent >= kLong)
    std::rotate(longest, longest + 1, out.end());
  return out;
}

// A power by one number that has a function of its own becomes that.
void simplify_powers(PointwiseArguments& a, const std::vector<Tensor>& constants) {
  for (PointwiseStep& step : std::span(a.step, static_cast<size_t>(a.steps))) {
    if (step.function != PointwiseFunction::pow) continue;
    const Tensor& exponents = constants[static_cast<size_t>(step.operand)];
    if (exponents.size() != 1 || exponents.type() != DataType::float32) continue;
    const float exponent = exponents.data<float>()[0];
    if (exponent == 3)
      step = {PointwiseFunction::cube, -1, 0, 0};
    else if (exponent == 0.5f)
      step = {PointwiseFunction::power_of_half, -1, 0, 0};
  }
}

CpuKernelCandidate pointwise_candidate(const CpuKernelContext& context, const Problem& p,
                                       const PointwiseChain& chain, const Layout& layout,
                                       const std::vector<BroadcastLoop>& loops) {
  PointwiseArguments a{};
  a.operands = static_cast<int>(chain.operands.size());
  a.steps = static_cast<int>(chain.steps.size());
  a.loops = static_cast<int>(loops.size());
  for (size_t i = 0; i < loops.size(); ++i) {
    a.extent[i] = loops[i].extent;
    a.out_stride[i] = loops[i].out_stride;
    for (size_t o = 0; o < chain.operands.size(); ++o) a.operand_stride[o][i] = loops[i].strides[o];
  }
  for (size_t s = 0; s < chain.steps.size(); ++s) {
    a.step[s] = {chain.steps[s].function, chain.steps[s].operand, chain.steps[s].alpha,
                 chain.steps[s].beta};
  }
  Tactic tactic = cpu_kernel_tactic(p, "pointwise");
  tactic.outputs[0].layout = layout;
  for (const auto& o : chain.operands) {
    bool whole = o.input >= 0 && !o.constant && o.dims == output_dims(p);
    if (whole) tactic.inputs[static_cast<size_t>(o.input)].layout = layout;
  }
  tactic.estimated_us = movement_and_arithmetic_us(context, p, 2000);
  auto build = [kernel = context.kernels.pointwise, a,
                operands = chain.operands](Weights weights) -> CpuKernelRun {
    std::vector<Tensor> constants;
    for (const auto& o : operands) constants.push_back(o.constant ? o.constant(weights) : Tensor());
    PointwiseArguments prepared = a;
    simplify_powers(prepared, constants);
    return [=](const Arguments& arguments) {
      auto call = prepared;
      for (size_t o = 0; o < operands.size(); ++o) {
        call.operand[o] = operands[o].constant
                              ? constants[o].data<float>().data()
                              : static_cast<const float*>(
                                    arguments.inputs[static_cast<size_t>(operands[o].input)]);
      }
      call.out = static_cast<float*>(arguments.outputs[0]);
      kernel(call);
    };
  };
  return {std::move(tactic), build};
}

}  // namespace

CpuKernelCandidates offer_cpu_pointwise(const CpuKernelContext& context, const Problem& p) {
  TRY(PointwiseChain chain, read_chain(p));
  std::vector<CpuKernelCandidate> out;
  for (const Layout& layout : dense_layouts(context, output_dims(p))) {
    std::vector<BroadcastLoop> loops = joined(loops_of(output_dims(p), chain, layout));
    if (loops.size() > kMaxPointwiseLoops) return no_cpu_kernel("pointwise with this broadcast");
    out.push_back(pointwise_candidate(context, p, chain, layout, loops));
  }
  return out;
}

}  // namespace enginery
