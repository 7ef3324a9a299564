#include "tuner/gate/probe_data.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <random>

#include "engine/base/parallel.h"
#include "tuner/gate/domain.h"

namespace enginery {
namespace {

constexpr double kDecades = 3;       // of the wide probe
constexpr double kLargestWhole = 2;  // of factors of a sum: its result is a whole number below 2^11
constexpr double kLargestAlone = 8;  // of other inputs
constexpr int64_t kPiece = 1 << 18;
constexpr int64_t kBetweenSpecials = 7;
// Larger tensors repeat their first elements: drawing all would take longer than launching on them.
// A prime, so that no row, plane or image of theirs is like another one.
constexpr int64_t kDrawn = 16777213;

using Draw = std::function<float(std::mt19937_64&)>;

// Weights shrink with the number of terms that are summed, so that results stay near one.
double scale_of(const Problem& problem, size_t index) {
  const bool weights = index == 1 && is_product_sum(problem);
  return weights ? std::sqrt(3.0 / static_cast<double>(terms_of(problem))) : 1;
}

float away_from_zero(const Domain& domain, double v) {
  if (std::abs(v) >= domain.apart_from_zero) return static_cast<float>(v);
  return static_cast<float>(v < 0 && domain.low < 0 ? -domain.apart_from_zero
                                                    : domain.apart_from_zero);
}

Draw symmetric(const Domain& domain, double scale) {
  return [=](std::mt19937_64& random) {
    return away_from_zero(
        domain, scale * std::uniform_real_distribution<double>(domain.low, domain.high)(random));
  };
}

// Logarithmically even between the domain's largest number and three decades below, or its least.
Draw wide(const Domain& domain) {
  const double least =
      std::max({domain.low, domain.apart_from_zero, domain.high * std::pow(10, -kDecades)});
  const double span = std::log(domain.high / least);
  return [=](std::mt19937_64& random) {
    return static_cast<float>(
        least * std::exp(span * std::uniform_real_distribution<double>(0, 1)(random)));
  };
}

// `factor`: never 0, which would hide a product that is left out.
Draw whole(const Domain& domain, double largest, bool factor) {
  const double low = std::ceil(std::max(domain.low, -largest)),
               high = std::floor(std::min(domain.high, largest));
  if (high - low < 1) return symmetric(domain, 1);
  return [=](std::mt19937_64& random) {
    const double drawn =
        std::round(std::uniform_real_distribution<double>(low - 0.499, high + 0.499)(random));
    if (factor && drawn == 0) return high >= 1 && (low > -1 || random() % 2 == 0) ? 1.0f : -1.0f;
    return away_from_zero(domain, drawn);
  };
}

Draw draw_of(const Problem& problem, size_t index, ProbeKind kind) {
  const Domain domain = float_domain(problem, index);
  const bool factor = index < 2 && terms_of(problem) > 1;
  switch (kind) {
    case ProbeKind::symmetric:
      return symmetric(domain, scale_of(problem, index));
    case ProbeKind::wide:
      return wide(domain);
    case ProbeKind::integers: {
      // An operator of one narrow domain has few whole numbers: the others take what they can.
      Domain room = domain;
      if (domain.low == -1 && domain.high == 1) room = {-kLargestAlone, kLargestAlone};
      return whole(room, factor ? kLargestWhole : kLargestAlone, factor);
    }
  }
  return symmetric(domain, 1);
}

// Each piece has a generator of its own: the values do not depend on how many threads there are.
template <typename T, typename F>
void fill(std::span<T> values, uint64_t seed, const F& draw) {
  const auto size = static_cast<int64_t>(values.size()), drawn = std::min(size, kDrawn);
  parallel_ranges(drawn, kPiece, [&](int64_t begin, int64_t end) {
    std::mt19937_64 random(seed + static_cast<uint64_t>(begin / kPiece) * 0x9e3779b97f4a7c15);
    for (int64_t i = begin; i < end; ++i) values[static_cast<size_t>(i)] = draw(random);
  });
  parallel_ranges(size - drawn, kPiece, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      values[static_cast<size_t>(drawn + i)] = values[static_cast<size_t>(i % drawn)];
  });
}

template <typename T>
Tensor whole_tensor(const TensorType& type, uint64_t seed, int64_t low, int64_t high) {
  Tensor out(type.type, type.dims);
  fill(out.mutable_data<T>(), seed, [=](std::mt19937_64& random) {
    return static_cast<T>(std::uniform_int_distribution<int64_t>(low, high)(random));
  });
  return out;
}

void add_specials(std::span<float> values) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const float specials[] = {std::numeric_limits<float>::quiet_NaN(), kInf, -kInf};
  size_t next = 0;
  for (size_t i = 0; i < values.size(); i += kBetweenSpecials) values[i] = specials[next++ % 3];
}

Tensor whole_numbers(const Problem& problem, size_t index, uint64_t seed) {
  const TensorDesc& desc = problem.inputs[index];
  const Domain domain = integer_domain(problem, index);
  const auto low = static_cast<int64_t>(domain.low), high = static_cast<int64_t>(domain.high);
  const TensorType& type = desc.type;
  if (type.type == DataType::int8) return whole_tensor<int8_t>(type, seed, low, high);
  if (type.type == DataType::uint8) return whole_tensor<uint8_t>(type, seed, low, high);
  const Tensor wide = whole_tensor<int64_t>({DataType::int64, type.dims}, seed, low, high);
  return convert(wide, type.type);
}

