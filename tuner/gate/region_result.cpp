#include "tuner/gate/region_result.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "engine/ops/element_order.h"
#include "engine/tactics/shapes/pooled_conv.h"
#include "tuner/gate/magnitude.h"

namespace enginery {
namespace {

constexpr double kShift = 0x1p-16;  // of a magnitude: small beside it, large beside float64's unit
constexpr int kAtOnce = 4, kTrials = 12;
constexpr uint64_t kSeed = 20261123;

Tensor sizes_of(const Tensor& t) {
  Tensor out = convert(t, DataType::float32);
  for (float& v : out.mutable_data<float>()) v = std::abs(v);
  return out;
}

double largest_size(const Tensor& sizes) {
  double out = 0;
  for (const float v : sizes.data<float>()) {
    if (std::isfinite(v)) out = std::max(out, static_cast<double>(v));
  }
  return out;
}

// Operators that do to sizes what they do to values: moves, products, maxima.
bool keeps_sizes(const Problem& p) {
  const auto* binary = std::get_if<Binary>(&p.op);
  const auto* pool = std::get_if<Pooling>(&p.op);
  const auto* global = std::get_if<GlobalPooling>(&p.op);
  return moves_elements(p.op) ||
         (binary && (binary->kind == BinaryKind::mul || binary->kind == BinaryKind::max)) ||
         (pool && pool->kind == PoolKind::max) || (global && global->kind == PoolKind::max);
}

// One operator with its operands as they are and by their magnitudes; null where absent.
struct Operation {
  const Problem& problem;
  const std::vector<const Tensor*>& operands;  // floats as float64
  const std::vector<const Tensor*>& sizes;     // floats as float32
  const Tensor& result;
};

// No magnitude is below the value's own size.
Tensor at_least(Tensor sums, const Tensor& result) {
  const Tensor own = sizes_of(result);
  auto out = sums.mutable_data<float>();
  for (size_t i = 0; i < out.size(); ++i) out[i] = std::max(out[i], own.data<float>()[i]);
  return sums;
}

Tensor of_activation(const Activation& op, const Operation& at) {
  const Tensor x = convert(*at.operands[0], DataType::float64);
  Tensor out = *at.sizes[0];
  auto sizes = out.mutable_data<float>();
  for (size_t i = 0; i < sizes.size(); ++i)
    sizes[i] = static_cast<float>(activated(op, {x.data<double>()[i], sizes[i]}).magnitude);
  return out;
}

// The operands, each shifted by its magnitudes times kShift. The first trials shift all elements of
// an operand one way, so that two operands work together and against each other; the others each
// element by itself.
std::vector<Tensor> shifted(const Operation& at, int trial, std::mt19937_64& random) {
  std::vector<Tensor> out(at.operands.size());
  for (size_t i = 0; i < out.size(); ++i) {
    if (!at.operands[i]) continue;
    out[i] = *at.operands[i];
    if (!is_floating(out[i].type())) continue;
    out[i] = convert(out[i], DataType::float64);
    const auto sizes = at.sizes[i]->data<float>();
    auto values = out[i].mutable_data<double>();
    for (size_t k = 0; k < values.size(); ++k) {
      const bool up = trial < kAtOnce ? (trial >> (i % 2)) % 2 == 0 : random() % 2 == 0;
      values[k] += (up ? kShift : -kShift) * static_cast<double>(sizes[k]);
    }
    out[i] = convert(out[i], at.operands[i]->type());
  }
  return out;
}

// By how much each element moves, at most, when every operand is shifted by its magnitude, one way
// or the other: measured, where nothing is known of the operator.
Result<std::vector<double>> measured_answer(const Operation& at) {
  std::mt19937_64 random(kSeed);
  const Tensor right = convert(at.result, DataType::float64);
  const auto from = right.data<double>();
  std::vector<double> out(from.size());
  for (int trial = 0; trial < kTrials; ++trial) {
    const std::vector<Tensor> operands = shifted(at, trial, random);
    std::vector<const Tensor*> in;
    for (size_t i = 0; i < operands.size(); ++i)
      in.push_back(at.operands[i] ? &operands[i] : nullptr);
    TRY(const auto results, run_reference(at.problem.op, in));
    const Tensor moved = convert(results[0], DataType::float64);
    const auto to = moved.data<double>();
    for (size_t k = 0; k < out.size(); ++k) {
      const double d = std::abs(to[k] - from[k]);
      if (std::isfinite(d)) out[k] = std::max(out[k], d / kShift);
    }
  }
  return out;
}

// The quotients that a Quantize rounds, and their magnitudes.
struct Quotients {
  Tensor values, magnitudes;
};
Quotients quotients_of(const Quantize& op, const Operation& at) {
  const OneScale by = one_scale_of(at.operands);
  Quotients out{convert(*at.operands[0], DataType::float64), *at.sizes[0]};
  auto values = out.values.mutable_data<double>();
  auto sizes = out.magnitudes.mutable_data<float>();
  for (size_t i = 0; i < values.size(); ++i) {
    const SampledValue q = quotient_of({values[i], static_cast<double>(sizes[i])}, by, op.to);
    values[i] = q.value;
    sizes[i] = static_cast<float>(q.magnitude);
  }
  return out;
}

// Of what it rounds where it is not the last operator: sizes, infinite at ties.
Tensor sizes_inside(const Quotients& quotients) {
  Tensor out = quotients.magnitudes;
  auto sizes = out.mutable_data<float>();
  const auto values = quotients.values.data<double>();
  for (size_t i = 0; i < sizes.size(); ++i)
    sizes[i] =
        static_cast<float>(rounded_inside({values[i], static_cast<double>(sizes[i])}).magnitude);
  return out;
}

// One rounding of a product, whose factors are exact but for integers about a tie.
Tensor of_dequantize(const Operation& at) {
  Tensor out = sizes_of(at.result);
  if (!is_floating(at.sizes[0]->type())) return out;
  auto sizes = out.mutable_data<float>();
  for (size_t i = 0; i < sizes.size(); ++i)
    if (!std::isfinite(at.sizes[0]->data<float>()[i])) sizes[i] = at.sizes[0]->data<float>()[i];
  return out;
}

Result<Tensor> magnitudes_in_region(const Operation& at) {
  if (std::holds_alternative<Dequantize>(at.problem.op)) return of_dequantize(at);
  if (const auto* activation = std::get_if<Activation>(&at.problem.op))
    return of_activation(*activation, at);
  if (keeps_sizes(at.problem)) {
    TRY(auto sums, run_reference(at.problem.op, at.sizes));
    return at_least(convert(sums[0], DataType::float32), at.result);
  }
  const bool sums = adds_up(at.problem);
  TRY(const Magnitudes own, magnitudes_of(at.problem, sums ? at.sizes : at.operands, at.result));
  std::vector<double> answer(static_cast<size_t>(at.result.size()));
  if (!sums) {
    TRY(answer, measured_answer(at));
  }
  Tensor out = sizes_of(at.result);
  auto sizes = out.mutable_data<float>();
  for (size_t i = 0; i < sizes.size(); ++i)
    sizes[i] = static_cast<float>(own.at(i, static_cast<double>(sizes[i])) + answer[i]);
  return out;
}

// Floats as float64, or float32 for an operator that does not take it for all of its operands.
struct Computed {
  std::vector<Tensor> inputs, results;
};
Result<Computed> computed_in(DataType wide, const Problem& problem,
                             const std::vector<const Tensor*>& inputs) {
  Computed out;
  for (const Tensor* t : inputs) {
    const bool widens = t && is_floating(t->type()) && t->type() != DataType::float64;
    out.inputs.push_back(!t ? Tensor() : widens ? convert(*t, wide) : *t);
  }
  TRY(out.results, region_results(problem, inputs, wide));
  return out;
}

// The region ends with the integers that `last` gives, or the largest ones of them: without
// rounding where the quotients are.
Result<RegionResult> rounded_result(Quotients last, const Problem* pooling, double largest_inner) {
  RegionResult out;
  out.values = std::move(last.values);
  out.magnitudes = std::move(last.magnitudes);
  out.rounds = true;
  out.largest_inner = largest_inner;
  if (!pooling) return out;
  const Tensor* values[] = {&out.values};
  TRY(auto largest, run_reference(pooling->op, values));
  const Tensor* magnitudes[] = {&out.magnitudes};
  TRY(auto sizes, run_reference(pooling->op, magnitudes));
  out.values = std::move(largest[0]);
  out.magnitudes = std::move(sizes[0]);
  return out;
}

}  // namespace

OneScale one_scale_of(const std::vector<const Tensor*>& operands) {
  const bool offset = operands.size() > 2 && operands[2];
  return {convert(*operands[1], DataType::float64).data<double>()[0],
          offset ? static_cast<double>(to_int64s(*operands[2])[0]) : 0};
}

SampledValue quotient_of(SampledValue x, const OneScale& by, DataType to) {
  const bool negative = to == DataType::int8;
  return {
      std::clamp<double>(x.value / by.scale + by.zero, negative ? -128 : 0, negative ? 127 : 255),
      x.magnitude / std::abs(by.scale) + std::abs(by.zero)};
}

SampledValue rounded_inside(SampledValue v) {
  constexpr double kNearTie = 0x1p-20;  // of the magnitude: what float32 may be off
  const double below = std::floor(v.value);
  if (std::abs(v.value - below - 0.5) <= kNearTie * v.magnitude)
    v.magnitude = std::numeric_limits<double>::infinity();
  v.value = std::nearbyint(v.value);
  return v;
}

bool is_plain_quantize(const Problem& p) {
  const auto* op = std::get_if<Quantize>(&p.op);
  return op && op->block_size == 0 && volume(input_dims(p, 1)) == 1 &&
         is_floating(p.inputs[0].type.type) &&
         (op->to == DataType::int8 || op->to == DataType::uint8);
}

Result<RegionResult> region_result(const Problem& problem,
                                   const std::vector<const Tensor*>& inputs) {
  auto computed = computed_in(DataType::float64, problem, inputs);
  if (!computed) computed = computed_in(DataType::float32, problem, inputs);
  if (!computed) return computed.error();
  const std::vector<Tensor>& results = computed->results;
  // Inputs, then results, by the numbers that operands have.
  std::vector<const Tensor*> values;
  for (size_t i = 0; i < inputs.size(); ++i)
    values.push_back(inputs[i] ? &computed->inputs[i] : nullptr);
  std::vector<Tensor> sizes;
  const auto add_sizes = [&](const Tensor* t) {
    sizes.push_back(!t ? Tensor() : is_floating(t->type()) ? sizes_of(*t) : *t);
  };
  for (const Tensor* t : inputs) add_sizes(t);
  RegionResult out;
  const std::vector<RegionPart> parts = operators_of(problem);
  for (size_t k = 0; k < parts.size(); ++k) {
    std::vector<const Tensor*> operands, of_sizes;
    for (const int at : parts[k].operands) {
      const bool present = at >= 0 && values[static_cast<size_t>(at)] != nullptr;
      operands.push_back(present ? values[static_cast<size_t>(at)] : nullptr);
      of_sizes.push_back(present ? &sizes[static_cast<size_t>(at)] : nullptr);
    }
    values.push_back(&results[k]);
    // What the region itself is given is rounded as it is, by whoever runs it.
    const bool of_result = parts[k].operands[0] >= static_cast<int>(inputs.size());
    if (of_result && is_plain_quantize(parts[k].problem)) {
      Quotients quotients = quotients_of(std::get<Quantize>(parts[k].problem.op),
                                         {parts[k].problem, operands, of_sizes, results[k]});
      const bool pools = k + 2 == parts.size() && is_max_pool(parts[k + 1].problem.op);
      if (pools || k + 1 == parts.size())
        return rounded_result(std::move(quotients), pools ? &parts[k + 1].problem : nullptr,
                              out.largest_inner);
      sizes.push_back(sizes_inside(quotients));
      continue;
    }
    if (!is_floating(results[k].type())) {
      add_sizes(&results[k]);
      continue;
    }
    TRY(Tensor own, magnitudes_in_region({parts[k].problem, operands, of_sizes, results[k]}));
    if (k + 1 < parts.size()) out.largest_inner = std::max(out.largest_inner, largest_size(own));
    sizes.push_back(std::move(own));
  }
  const bool floats = is_floating(results.back().type());
  out.values = floats ? convert(results.back(), DataType::float64) : results.back();
  if (floats) out.magnitudes = sizes.back();
  return out;
}

}  // namespace enginery
