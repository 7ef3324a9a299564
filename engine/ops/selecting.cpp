#include "engine/ops/selecting.h"

#include <algorithm>
#include <numeric>

#include "engine/ops/support.h"

namespace enginery {
namespace {

const TensorType kCountType{DataType::int64, {}};

int64_t clamped_count(const Tensor& count, int64_t most) {
  return std::clamp<int64_t>(to_int64s(count)[0], 0, most);
}

Status require_count(std::string_view op, const Operand& o) {
  if (o.type.type == DataType::int64 && (!is_static(o.type.dims) || volume(o.type.dims) == 1))
    return {};
  return rule_error(op, "expected a count as one int64, got " + to_string(o.type));
}

// ---- non-maximum suppression

struct Box {
  float left, top, right, bottom;
};

Box box_of(const float* b, bool centers) {
  if (centers) return {b[0] - b[2] / 2, b[1] - b[3] / 2, b[0] + b[2] / 2, b[1] + b[3] / 2};
  const auto [top, bottom] = std::minmax(b[0], b[2]);
  const auto [left, right] = std::minmax(b[1], b[3]);
  return {left, top, right, bottom};
}

float area(const Box& b) {
  return (b.right - b.left) * (b.bottom - b.top);
}

bool overlap(const Box& a, const Box& b, float largest) {
  const float width = std::min(a.right, b.right) - std::max(a.left, b.left),
              height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
  if (!(width > 0 && height > 0 && area(a) > 0 && area(b) > 0)) return false;
  const float both = width * height;
  return both / (area(a) + area(b) - both) > largest;
}

struct Selection {
  int64_t boxes = 0, most = 0;  // of one class
  float overlap = 0;
  const float* least_score = nullptr;
  bool centers = false;
};

float float_input(ReferenceInputs in, size_t i, float otherwise) {
  const Tensor* t = given(in, i);
  return t ? elements<float>(*t)[0] : otherwise;
}

// The boxes of one class that stay, best first.
std::vector<int64_t> select(const float* boxes, const float* scores, const Selection& rule) {
  std::vector<int64_t> order, kept;
  for (int64_t i = 0; i < rule.boxes; ++i) {
    if (!rule.least_score || scores[i] > *rule.least_score) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](int64_t i, int64_t j) {
    return scores[i] == scores[i] && (scores[j] != scores[j] || scores[i] > scores[j]);
  });
  std::vector<Box> stay;
  for (const int64_t i : order) {
    if (std::ssize(kept) == rule.most) break;
    const Box box = box_of(boxes + 4 * i, rule.centers);
    const bool hidden = std::any_of(stay.begin(), stay.end(),
                                    [&](const Box& b) { return overlap(b, box, rule.overlap); });
    if (hidden) continue;
    stay.push_back(box);
    kept.push_back(i);
  }
  return kept;
}

// The most boxes of one class; nothing where that is known at run time alone.
std::optional<int64_t> most_boxes(Operands in) {
  if (!has(in, 2)) return 0;
  const auto given = constant_ints(in, 2);
  if (!given) return std::nullopt;
  return (*given)[0];
}

Status check_boxes(Operands in) {
  const std::string_view name = NonMaxSuppression::kName;
  CHECK_OK(require_inputs(name, in, 2, 6));
  for (const size_t i : std::initializer_list<size_t>{0, 1, 3, 4}) {
    if (has(in, i) && in[i].type.type != DataType::float32)
      return rule_error(name, "expected float32, got " + to_string(in[i].type));
  }
  const Dims &boxes = in[0].type.dims, &scores = in[1].type.dims;
  if (boxes.size() != 3 || scores.size() != 3 || (boxes[2] >= 0 && boxes[2] != 4) ||
      !merge_sizes(boxes[0], scores[0]) || !merge_sizes(boxes[1], scores[2])) {
    return rule_error(name, "expected boxes [B, N, 4] and scores [B, C, N], got " +
                                to_string(in[0].type) + " and " + to_string(in[1].type));
  }
  for (const size_t i : std::initializer_list<size_t>{2, 3, 4}) {
    if (has(in, i) && is_static(in[i].type.dims) && volume(in[i].type.dims) != 1)
      return rule_error(name, "expected one number, got " + to_string(in[i].type));
  }
  if (has(in, 2) && in[2].type.type != DataType::int64)
    return rule_error(name, "expected the most boxes as int64, got " + to_string(in[2].type));
  return has(in, 5) ? require_count(name, in[5]) : Status();
}

}  // namespace

InferredTypes infer(const FindNonZero&, Operands in) {
  CHECK_OK(require_inputs(FindNonZero::kName, in, 1, 1));
  const Dims& dims = in[0].type.dims;
  return std::vector<TensorType>{
      {DataType::int64, {static_cast<int64_t>(dims.size()), product_of(dims)}}, kCountType};
}

