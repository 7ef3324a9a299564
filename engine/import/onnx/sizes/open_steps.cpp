#include "engine/import/onnx/sizes/open_steps.h"

namespace enginery {

const Dims& OpenSteps::dims(ValueId v) const {
  static const Dims kNone;
  return v == kNoValue ? kNone : graph_.value(v).type.dims;
}

int64_t OpenSteps::size(ValueId v, int64_t axis) const {
  return v == kNoValue ? 0 : dims(v)[static_cast<size_t>(axis)];
}

DataType OpenSteps::type(ValueId v) const {
  return v == kNoValue ? DataType::float32 : graph_.value(v).type.type;
}

ValueId OpenSteps::ints(const std::vector<int64_t>& values) {
  return steps_.constant(Tensor::of<int64_t>({std::ssize(values)}, values));
}

ValueId OpenSteps::mask(ValueId v, int64_t axis) {
  if (v == kNoValue) return v;
  Dims shape(dims(v).size() - static_cast<size_t>(axis), 1);
  shape[0] = size(v, axis);
  const ValueId count = open_.count(v, axis);
  const ValueId out = steps_.add(Binary{BinaryKind::less}, {steps_.counting(shape), count});
  open_.add(out, {{{0, count}}, true});
  return out;
}

ValueId OpenSteps::masked(ValueId v, int64_t axis, ValueId fill) {
  return steps_.add(Where{}, {mask(v, axis), v, fill});
}

ValueId OpenSteps::masked(ValueId v, double fill) {
  const auto axes = open_.of(v).axes;
  for (const OpenAxis& a : axes) v = masked(v, a.axis, convert(Tensor::scalar(fill), type(v)));
  return v;
}

ValueId OpenSteps::closed(ValueId v) {
  if (open_.of(v).axes.empty()) return v;
  const ValueId out = steps_.add(Identity{}, {v});
  open_.remove(out);
  return out;
}

ValueId OpenSteps::sizes_of(ValueId v, int64_t start, int64_t end) {
  std::vector<ValueId> parts;
  for (int64_t axis = start; axis < end; ++axis) {
    const ValueId count = open_.count(v, axis);
    parts.push_back(count == kNoValue ? ints({size(v, axis)}) : as_vector(count));
  }
  return parts.size() == 1 ? parts[0] : steps_.add(Concat{0}, parts);
}

ValueId OpenSteps::from_actual_end(ValueId at, ValueId sizes) {
  const ValueId below = steps_.add(Binary{BinaryKind::less}, {at, scalar(0)});
  const ValueId from_end = steps_.add(Binary{BinaryKind::add}, {at, sizes});
  return steps_.add(Where{}, {below, from_end, at});
}

Status OpenSteps::require_sizes() const {
  for (size_t i = 0; i < inputs_.size(); ++i) {
    for (const OpenAxis& a : open_.of(inputs_[i]).axes) {
      if (size(inputs_[i], a.axis) < 0)
        return Error{ErrorCode::unsupported,
                     std::string(op_name(op_)) + ": the largest size of dimension " +
                         std::to_string(a.axis) + " of its input " + std::to_string(i) +
                         " is not known; give the inputs' sizes (--shapes)"};
    }
  }
  return {};
}

}  // namespace enginery
