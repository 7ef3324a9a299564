#include "tuner/gate/expectation.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "engine/ops/element_order.h"
#include "tuner/gate/domain.h"
#include "tuner/gate/magnitude.h"
#include "tuner/gate/region_result.h"
#include "tuner/gate/sampled_reference.h"
#include "tuner/gate/sampled_region.h"

namespace enginery {
namespace {

// Float32 holds whole numbers up to 2^24; no product of the integers probe is above 64.
constexpr int64_t kMaxWhole = 1 << 24, kMaxExactTerms = kMaxWhole / 64;

bool steps_at_whole_numbers(UnaryKind kind) {
  switch (kind) {
    case UnaryKind::abs:
    case UnaryKind::neg:
    case UnaryKind::floor:
    case UnaryKind::ceil:
    case UnaryKind::round:
    case UnaryKind::sign:
      return true;
    default:
      return false;
  }
}

// Activations that give one of their numbers, unrounded.
bool selects(const Activation& a) {
  return a.kind == ActivationKind::relu || a.kind == ActivationKind::clip;
}

// Operators whose result is one of their inputs' numbers, or one of a few.
bool selects(const Op& op) {
  if (const auto* a = std::get_if<Activation>(&op)) return selects(*a);
  if (const auto* unary = std::get_if<Unary>(&op)) return steps_at_whole_numbers(unary->kind);
  if (const auto* pool = std::get_if<Pooling>(&op)) return pool->kind == PoolKind::max;
  if (const auto* pool = std::get_if<GlobalPooling>(&op)) return pool->kind == PoolKind::max;
  if (const auto* binary = std::get_if<Binary>(&op))
    return binary->kind == BinaryKind::min || binary->kind == BinaryKind::max;
  if (const auto* reduce = std::get_if<Reduce>(&op))
    return reduce->kind == ReduceKind::min || reduce->kind == ReduceKind::max;
  const auto* resize = std::get_if<Resize>(&op);
  return moves_elements(op) || std::holds_alternative<TopK>(op) ||
         (resize && resize->mode == ResizeMode::nearest);
}

// Operators that add and multiply, nothing else.
bool adds_and_multiplies(const Op& op) {
  if (const auto* gemm = std::get_if<Gemm>(&op))
    return gemm->alpha == std::round(gemm->alpha) && gemm->beta == std::round(gemm->beta);
  if (const auto* binary = std::get_if<Binary>(&op))
    return binary->kind == BinaryKind::add || binary->kind == BinaryKind::sub ||
           binary->kind == BinaryKind::mul;
  if (const auto* reduce = std::get_if<Reduce>(&op))
    return reduce->kind == ReduceKind::sum || reduce->kind == ReduceKind::l1 ||
           reduce->kind == ReduceKind::sum_square;
  return std::holds_alternative<Convolution>(op) || std::holds_alternative<Deconvolution>(op) ||
         std::holds_alternative<MatMul>(op) || std::holds_alternative<Einsum>(op);
}

// With an epilogue that only selects, or any where nothing of the problem rounds.
bool epilogue_selects(const Problem& p) {
  return std::all_of(p.epilogue.begin(), p.epilogue.end(), [](const EpilogueStep& step) {
    return step.kind == EpilogueKind::activation && selects(step.activation);
  });
}

bool epilogue_is_exact_on_integers(const Problem& p) {
  return std::all_of(p.epilogue.begin(), p.epilogue.end(), [](const EpilogueStep& step) {
    return step.kind != EpilogueKind::activation || selects(step.activation);
  });
}

// Operators that give NaN for some of what they may be given.
bool has_a_domain(const Op& op) {
  if (const auto* binary = std::get_if<Binary>(&op)) return binary->kind == BinaryKind::pow;
  const auto* unary = std::get_if<Unary>(&op);
  if (!unary) return false;
  switch (unary->kind) {
    case UnaryKind::log:
    case UnaryKind::sqrt:
    case UnaryKind::asin:
    case UnaryKind::acos:
    case UnaryKind::acosh:
    case UnaryKind::atanh:
      return true;
    default:
      return false;
  }
}

// Whether one of them follows another operator of a region.
bool computes_what_has_a_domain(const Problem& p) {
  if (!is_region(p)) return false;
  const std::vector<RegionPart> parts = operators_of(p);
  return std::any_of(parts.begin() + 1, parts.end(),
                     [](const RegionPart& part) { return has_a_domain(part.problem.op); });
}

// Whether no operator of the problem rounds.
bool only_selects(const Problem& p) {
  const std::vector<RegionPart> parts = operators_of(p);
  return epilogue_selects(p) && std::all_of(parts.begin(), parts.end(), [](const RegionPart& part) {
           return selects(part.problem.op);
         });
}

Closeness closeness_of(const Problem& p, size_t output, ProbeKind kind) {
  if (!is_floating(p.outputs[output].type.type)) return Closeness::equal;
  if (only_selects(p)) return Closeness::equal;
  if (kind == ProbeKind::integers && is_exact_on_integers(p)) return Closeness::whole;
  return Closeness::bounded;
}

// The elements of a tensor, in its own type or, where it is floating, as float64.
Tensor pick(const Tensor& t, const std::vector<int64_t>& elements) {
  Tensor out(t.type(), {static_cast<int64_t>(elements.size())});
  const auto size = static_cast<size_t>(element_bytes(t.type()));
  auto* to = static_cast<uint8_t*>(out.mutable_bytes());
  const auto* from = static_cast<const uint8_t*>(t.raw());
  for (const int64_t e : elements) {
    std::memcpy(to, from + static_cast<size_t>(e) * size, size);
    to += size;
  }
  return is_floating(t.type()) ? convert(out, DataType::float64) : out;
}

void set_values(const std::vector<SampledValue>& sampled, ExpectedOutput& out) {
  out.values = Tensor(DataType::float64, {static_cast<int64_t>(sampled.size())});
  auto values = out.values.mutable_data<double>();
  for (size_t i = 0; i < sampled.size(); ++i) {
    values[i] = sampled[i].value;
    out.magnitudes.push_back(sampled[i].magnitude);
  }
}

// Floats of narrower types as float32, in which references compute; those of float64 in that.
struct Widened {
  std::vector<Tensor> tensors;
  std::vector<const Tensor*> inputs;
  explicit Widened(const std::vector<const Tensor*>& from) : tensors(from.size()) {
    for (size_t i = 0; i < from.size(); ++i) {
      const bool widens =
          from[i] && is_floating(from[i]->type()) && from[i]->type() != DataType::float64;
      if (widens) tensors[i] = convert(*from[i], DataType::float32);
      inputs.push_back(widens ? &tensors[i] : from[i]);
    }
  }
};

// The whole reference; then the epilogue element by element.
Status set_in_full(const Problem& p, const std::vector<const Tensor*>& inputs,
                   std::vector<ExpectedOutput>& out) {
  // Moves keep every bit of every type; what an epilogue follows is not rounded before it.
  const bool as_they_are = moves_elements(p.op) && p.epilogue.empty();
  const Widened wide(inputs);
  const std::span<const Tensor* const> anchor(as_they_are ? inputs.data() : wide.inputs.data(),
                                              static_cast<size_t>(p.anchor_inputs));
  TRY(const auto results, run_reference(p.op, anchor));
  for (size_t k = 0; k < out.size(); ++k) {
    ExpectedOutput& o = out[k];
    o.values = pick(results[k], o.elements);
    if (o.values.type() != DataType::float64) continue;
    Magnitudes magnitudes;
    if (k == 0 && o.closeness == Closeness::bounded) {
      TRY(magnitudes, magnitudes_of(p, anchor, results[k]));
    }
    std::vector<SampledValue> sampled;
    const auto values = o.values.data<double>();
    for (size_t i = 0; i < o.elements.size(); ++i) {
      const SampledValue v{values[i], magnitudes.at(static_cast<size_t>(o.elements[i]), values[i])};
      const bool fused = k == 0 && !p.epilogue.empty();
      sampled.push_back(fused
                            ? sampled_epilogue(p, wide.inputs,
                                               coordinates_of(o.elements[i], results[k].dims()), v)
                            : v);
    }
    set_values(sampled, o);
  }
  return {};
}

// Values, magnitudes and what a region does at its end are known: what follows for the comparison.
void settle_region(bool rounds, double largest_inner, ExpectedOutput& out) {
  out.rounds = rounds;
  out.largest_inner = largest_inner;
  double largest = largest_inner;
  for (const double m : out.magnitudes) largest = std::max(largest, m);
  const bool whole = out.closeness == Closeness::whole && largest <= kMaxWhole;
  if (rounds || (out.closeness == Closeness::whole && !whole)) out.closeness = Closeness::bounded;
}

Status set_region(const Problem& p, const std::vector<const Tensor*>& inputs, ExpectedOutput& out) {
  if (is_sampled_region(p)) {
    TRY(const SampledRegion sampled, sampled_region(p, Widened(inputs).inputs, out.elements));
    set_values(sampled.values, out);
    settle_region(sampled.rounds, sampled.largest_inner, out);
    return {};
  }
  TRY(const RegionResult result, region_result(p, inputs));
  out.values = pick(result.values, out.elements);
  if (out.values.type() != DataType::float64) return {};
  const auto magnitudes = result.magnitudes.data<float>();
  for (const int64_t e : out.elements)
    out.magnitudes.push_back(static_cast<double>(magnitudes[static_cast<size_t>(e)]));
  settle_region(result.rounds, result.largest_inner, out);
  return {};
}

// Of a region those of its longest sum.
int64_t terms_in(const Problem& p) {
  int64_t terms = 1;
  for (const RegionPart& part : operators_of(p)) terms = std::max(terms, terms_of(part.problem));
  return terms;
}

// Some of the output's elements; of a region all, where they are not too many products.
std::vector<int64_t> compared_elements(const Problem& p, size_t output, Coverage coverage,
                                       uint64_t seed) {
  const Dims& dims = p.outputs[output].type.dims;
  if (is_region(p) && !is_sampled_region(p)) return sample_elements(dims, volume(dims), seed);
  const auto count = std::max(coverage.elements, coverage.terms / terms_in(p));
  return sample_elements(dims, count, seed);
}

}  // namespace

bool is_sampled(const Problem& problem) {
  if (is_region(problem)) return is_sampled_region(problem);
  const bool sums = is_product_sum(problem) || is_one_of<Attention>(problem);
  return sums && is_floating(problem.outputs[0].type.type);
}

bool is_exact_on_integers(const Problem& p) {
  if (is_region(p)) {
    const std::vector<RegionPart> parts = operators_of(p);
    return std::all_of(parts.begin(), parts.end(),
                       [](const RegionPart& part) { return is_exact_on_integers(part.problem); });
  }
  const bool exact = adds_and_multiplies(p.op) || selects(p.op);
  return exact && terms_of(p) <= kMaxExactTerms && epilogue_is_exact_on_integers(p);
}

Result<std::vector<ExpectedOutput>> expected_outputs(const Problem& problem, const ProbeData& data,
                                                     Resolution resolution, Coverage coverage) {
  std::vector<ExpectedOutput> out(problem.outputs.size());
  for (size_t k = 0; k < out.size(); ++k) {
    out[k].elements = compared_elements(problem, k, coverage, data.spec().seed);
    out[k].closeness = closeness_of(problem, k, data.spec().kind);
  }
  const std::vector<const Tensor*> inputs = data.values(resolution);
  if (is_region(problem)) {
    CHECK_OK(set_region(problem, inputs, out[0]));
  } else if (is_sampled(problem)) {
    set_values(sampled_products(problem, Widened(inputs).inputs, out[0].elements), out[0]);
  } else {
    CHECK_OK(set_in_full(problem, inputs, out));
  }
  for (ExpectedOutput& o : out) {
    if (o.values.type() != DataType::float64) continue;
    const auto values = o.values.data<double>();
    o.nans = std::count_if(values.begin(), values.end(), [](double v) { return std::isnan(v); });
  }
  return out;
}

bool is_mostly_nan(const ExpectedOutput& output) {
  return 2 * output.nans > static_cast<int64_t>(output.elements.size());
}

ProbeSpec usable_draw(const Problem& problem, ProbeSpec spec, Coverage coverage) {
  constexpr int kDraws = 8;             // of its kind, then as many symmetric ones
  constexpr uint64_t kApart = 1 << 20;  // from the seeds of other probes
  if (!computes_what_has_a_domain(problem)) return spec;
  for (int draw = 0; draw < 2 * kDraws; ++draw) {
    const ProbeSpec drawn{draw < kDraws ? spec.kind : ProbeKind::symmetric,
                          spec.seed + static_cast<uint64_t>(draw) * kApart};
    const ProbeData data(problem, drawn);
    const auto expected = expected_outputs(problem, data, Resolution::full, coverage);
    if (!expected.ok()) break;
    if (std::ranges::none_of(*expected, is_mostly_nan)) return drawn;
  }
  return spec;
}

}  // namespace enginery
