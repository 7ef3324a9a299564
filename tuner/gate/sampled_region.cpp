#include "tuner/gate/sampled_region.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/tactics/region.h"
#include "engine/tactics/shapes/pooled_conv.h"
#include "tuner/gate/domain.h"
#include "tuner/gate/region_result.h"

namespace enginery {
namespace {

// What a whole reference in double computes in a moment.
constexpr int64_t kMaxTermsInFull = int64_t{1} << 25;

bool is_sum(const Problem& p) {
  const auto* binary = std::get_if<Binary>(&p.op);
  return binary && binary->kind == BinaryKind::add;
}

// What a part gives: a tensor, some of the elements in float, or those rounded to 8 bits.
enum class Given { nothing, tensor, elements, rounded };

// What the parts give, as far as they are of those that a Walk knows.
class Forms {
 public:
  Forms(const std::vector<RegionPart>& parts, size_t inputs) : inputs_(inputs) {
    for (const RegionPart& part : parts) {
      given_.push_back(of(part, &part == &parts.back()));
      if (given_.back() == Given::nothing) return;
    }
  }
  bool known() const { return given_.back() == Given::elements || given_.back() == Given::rounded; }

 private:
  Given operand(const RegionPart& part, size_t i) const {
    if (i >= part.operands.size() || part.operands[i] < 0) return Given::nothing;
    const auto at = static_cast<size_t>(part.operands[i]);
    return at < inputs_ ? Given::tensor : given_[at - inputs_];
  }
  bool all_tensors(const RegionPart& part, size_t from = 0) const {
    for (size_t i = from; i < part.operands.size(); ++i)
      if (part.operands[i] >= 0 && operand(part, i) != Given::tensor) return false;
    return true;
  }
  Given of(const RegionPart& part, bool last) const {
    const Problem& p = part.problem;
    const Given first = operand(part, 0);
    if (is_one_of<Dequantize>(p)) {
      if (last || !all_tensors(part, 1)) return Given::nothing;
      return first == Given::rounded ? Given::elements : first;
    }
    if (is_product_sum(p)) return all_tensors(part) ? Given::elements : Given::nothing;
    if (is_sum(p)) {
      const Given second = operand(part, 1);
      const auto fits = [](Given g) { return g == Given::tensor || g == Given::elements; };
      const bool flows = first == Given::elements || second == Given::elements;
      return fits(first) && fits(second) && flows ? Given::elements : Given::nothing;
    }
    if (is_one_of<Activation>(p)) return first == Given::elements ? first : Given::nothing;
    if (is_one_of<Quantize>(p) && first == Given::tensor) return last ? Given::nothing : first;
    if (is_plain_quantize(p)) return first == Given::elements ? Given::rounded : Given::nothing;
    return last && is_max_pool(p.op) && first != Given::tensor ? first : Given::nothing;
  }

  size_t inputs_;
  std::vector<Given> given_;
};

// Where the elements lie that are computed: those that are asked for, or all of the windows that
// max pooling makes them of.
struct Places {
  Dims dims;
  std::vector<int64_t> elements;
  std::vector<size_t> ends;  // of each window; empty where nothing is pooled
};

// The elements of dimension i and further ones in the window at `at`, in front of them `element`.
void add_window(const Pooling& op, const Dims& dims, const std::vector<int64_t>& at, size_t i,
                int64_t element, std::vector<int64_t>& out) {
  if (i == dims.size()) {
    out.push_back(element);
    return;
  }
  const size_t spatial = i - std::min<size_t>(i, 2);
  const int64_t taps = i < 2 ? 1 : op.kernel[spatial];
  for (int64_t tap = 0; tap < taps; ++tap) {
    const int64_t x =
        i < 2 ? at[i]
              : at[i] * op.strides[spatial] - op.pads_begin[spatial] + tap * op.dilations[spatial];
    if (x >= 0 && x < dims[i]) add_window(op, dims, at, i + 1, element * dims[i] + x, out);
  }
}

Places places_of(const Problem& problem, const std::vector<RegionPart>& parts,
                 const std::vector<int64_t>& elements) {
  const Problem& last = parts.back().problem;
  if (!is_max_pool(last.op)) return {output_dims(problem), elements, {}};
  Places out{input_dims(last, 0), {}, {}};
  for (const int64_t e : elements) {
    add_window(std::get<Pooling>(last.op), out.dims, coordinates_of(e, output_dims(problem)), 0, 0,
               out.elements);
    out.ends.push_back(out.elements.size());
  }
  return out;
}

// Evaluates the parts in order: tensors up to the products, single elements from there on.
class Walk {
 public:
  Walk(const std::vector<RegionPart>& parts, const std::vector<const Tensor*>& inputs,
       Places places)
      : parts_(parts), inputs_(inputs), places_(std::move(places)) {}

  Result<SampledRegion> run() {
    tensors_.resize(parts_.size());
    flows_.resize(parts_.size());
    const bool pools = !places_.ends.empty();
    for (size_t k = 0; k < parts_.size(); ++k) {
      const bool at_end = k + (pools ? 2 : 1) >= parts_.size();
      CHECK_OK(evaluate(k, at_end));
      if (k + 1 < parts_.size()) note_largest(flows_[k]);
    }
    out_.values = std::move(flows_.back());
    return std::move(out_);
  }

