#include "tuner/gate/sampled_region.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

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

// Whether it quantises what the region reads: that is computed in full, as Dequantize is.
bool is_first_quantize(std::span<const RegionPart> parts, const RegionPart& part) {
  return &part == parts.data() && is_one_of<Quantize>(part.problem);
}

// The product among the parts; null where there is none, or a second one, or another operator.
const RegionPart* only_product(std::span<const RegionPart> parts) {
  const RegionPart* found = nullptr;
  for (const RegionPart& part : parts) {
    const Problem& p = part.problem;
    const bool last = &part == &parts.back();
    if (is_product_sum(p)) {
      if (found) return nullptr;
      found = &part;
    } else if (is_one_of<Dequantize>(p) || is_first_quantize(parts, part)) {
      if (last) return nullptr;
    } else if (!found ||
               !(is_sum(p) || is_one_of<Activation>(p) || (last && is_plain_quantize(p)))) {
      return nullptr;
    }
  }
  return found;
}

// The parts in front of a pooling at the end, or all.
std::span<const RegionPart> parts_to_walk(const Problem& problem,
                                          const std::vector<RegionPart>& parts) {
  return std::span(parts).first(parts.size() - (is_pooled(problem) ? 1 : 0));
}

// The elements of a pooling's input that its windows have, one window after the other.
struct Windows {
  std::vector<int64_t> elements;
  std::vector<size_t> ends;  // of each window
};
Windows windows_of(const RegionPart& part, const std::vector<int64_t>& elements) {
  const auto& pool = std::get<Pooling>(part.problem.op);
  const Dims &x = input_dims(part.problem, 0), &y = output_dims(part.problem);
  Windows out;
  for (const int64_t element : elements) {
    const std::vector<int64_t> at = coordinates_of(element, y);
    for (int64_t tap = 0; tap < volume(pool.kernel); ++tap) {
      const std::vector<int64_t> of_window = coordinates_of(tap, pool.kernel);
      int64_t index = at[0] * x[1] + at[1];
      bool inside = true;
      for (size_t d = 0; d < of_window.size(); ++d) {
        const int64_t place =
            at[d + 2] * pool.strides[d] - pool.pads_begin[d] + of_window[d] * pool.dilations[d];
        inside = inside && place >= 0 && place < x[d + 2];
        index = index * x[d + 2] + place;
      }
      if (inside) out.elements.push_back(index);
    }
    out.ends.push_back(out.elements.size());
  }
  return out;
}

// The largest value of each window, and its largest magnitude.
std::vector<SampledValue> largest_of(const Windows& windows,
                                     const std::vector<SampledValue>& values) {
  std::vector<SampledValue> out;
  size_t begin = 0;
  for (const size_t end : windows.ends) {
    SampledValue most{-std::numeric_limits<double>::infinity(), 0};
    for (size_t i = begin; i < end; ++i)
      most = {std::max(most.value, values[i].value), std::max(most.magnitude, values[i].magnitude)};
    out.push_back(most);
    begin = end;
  }
  return out;
}

// Evaluates the parts in order: tensors up to the product, single elements from there on.
class Walk {
 public:
  // `dims`: of what the last part gives.
  Walk(const Dims& dims, const std::vector<const Tensor*>& inputs,
       const std::vector<int64_t>& elements)
      : inputs_(inputs), elements_(elements), dims_(dims) {}

  Result<SampledRegion> run(std::span<const RegionPart> parts) {
    tensors_.resize(parts.size());
    for (size_t k = 0; k < parts.size(); ++k) {
      const Problem& p = parts[k].problem;
      if (is_one_of<Dequantize>(p) || is_first_quantize(parts, parts[k])) {
        TRY(auto results, run_reference(p.op, operands_of(parts[k])));
        tensors_[k] = std::move(results[0]);
      } else if (is_product_sum(p)) {
        out_.values = sampled_products(p, operands_of(parts[k]), elements_);
      } else if (is_sum(p)) {
        add(parts[k]);
      } else if (const auto* activation = std::get_if<Activation>(&p.op)) {
        for (SampledValue& v : out_.values) v = activated(*activation, v);
      } else {
        quantize(parts[k]);
      }
      if (k + 1 < parts.size()) note_largest();
    }
    return std::move(out_);
  }

 private:
  // Null for the elements that flow from part to part.
  const Tensor* tensor_of(int operand) const {
    if (operand < 0) return nullptr;
    const auto at = static_cast<size_t>(operand);
    if (at < inputs_.size()) return inputs_[at];
    const Tensor& t = tensors_[at - inputs_.size()];
    return t.size() > 0 ? &t : nullptr;
  }
  std::vector<const Tensor*> operands_of(const RegionPart& part) const {
    std::vector<const Tensor*> out;
    for (const int operand : part.operands) out.push_back(tensor_of(operand));
    return out;
  }

  void add(const RegionPart& part) {
    const std::vector<const Tensor*> operands = operands_of(part);
    const Tensor& addend = *(operands[0] ? operands[0] : operands[1]);
    const auto values = addend.data<float>();
    for (size_t i = 0; i < elements_.size(); ++i) {
      const auto at = broadcast_index(addend.dims(), coordinates_of(elements_[i], dims_));
      const double u = values[at];
      out_.values[i] = {out_.values[i].value + u, out_.values[i].magnitude + std::abs(u)};
    }
  }

  void quantize(const RegionPart& part) {
    const std::vector<const Tensor*> operands = operands_of(part);
    const double scale = operands[1]->data<float>()[0];
    const bool offset = operands.size() > 2 && operands[2];
    const double zero = offset ? static_cast<double>(to_int64s(*operands[2])[0]) : 0;
    const bool negative = std::get<Quantize>(part.problem.op).to == DataType::int8;
    for (SampledValue& v : out_.values) {
      v.value =
          std::clamp<double>(v.value / scale + zero, negative ? -128 : 0, negative ? 127 : 255);
      v.magnitude = v.magnitude / std::abs(scale) + std::abs(zero);
    }
    out_.rounds = true;
  }

  void note_largest() {
    for (const SampledValue& v : out_.values)
      if (std::isfinite(v.magnitude))
        out_.largest_inner = std::max(out_.largest_inner, v.magnitude);
  }

  const std::vector<const Tensor*>& inputs_;
  const std::vector<int64_t>& elements_;
  const Dims& dims_;
  std::vector<Tensor> tensors_;  // what Dequantize gave, by part
  SampledRegion out_;
};

}  // namespace

bool is_sampled_region(const Problem& problem) {
  if (!is_region(problem) || !(is_one_of<Dequantize>(problem) || is_pooled(problem))) return false;
  const std::vector<RegionPart> parts = operators_of(problem);
  const RegionPart* product = only_product(parts_to_walk(problem, parts));
  return product && terms_of(product->problem) >
                        kMaxTermsInFull / std::max<int64_t>(volume(output_dims(problem)), 1);
}

Result<SampledRegion> sampled_region(const Problem& problem,
                                     const std::vector<const Tensor*>& inputs,
                                     const std::vector<int64_t>& elements) {
  const std::vector<RegionPart> parts = operators_of(problem);
  const std::span<const RegionPart> walked = parts_to_walk(problem, parts);
  const Dims& dims = output_dims(walked.back().problem);
  if (!is_pooled(problem)) return Walk(dims, inputs, elements).run(walked);
  const Windows windows = windows_of(parts.back(), elements);
  TRY(SampledRegion out, Walk(dims, inputs, windows.elements).run(walked));
  out.values = largest_of(windows, out.values);
  return out;
}

}  // namespace enginery
