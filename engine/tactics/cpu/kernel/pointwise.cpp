// Pointwise chains: an activation, unary, binary, PReLU or batch norm with its epilogue, as one
// pass over memory.
#include <algorithm>
#include <cmath>

#include "engine/tactics/cpu/kernel/candidate.h"

namespace enginery::cpu_kernel {
namespace {

using cpu_kernels::Function;
using cpu_kernels::PointwiseArguments;

// The chain before layouts are known.
struct Chain {
  struct Operand {
    int input;                                // problem input, or -1: `constant` alone gives it
    Dims dims;                                // aligned to the output's rank
    std::function<Tensor(Weights)> constant;  // empty for run-time inputs
  };
  struct Step {
    Function function;
    int operand = -1;
    float alpha = 0, beta = 0;
  };
  std::vector<Operand> operands;
  std::vector<Step> steps;
};

Result<Function> function_of(UnaryKind kind) {
  switch (kind) {
    case UnaryKind::abs:
      return Function::abs;
    case UnaryKind::neg:
      return Function::neg;
    case UnaryKind::exp:
      return Function::exp;
    case UnaryKind::log:
      return Function::log;
    case UnaryKind::sqrt:
      return Function::sqrt;
    case UnaryKind::reciprocal:
      return Function::reciprocal;
    case UnaryKind::floor:
      return Function::floor;
    case UnaryKind::ceil:
      return Function::ceil;
    case UnaryKind::sign:
      return Function::sign;
    case UnaryKind::erf:
      return Function::erf;
    default:
      return unsupported("unary " + std::string(enum_names(kind)[static_cast<size_t>(kind)]));
  }
}

Result<Function> function_of(BinaryKind kind) {
  switch (kind) {
    case BinaryKind::add:
      return Function::add;
    case BinaryKind::sub:
      return Function::sub;
    case BinaryKind::mul:
      return Function::mul;
    case BinaryKind::div:
      return Function::div;
    case BinaryKind::min:
      return Function::min;
    case BinaryKind::max:
      return Function::max;
    default:
      return unsupported("binary " + std::string(enum_names(kind)[static_cast<size_t>(kind)]));
  }
}

// Activations have the same order in both lists.
Function function_of(ActivationKind kind) {
  return static_cast<Function>(static_cast<int>(kind));
}
static_assert(static_cast<int>(Function::thresholded_relu) ==
              static_cast<int>(ActivationKind::thresholded_relu));

Result<int> add_input(const Problem& p, Chain& chain, int input) {
  const TensorDesc& desc = p.inputs[static_cast<size_t>(input)];
  if (desc.type.type != DataType::float32)
    return unsupported("pointwise on " + to_string(desc.type));
  Chain::Operand operand{input, aligned(desc.type.dims, output_dims(p).size()), {}};
  if (desc.constant)
    operand.constant = [input](Weights weights) { return *weights[static_cast<size_t>(input)]; };
  chain.operands.push_back(std::move(operand));
  return static_cast<int>(chain.operands.size()) - 1;
}

Status add_channel_constant(const Problem& p, Chain& chain, Function function,
                            std::function<Tensor(Weights)> value) {
  Dims dims(output_dims(p).size(), 1);
  dims[1] = output_dims(p)[1];
  chain.operands.push_back({-1, dims, std::move(value)});
  chain.steps.push_back({function, static_cast<int>(chain.operands.size()) - 1});
  return {};
}

// scale * (x - mean) / sqrt(variance + epsilon) + bias as one factor and one addend a channel.
Status add_batch_norm(const Problem& p, Chain& chain, float epsilon) {
  if (output_dims(p).size() < 2) return unsupported("batch norm of a vector");
  for (size_t i = 1; i < 5; ++i) {
    if (!p.inputs[i].constant) return unsupported("batch norm with run-time statistics");
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
  CHECK_OK(add_channel_constant(p, chain, Function::mul, factor));
  return add_channel_constant(p, chain, Function::add, addend);
}

Status add_anchor(const Problem& p, Chain& chain) {
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
    TRY(Function f, function_of(op->kind));
    chain.steps.push_back({f});
    return {};
  }
  if (auto* op = std::get_if<BatchNorm>(&p.op)) return add_batch_norm(p, chain, op->epsilon);
  TRY(int other, add_input(p, chain, turned ? 0 : 1));
  Function f = Function::prelu;
  if (auto* op = std::get_if<Binary>(&p.op)) {
    TRY(f, function_of(op->kind));
    if (turned && f == Function::sub) f = Function::reverse_sub;
    if (turned && f == Function::div) f = Function::reverse_div;
  }
  chain.steps.push_back({f, other});
  return {};
}

Result<Chain> read_chain(const Problem& p) {
  Chain chain;
  if (p.outputs[0].type.type != DataType::float32)
    return unsupported("pointwise to " + to_string(p.outputs[0].type));
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
        {step.kind == EpilogueKind::multiply ? Function::mul : Function::add, operand});
  }
  if (chain.operands.size() > cpu_kernels::kMaxOperands ||
      chain.steps.size() > cpu_kernels::kMaxSteps) {
    return unsupported("a longer pointwise chain");
  }
  return chain;
}