// The problem that says which values the input may take, and its place there: of a region the first
// operator that reads it.
std::pair<Problem, size_t> reader_of(const Problem& problem, size_t index) {
  if (!is_region(problem)) return {problem, index};
  for (RegionPart& part : operators_of(problem)) {
    const auto found =
        std::find(part.operands.begin(), part.operands.end(), static_cast<int>(index));
    if (found != part.operands.end())
      return {std::move(part.problem), static_cast<size_t>(found - part.operands.begin())};
  }
  return {problem, index};
}

// The scale that quantises a region's sums of products is in proportion to them, so that most
// results are within the bounds of the type: products of quantised numbers are about 30.
double result_scale(const Problem& region) {
  constexpr double kGrowth = 8;
  int64_t terms = 1;
  for (const RegionPart& part : operators_of(region))
    terms = std::max(terms, terms_of(part.problem));
  return terms > 1 ? kGrowth * std::sqrt(static_cast<double>(terms)) : 1;
}

Resolution held_by(DataType type) {
  if (type == DataType::float16) return Resolution::half;
  return type == DataType::bfloat16 ? Resolution::bfloat : Resolution::full;
}

Resolution promised_by(Precision precision) {
  switch (precision) {
    case Precision::fp32:
      return Resolution::full;
    case Precision::tf32:
    case Precision::fp16:
      return Resolution::half;
    case Precision::bf16:
    case Precision::int8:
      return Resolution::bfloat;
  }
  return Resolution::full;
}

Tensor rounded(const Tensor& t, Resolution resolution) {
  if (!is_floating(t.type()) || resolution == Resolution::full) return t;
  const DataType narrow = resolution == Resolution::half ? DataType::float16 : DataType::bfloat16;
  return convert(convert(t, narrow), t.type());
}

}  // namespace

std::string_view to_string(ProbeKind kind) {
  constexpr std::string_view kWords[] = {"symmetric", "wide", "integers"};
  return kWords[static_cast<size_t>(kind)];
}

Resolution resolution_of(const Problem& problem, const Tactic& tactic) {
  Resolution narrowest = promised_by(tactic.compute);
  for (size_t i = 0; i < tactic.inputs.size() && i < problem.inputs.size(); ++i) {
    const TensorDesc& desc = problem.inputs[i];
    if (desc.present && !desc.constant)
      narrowest = std::max(narrowest, held_by(tactic.inputs[i].type));
  }
  return narrowest;
}

Tensor probe_input(const Problem& problem, size_t index, ProbeSpec spec) {
  const TensorDesc& desc = problem.inputs[index];
  if (desc.value) return *desc.value;
  const uint64_t seed = (spec.seed * 3 + static_cast<uint64_t>(spec.kind)) * 1000003 + index;
  const auto [reader, operand] = reader_of(problem, index);
  if (!is_floating(desc.type.type)) return whole_numbers(reader, operand, seed);
  Tensor out(DataType::float32, desc.type.dims);
  fill(out.mutable_data<float>(), seed, draw_of(reader, operand, spec.kind));
  const bool of_anchor = index < static_cast<size_t>(problem.anchor_inputs);
  if (is_region(problem) && !of_anchor && is_one_of<Quantize>(reader) && operand == 1) {
    for (float& v : out.mutable_data<float>()) v *= static_cast<float>(result_scale(problem));
  }
  if (float_domain(reader, operand).specials) add_specials(out.mutable_data<float>());
  return convert(out, desc.type.type);
}

ProbeData::ProbeData(const Problem& problem, ProbeSpec spec) : problem_(problem), spec_(spec) {}

const std::vector<Tensor>& ProbeData::inputs(Resolution resolution) const {
  const std::lock_guard lock(mutex_);
  std::vector<Tensor>& full = inputs_[Resolution::full];
  for (size_t i = full.size(); i < problem_.inputs.size(); ++i)
    full.push_back(problem_.inputs[i].present ? probe_input(problem_, i, spec_) : Tensor());
  std::vector<Tensor>& out = inputs_[resolution];
  for (size_t i = out.size(); i < full.size(); ++i) out.push_back(rounded(full[i], resolution));
  return out;
}

std::vector<const Tensor*> ProbeData::values(Resolution resolution) const {
  const std::vector<Tensor>& tensors = inputs(resolution);
  std::vector<const Tensor*> out;
  for (size_t i = 0; i < tensors.size(); ++i)
    out.push_back(problem_.inputs[i].present ? &tensors[i] : nullptr);
  return out;
}

std::vector<const Tensor*> ProbeData::weights(Resolution resolution) const {
  std::vector<const Tensor*> out = values(resolution);
  for (size_t i = 0; i < out.size(); ++i) {
    if (!problem_.inputs[i].constant) out[i] = nullptr;
  }
  return out;
}

}  // namespace enginery
