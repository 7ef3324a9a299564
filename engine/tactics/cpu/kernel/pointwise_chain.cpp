#include "engine/tactics/cpu/kernel/pointwise_chain.h"

#include <algorithm>
#include <cmath>

namespace enginery {
namespace {

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

std::optional<PointwiseType> pointwise_type(DataType type) {
  switch (type) {
    case DataType::float32:
      return PointwiseType::float32;
    case DataType::boolean:
      return PointwiseType::boolean;
    case DataType::int32:
      return PointwiseType::int32;
    case DataType::int64:
      return PointwiseType::int64;
    default:
      return std::nullopt;
  }
}

Result<int> add_input(const Problem& p, PointwiseChain& chain, int input,
                      DataType wanted = DataType::float32) {
  const TensorDesc& desc = p.inputs[static_cast<size_t>(input)];
  const auto type = pointwise_type(desc.type.type);
  if (desc.type.type != wanted || !type || (*type != PointwiseType::float32 && desc.constant) ||
      desc.value)
    return no_cpu_kernel("pointwise on " + to_string(desc.type));
  PointwiseChain::Operand operand{input, aligned(desc.type.dims, output_dims(p).size()), {}, *type};
  if (desc.constant)
    operand.constant = [input](Weights weights) { return *weights[static_cast<size_t>(input)]; };
  chain.operands.push_back(std::move(operand));
  return static_cast<int>(chain.operands.size()) - 1;
}

Status add_channel_constant(const Problem& p, PointwiseChain& chain, PointwiseFunction function,
                            std::function<Tensor(Weights)> value) {
  Dims dims(output_dims(p).size(), 1);
  dims[1] = output_dims(p)[1];
  chain.operands.push_back({-1, dims, std::move(value), PointwiseType::float32});
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

// The function of an operator, turned round where what flows is its second operand.
Result<PointwiseFunction> function_of(const Op& op, bool turned) {
  if (const auto* activation = std::get_if<Activation>(&op)) return function_of(activation->kind);
  if (const auto* unary = std::get_if<Unary>(&op)) return function_of(unary->kind);
  if (std::holds_alternative<PRelu>(op)) {
    if (turned) return no_cpu_kernel("slopes at run time");
    return PointwiseFunction::prelu;
  }
  TRY(const PointwiseFunction f, function_of(std::get<Binary>(op).kind));
  if (turned && f == PointwiseFunction::sub) return PointwiseFunction::reverse_sub;
  if (turned && f == PointwiseFunction::div) return PointwiseFunction::reverse_div;
  if (turned && f == PointwiseFunction::pow) return PointwiseFunction::reverse_pow;
  return f;
}

// A choice between what flows and another operand.
Status add_choice(const Problem& p, const std::vector<int>& operands, int flowing,
                  PointwiseChain& chain) {
  const bool turned = operands[1] != flowing;
  const int other = operands[turned ? 1 : 2];
  for (const int at : {operands[0], other})
    if (at < 0 || at >= std::ssize(p.inputs)) return no_cpu_kernel("a pointwise tree");
  PointwiseChain::Step step{turned ? PointwiseFunction::reverse_select : PointwiseFunction::select};
  TRY(step.condition, add_input(p, chain, operands[0], DataType::boolean));
  TRY(step.operand, add_input(p, chain, other));
  chain.steps.push_back(step);
  return {};
}

// The step of one operator, whose operands are numbered as the region's; `flowing` is the number of
// what the steps before give, which it may read only once.
Status add_step(const Problem& p, const Op& op, const std::vector<int>& operands, int flowing,
                PointwiseChain& chain) {
  if (std::holds_alternative<Cast>(op)) return {};
  const auto* binary = std::get_if<Binary>(&op);
  if (binary && binary->kind == BinaryKind::mul && operands == std::vector<int>{flowing, flowing}) {
    chain.steps.push_back({PointwiseFunction::square});
    return {};
  }
  if (std::ranges::count(operands, flowing) != 1) return no_cpu_kernel("a pointwise tree");
  if (std::holds_alternative<Where>(op)) return add_choice(p, operands, flowing, chain);
  const bool turned = operands[0] != flowing;
  TRY(const PointwiseFunction function, function_of(op, turned));
  PointwiseChain::Step step{function};
  if (const auto* activation = std::get_if<Activation>(&op)) {
    step.alpha = activation->alpha;
    step.beta = activation->beta;
  }
  if (operands.size() > 1) {
    const int other = operands[turned ? 0 : 1];
    if (other < 0 || other >= std::ssize(p.inputs)) return no_cpu_kernel("a pointwise tree");
    TRY(step.operand, add_input(p, chain, other));
  }
  chain.steps.push_back(step);
  return {};
}

// The chain starts from a run-time input; with a constant first operand the binary is turned round.
Status add_operators(const Problem& p, PointwiseChain& chain) {
  const bool chooses = std::holds_alternative<Where>(p.op);
  int flowing = chooses ? 1 : 0;
  if ((chooses || std::holds_alternative<Binary>(p.op)) &&
      p.inputs[static_cast<size_t>(flowing)].constant)
    ++flowing;
  const DataType first =
      std::holds_alternative<Cast>(p.op) ? p.inputs[0].type.type : DataType::float32;
  CHECK_OK(add_input(p, chain, flowing, first));
  if (const auto* op = std::get_if<BatchNorm>(&p.op)) return add_batch_norm(p, chain, op->epsilon);
  const std::vector<RegionPart> parts = operators_of(p);
  for (size_t k = 0; k < parts.size(); ++k) {
    std::vector<int> operands = parts[k].operands;
    if (!is_region(p)) operands.resize(static_cast<size_t>(p.anchor_inputs));
    CHECK_OK(add_step(p, parts[k].problem.op, operands, flowing, chain));
    flowing = static_cast<int>(p.inputs.size() + k);
  }
  return {};
}

}  // namespace

PointwiseStep activation_step(const Activation& a) {
  return {function_of(a.kind), -1, a.alpha, a.beta, -1};
}

Result<PointwiseChain> read_chain(const Problem& p) {
  PointwiseChain chain;
  if (p.outputs[0].type.type != DataType::float32)
    return no_cpu_kernel("pointwise to " + to_string(p.outputs[0].type));
  CHECK_OK(add_operators(p, chain));
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

}  // namespace enginery