// One loop over the output, with every operand's stride along it.
struct Loop {
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
std::vector<Loop> loops_of(const Dims& dims, const Chain& chain, const Layout& layout) {
  std::vector<Loop> loops;
  auto append = [&](size_t d, int64_t extent, int64_t factor) {
    Loop loop{extent, 0, {}};
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

std::vector<Loop> joined(const std::vector<Loop>& loops) {
  std::vector<Loop> out;
  for (const Loop& loop : loops) {
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
  auto longest = std::max_element(out.begin(), out.end(),
                                  [](const Loop& a, const Loop& b) { return a.extent < b.extent; });
  if (out.back().extent < kShort && longest->extent >= kLong)
    std::rotate(longest, longest + 1, out.end());
  return out;
}

Candidate candidate_of(const Context& context, const Problem& p, const Chain& chain,
                       const Layout& layout, const std::vector<Loop>& loops) {
  PointwiseArguments a{};
  a.operands = static_cast<int>(chain.operands.size());
  a.steps = static_cast<int>(chain.steps.size());
  a.loops = static_cast<int>(loops.size());
  for (size_t i = 0; i < loops.size(); ++i) {
    a.extent[i] = loops[i].extent, a.out_stride[i] = loops[i].out_stride;
    for (size_t o = 0; o < chain.operands.size(); ++o) a.operand_stride[o][i] = loops[i].strides[o];
  }
  for (size_t s = 0; s < chain.steps.size(); ++s) {
    a.step[s] = {chain.steps[s].function, chain.steps[s].operand, chain.steps[s].alpha,
                 chain.steps[s].beta};
  }
  Tactic tactic = base_tactic(p, "pointwise");
  tactic.outputs[0].layout = layout;
  for (const auto& o : chain.operands) {
    bool whole = o.input >= 0 && !o.constant && o.dims == output_dims(p);
    if (whole) tactic.inputs[static_cast<size_t>(o.input)].layout = layout;
  }
  tactic.estimated_us =
      movement_us(context, p) + flop_count(p) / (2000.0 * context.threads * context.kernels.width);
  auto build = [kernels = &context.kernels, a, operands = chain.operands](Weights weights) -> Run {
    std::vector<Tensor> constants;
    for (const auto& o : operands) constants.push_back(o.constant ? o.constant(weights) : Tensor());
    return [=](const Arguments& arguments) {
      auto call = a;
      for (size_t o = 0; o < operands.size(); ++o) {
        call.operand[o] = operands[o].constant
                              ? constants[o].data<float>().data()
                              : static_cast<const float*>(
                                    arguments.inputs[static_cast<size_t>(operands[o].input)]);
      }
      call.out = static_cast<float*>(arguments.outputs[0]);
      kernels->pointwise(call);
    };
  };
  return {std::move(tactic), build};
}

}  // namespace

Candidates pointwise_candidates(const Context& context, const Problem& p) {
  TRY(Chain chain, read_chain(p));
  std::vector<Candidate> out;
  for (const Layout& layout : dense_layouts(context, output_dims(p))) {
    std::vector<Loop> loops = joined(loops_of(output_dims(p), chain, layout));
    if (loops.size() > cpu_kernels::kMaxPointwiseLoops)
      return unsupported("pointwise with this broadcast");
    out.push_back(candidate_of(context, p, chain, layout, loops));
  }
  return out;
}

}  // namespace enginery::cpu_kernel