Status reference(const FindNonZero&, ReferenceInputs in, ReferenceOutputs out) {
  const Tensor flags = convert(*in[0], DataType::boolean);
  const Dims strides = strides_of(in[0]->dims());
  int64_t* y = elements<int64_t>(out[0]);
  std::fill_n(y, out[0].size(), 0);
  int64_t found = 0;
  for (int64_t i = 0; i < flags.size(); ++i) {
    if (!elements<uint8_t>(flags)[i]) continue;
    int64_t rest = i;
    for (size_t d = 0; d < strides.size(); ++d) {
      y[static_cast<int64_t>(d) * flags.size() + found] = rest / strides[d];
      rest %= strides[d];
    }
    ++found;
  }
  elements<int64_t>(out[1])[0] = found;
  return {};
}

InferredTypes infer(const NonMaxSuppression&, Operands in) {
  CHECK_OK(check_boxes(in));
  const Dims &boxes = in[0].type.dims, &scores = in[1].type.dims;
  const std::optional<int64_t> most = most_boxes(in);
  if (most && *most < 0)
    return rule_error(NonMaxSuppression::kName,
                      "expected a number of boxes, got " + std::to_string(*most));
  const int64_t count = *merge_sizes(boxes[1], scores[2]);
  const int64_t each = !most       ? count
                       : count < 0 ? (*most == 0 ? 0 : kDynamic)
                                   : std::min(*most, count);
  const int64_t rows =
      product_of(std::vector<int64_t>{*merge_sizes(boxes[0], scores[0]), scores[1], each});
  return std::vector<TensorType>{{DataType::int64, {rows, 3}}, kCountType};
}

Status reference(const NonMaxSuppression& op, ReferenceInputs in, ReferenceOutputs out) {
  const int64_t batches = in[1]->dims()[0], classes = in[1]->dims()[1], boxes = in[1]->dims()[2];
  const Tensor *most = given(in, 2), *least = given(in, 4), *count = given(in, 5);
  Selection rule;
  rule.most = most ? to_int64s(*most)[0] : 0;
  if (rule.most < 0)
    return rule_error(NonMaxSuppression::kName,
                      "expected a number of boxes, got " + std::to_string(rule.most));
  rule.overlap = float_input(in, 3, 0);
  rule.least_score = least ? elements<float>(*least) : nullptr;
  rule.boxes = count ? clamped_count(*count, boxes) : boxes;
  rule.centers = op.centers;
  int64_t* y = elements<int64_t>(out[0]);
  std::fill_n(y, out[0].size(), 0);
  int64_t found = 0;
  for (int64_t b = 0; b < batches; ++b) {
    for (int64_t c = 0; c < classes; ++c) {
      const float* scores = elements<float>(*in[1]) + (b * classes + c) * boxes;
      for (const int64_t box : select(elements<float>(*in[0]) + b * boxes * 4, scores, rule)) {
        const int64_t row[] = {b, c, box};
        std::copy_n(row, 3, y + 3 * found++);
      }
    }
  }
  elements<int64_t>(out[1])[0] = found;
  return {};
}

InferredTypes infer(const Compact& op, Operands in) {
  const std::string_view name = Compact::kName;
  CHECK_OK(require_inputs(name, in, 1 + op.axes.size(), 1 + op.axes.size()));
  const auto rank = static_cast<int64_t>(in[0].type.dims.size());
  for (size_t i = 0; i < op.axes.size(); ++i) {
    if (op.axes[i] < (i > 0 ? op.axes[i - 1] + 1 : 0) || op.axes[i] >= rank)
      return rule_error(
          name, "expected rising axes of " + to_string(in[0].type) + ", got " + ints_text(op.axes));
    CHECK_OK(require_count(name, in[1 + i]));
  }
  return std::vector<TensorType>{in[0].type};
}

Status reference(const Compact& op, ReferenceInputs in, ReferenceOutputs out) {
  Dims kept = in[0]->dims();
  for (size_t i = 0; i < op.axes.size(); ++i) {
    int64_t& size = kept[static_cast<size_t>(op.axes[i])];
    size = clamped_count(*in[1 + i], size);
  }
  std::fill_n(static_cast<std::byte*>(out[0].mutable_bytes()), out[0].bytes(), std::byte{0});
  with_element_bytes(in[0]->type(), [&](auto element) {
    using T = decltype(element);
    T* y = elements<T>(out[0]);
    for_each_mapped(kept, strides_of(in[0]->dims()),
                    [&](int64_t i, int64_t j) { y[i] = elements<T>(*in[0])[j]; });
  });
  return {};
}

}  // namespace enginery