 private:
  using Flow = std::vector<SampledValue>;

  Status evaluate(size_t k, bool at_end) {
    const RegionPart& part = parts_[k];
    const Problem& p = part.problem;
    const Flow* first = flow_of(part.operands[0]);
    if (is_one_of<Quantize, Dequantize>(p) && !first) {
      TRY(auto results, run_reference(p.op, operands_of(part)));
      tensors_[k] = std::move(results[0]);
    } else if (is_one_of<Dequantize>(p)) {
      flows_[k] = dequantized(part, *first);
    } else if (is_product_sum(p)) {
      flows_[k] = sampled_products(p, operands_of(part), places_.elements);
    } else if (is_sum(p)) {
      flows_[k] = sum(part);
    } else if (const auto* activation = std::get_if<Activation>(&p.op)) {
      flows_[k] = *first;
      for (SampledValue& v : flows_[k]) v = activated(*activation, v);
    } else if (is_plain_quantize(p)) {
      flows_[k] = quantized(part, at_end);
      out_.rounds = at_end;
    } else {
      flows_[k] = pooled(*first);
    }
    return {};
  }

  const Tensor* tensor_of(int operand) const {
    if (operand < 0) return nullptr;
    const auto at = static_cast<size_t>(operand);
    if (at < inputs_.size()) return inputs_[at];
    const Tensor& t = tensors_[at - inputs_.size()];
    return t.size() > 0 ? &t : nullptr;
  }
  const Flow* flow_of(int operand) const {
    const auto at = static_cast<size_t>(operand);
    if (operand < 0 || at < inputs_.size()) return nullptr;
    const Flow& flow = flows_[at - inputs_.size()];
    return flow.empty() ? nullptr : &flow;
  }
  std::vector<const Tensor*> operands_of(const RegionPart& part) const {
    std::vector<const Tensor*> out;
    for (const int operand : part.operands) out.push_back(tensor_of(operand));
    return out;
  }

  // A tensor's elements where those that flow lie, or those that flow.
  Flow elements_of(int operand) const {
    if (const Flow* flow = flow_of(operand)) return *flow;
    const Tensor& t = *tensor_of(operand);
    const auto values = t.data<float>();
    Flow out;
    for (const int64_t e : places_.elements) {
      const double u = values[broadcast_index(t.dims(), coordinates_of(e, places_.dims))];
      out.push_back({u, std::abs(u)});
    }
    return out;
  }

  Flow sum(const RegionPart& part) const {
    Flow out = elements_of(part.operands[0]);
    const Flow other = elements_of(part.operands[1]);
    for (size_t i = 0; i < out.size(); ++i)
      out[i] = {out[i].value + other[i].value, out[i].magnitude + other[i].magnitude};
    return out;
  }

  // `at_end`: not rounded yet.
  Flow quantized(const RegionPart& part, bool at_end) const {
    const OneScale by = one_scale_of(operands_of(part));
    const DataType to = std::get<Quantize>(part.problem.op).to;
    Flow out = *flow_of(part.operands[0]);
    for (SampledValue& v : out) {
      v = quotient_of(v, by, to);
      if (!at_end) v = rounded_inside(v);
    }
    return out;
  }

  Flow dequantized(const RegionPart& part, const Flow& rounded) const {
    const OneScale by = one_scale_of(operands_of(part));
    Flow out = rounded;
    for (SampledValue& v : out) {
      const double y = (v.value - by.zero) * by.scale;
      v = {y, std::isfinite(v.magnitude) ? std::abs(y) : v.magnitude};
    }
    return out;
  }

  Flow pooled(const Flow& from) const {
    Flow out;
    size_t i = 0;
    for (const size_t end : places_.ends) {
      SampledValue most{-std::numeric_limits<double>::infinity(), 0};
      for (; i < end; ++i) {
        most.value = std::max(most.value, from[i].value);
        most.magnitude = std::max(most.magnitude, from[i].magnitude);
      }
      out.push_back(most);
    }
    return out;
  }

  void note_largest(const Flow& flow) {
    for (const SampledValue& v : flow)
      if (std::isfinite(v.magnitude))
        out_.largest_inner = std::max(out_.largest_inner, v.magnitude);
  }

  const std::vector<RegionPart>& parts_;
  const std::vector<const Tensor*>& inputs_;
  const Places places_;
  std::vector<Tensor> tensors_;  // what Dequantize gave, by part
  std::vector<Flow> flows_;      // elements, by part
  SampledRegion out_;
};

}  // namespace

bool is_sampled_region(const Problem& problem) {
  if (!is_region(problem)) return false;
  const std::vector<RegionPart> parts = operators_of(problem);
  if (!Forms(parts, problem.inputs.size()).known()) return false;
  int64_t terms = 0, elements = 1;
  for (const RegionPart& part : parts) {
    if (!is_product_sum(part.problem)) continue;
    terms += terms_of(part.problem);
    elements = std::max(elements, volume(output_dims(part.problem)));
  }
  return terms > kMaxTermsInFull / elements;
}

Result<SampledRegion> sampled_region(const Problem& problem,
                                     const std::vector<const Tensor*>& inputs,
                                     const std::vector<int64_t>& elements) {
  const std::vector<RegionPart> parts = operators_of(problem);
  return Walk(parts, inputs, places_of(problem, parts, elements)).run();
}

}  // namespace enginery
