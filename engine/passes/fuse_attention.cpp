#include "engine/passes/fuse_attention.h"

#include <algorithm>
#include <cmath>

#include "engine/passes/matrix_view.h"
#include "engine/passes/pattern_matcher.h"

namespace enginery {
namespace {

// scale * a b, `choice` where it hides, plus the addend: what softmax reads.
struct Scores {
  ValueId a = kNoValue, b = kNoValue;
  float scale = 1;
  ValueId choice = kNoValue, addend = kNoValue;
  bool hides = false;
  float blank = -std::numeric_limits<float>::infinity();
};

// Reads the scores backwards; each step has one reader and keeps the type.
class ScoresReader {
 public:
  ScoresReader(const Graph& graph, const Matcher& matcher) : graph_(graph), m_(matcher) {}

  std::optional<Scores> read(ValueId v) const {
    const Node* node = m_.private_producer(v);
    const Binary* binary = node ? std::get_if<Binary>(&node->op) : nullptr;
    if (binary && binary->kind == BinaryKind::add) {
      for (const size_t side : {0u, 1u}) {
        auto scores = keeps_type(v, node->inputs[side]) ? chosen(node->inputs[side]) : std::nullopt;
        if (!scores) continue;
        scores->addend = node->inputs[1 - side];
        return scores;
      }
    }
    return chosen(v);
  }

 private:
  bool keeps_type(ValueId v, ValueId from) const {
    return graph_.value(v).type == graph_.value(from).type;
  }

  std::optional<Scores> chosen(ValueId v) const {
    const Node* node = m_.private_producer(v);
    if (!node || !std::holds_alternative<Where>(node->op)) return scaled(v, 1);
    for (const size_t side : {1u, 2u}) {
      const auto blank = m_.scalar(node->inputs[3 - side]);
      if (!blank || !keeps_type(v, node->inputs[side])) continue;
      auto scores = scaled(node->inputs[side], 1);
      if (!scores) continue;
      scores->choice = node->inputs[0];
      scores->hides = side == 2;
      scores->blank = *blank;
      return scores;
    }
    return std::nullopt;
  }

  std::optional<Scores> scaled(ValueId v, float scale) const {
    const Node* node = m_.private_producer(v);
    if (!node) return std::nullopt;
    if (std::holds_alternative<MatMul>(node->op))
      return Scores{.a = node->inputs[0], .b = node->inputs[1], .scale = scale};
    const auto factor = factor_of(*node);
    if (!factor || !keeps_type(v, factor->other)) return std::nullopt;
    return scaled(factor->other, scale * factor->scalar);
  }

  // other * scalar, a quotient as the product with its inverse.
  std::optional<Matcher::WithScalar> factor_of(const Node& node) const {
    if (const auto product = m_.binary_with_scalar(&node, BinaryKind::mul)) return product;
    auto quotient = m_.binary_with_scalar(&node, BinaryKind::div);
    if (quotient) quotient->scalar = 1 / quotient->scalar;
    return quotient;
  }

  friend class OperandReader;
  const Graph& graph_;
  const Matcher& m_;
};

// Follows an operand to where its elements were before they were moved.
class OperandReader {
 public:
  OperandReader(const Graph& graph, const ScoresReader& scores) : graph_(graph), scores_(scores) {}

  // Of the views on the way, the farthest with columns side by side, else the farthest that is
  // simple. `scale`: takes the factors on the way, if there are any.
  std::optional<MatrixView> read(MatrixView view, float* scale) const {
    std::optional<MatrixView> best;
    float best_scale = 1, own = 1;
    for (std::optional<MatrixView> next = std::move(view); next; next = before(*next, scale, own)) {
      const bool side_by_side = next->column().stride == 1;
      if (!next->is_simple()) continue;
      if (best && best->column().stride == 1 && !side_by_side) continue;
      best = *next;
      best_scale = own;
    }
    if (scale) *scale *= best_scale;
    return best;
  }

 private:
  std::optional<MatrixView> before(const MatrixView& view, const float* scale, float& own) const {
    if (auto moved = before_move(graph_, view)) return moved;
    const Node* node = scores_.m_.producer(view.value);
    const auto factor = node && scale ? scores_.factor_of(*node) : std::nullopt;
    if (!factor || !scores_.keeps_type(view.value, factor->other)) return std::nullopt;
    own *= factor->scalar;
    MatrixView out = view;
    out.value = factor->other;
    return out;
  }

  const Graph& graph_;
  const ScoresReader& scores_;
};

// Rows become columns.
MatrixView turned(MatrixView view) {
  std::swap(view.axes[MatrixView::kRows], view.axes[MatrixView::kColumns]);
  return view;
}

// The product that alone reads a softmax's weights, as they are or with zeros in place of NaN.
struct WeightsUse {
  NodeId product = kNoNode;
  ValueId weights = kNoValue;  // as the product reads them
  bool nan_is_zero = false;
};

// The choice of `weights` or 0 by whether they are NaN, where nothing else reads them.
const Node* zeros_for_nan(const Graph& graph, const Matcher& matcher, ValueId weights) {
  const auto& readers = matcher.readers(weights);
  if (readers.size() != 2 || graph.is_output(weights)) return nullptr;
  for (const size_t i : {0u, 1u}) {
    const Node &test = graph.node(readers[i]), &choice = graph.node(readers[1 - i]);
    const Unary* unary = std::get_if<Unary>(&test.op);
    if (!unary || unary->kind != UnaryKind::is_nan || !std::holds_alternative<Where>(choice.op))
      continue;
    const bool is_guard = choice.inputs[0] == test.outputs[0] && choice.inputs[2] == weights &&
                          matcher.only_reader(test) == readers[1 - i] &&
                          matcher.scalar(choice.inputs[1]) == 0.0f &&
                          graph.value(choice.outputs[0]).type == graph.value(weights).type;
    if (is_guard) return &choice;
  }
  return nullptr;
}

WeightsUse use_of_weights(const Graph& graph, const Matcher& matcher, const Node& softmax) {
  const Node* guard = zeros_for_nan(graph, matcher, softmax.outputs[0]);
  const Node& last = guard ? *guard : softmax;
  return {matcher.only_reader(last), last.outputs[0], guard != nullptr};
}

// One attention while it is put together.
struct Found {
  Scores scores;
  bool nan_is_zero = false;
  NodeId last = kNoNode;  // the node whose output becomes the attention's
  MatrixView q, k, v, y;  // k: keys in rows
  std::optional<MatrixView> addend, choice;
  Dims batch;  // of the scores
  int64_t queries = 0, keys = 0, depth = 0, width = 0;
};

class AttentionReader {
 public:
  AttentionReader(const Graph& graph, const Matcher& matcher)
      : graph_(graph), m_(matcher), scores_(graph, matcher), operands_(graph, scores_) {}

  std::optional<Found> read(const Node& softmax) const {
    const auto* op = std::get_if<Softmax>(&softmax.op);
    const TensorType& type = graph_.value(softmax.inputs[0]).type;
    const int64_t rank = std::ssize(type.dims);
    if (!op || op->log || (op->axis != -1 && op->axis != rank - 1)) return std::nullopt;
    if (type.type == DataType::float64 || !is_static(type.dims) || rank < 2) return std::nullopt;
    const auto scores = scores_.read(softmax.inputs[0]);
    const WeightsUse use = use_of_weights(graph_, m_, softmax);
    if (!scores || use.product == kNoNode) return std::nullopt;
    const Node& last = graph_.node(use.product);
    if (!std::holds_alternative<MatMul>(last.op) || last.inputs[0] != use.weights)
      return std::nullopt;
    Found found;
    found.scores = *scores;
    found.nan_is_zero = use.nan_is_zero;
    found.last = use.product;
    const bool whole = read_sizes(found, type.dims, last) && read_operands(found, last.inputs[1]) &&
                       read_masks(found, type);
    if (!whole) return std::nullopt;
    read_result(found);
    return found;
  }

 private:
  const Dims& dims_of(ValueId v) const { return graph_.value(v).type.dims; }

  // Every product of at least two dimensions, the second one over the same stack as the first.
  bool read_sizes(Found& f, const Dims& scores, const Node& last) const {
    const Dims &a = dims_of(f.scores.a), &b = dims_of(f.scores.b), &v = dims_of(last.inputs[1]),
               &y = dims_of(last.outputs[0]);
    for (const Dims* dims : {&a, &b, &v, &y})
      if (dims->size() < 2 || volume(*dims) == 0) return false;
    f.batch = Dims(scores.begin(), scores.end() - 2);
    if (Dims(y.begin(), y.end() - 2) != f.batch) return false;
    f.queries = scores[scores.size() - 2];
    f.keys = scores.back();
    f.depth = a.back();
    f.width = y.back();
    return std::max(f.depth, f.width) <= kMaxAttentionDepth;
  }

  bool read_operands(Found& f, ValueId values) const {
    const auto q = operands_.read(matrices_of(graph_, f.scores.a, f.batch), &f.scores.scale);
    const auto k =
        operands_.read(turned(matrices_of(graph_, f.scores.b, f.batch)), &f.scores.scale);
    const auto v = operands_.read(matrices_of(graph_, values, f.batch), nullptr);
    if (!q || !k || !v || !std::isfinite(f.scores.scale)) return false;
    for (const auto* view : {&*q, &*k, &*v})
      if (graph_.constant(view->value)) return false;
    f.q = *q;
    f.k = *k;
    f.v = *v;
    return true;
  }

  // A mask is broadcast to the scores, of which its step kept the type.
  std::optional<MatrixView> mask_view(ValueId mask, const TensorType& scores,
                                      const Found& f) const {
    if (dims_of(mask).size() > scores.dims.size()) return std::nullopt;
    MatrixView view = matrices_of(graph_, mask, f.batch);
    return operands_.read(std::move(view), nullptr);
  }

  bool read_masks(Found& f, const TensorType& scores) const {
    if (f.scores.addend != kNoValue) {
      f.addend = mask_view(f.scores.addend, scores, f);
      if (!f.addend || graph_.value(f.scores.addend).type.type != scores.type) return false;
    }
    if (f.scores.choice != kNoValue) {
      f.choice = mask_view(f.scores.choice, scores, f);
      if (!f.choice) return false;
    }
    return true;
  }

  // Takes along what only moves the result.
  void read_result(Found& f) const {
    MatrixView view = matrices_of(graph_, graph_.node(f.last).outputs[0], f.batch);
    f.y = view;
    NodeId next = m_.only_reader(graph_.node(f.last));
    while (next != kNoNode) {
      const Node& node = graph_.node(next);
      if (node.inputs[0] != view.value) return;
      const auto moved = after_move(graph_, view, node);
      if (!moved) return;
      view = *moved;
      if (view.is_simple() && view.column().stride <= 1) {
        f.y = view;
        f.last = next;
      }
      next = m_.only_reader(node);
    }
  }

  const Graph& graph_;
  const Matcher& m_;
  const ScoresReader scores_;
  const OperandReader operands_;
};

std::vector<int64_t> places_of(const MatrixView& view, const std::vector<int64_t>& batch) {
  std::vector<int64_t> out{view.offset};
  out.insert(out.end(), batch.begin(), batch.end());
  out.push_back(view.row().stride);
  out.push_back(view.column().stride);
  return out;
}

// Whether a constant choice of [queries, keys] is the causal one.
bool is_causal(const Graph& graph, const Found& f, const std::vector<int64_t>& places) {
  const Tensor* choice = graph.constant(f.choice->value);
  const bool repeats =
      std::all_of(places.begin() + 1, places.end() - 2, [](int64_t stride) { return stride == 0; });
  if (!choice || !repeats) return false;
  const auto* values = static_cast<const uint8_t*>(choice->raw());
  for (int64_t i = 0; i < f.queries; ++i) {
    for (int64_t j = 0; j < f.keys; ++j) {
      const bool chosen =
          values[places[0] + i * places[places.size() - 2] + j * places.back()] != 0;
      if ((chosen == f.scores.hides) != (j > i + f.keys - f.queries)) return false;
    }
  }
  return true;
}

// The operator and its inputs; nothing where the stacks have no common sizes.
struct Replacement {
  Attention op;
  std::vector<ValueId> inputs;
};

std::optional<Replacement> replacement_of(const Graph& graph, const Found& f) {
  std::vector<const MatrixView*> views{&f.q, &f.k, &f.v, &f.y};
  if (f.addend) views.push_back(&*f.addend);
  if (f.choice) views.push_back(&*f.choice);
  const auto batch = common_batch(views);
  if (!batch || batch->sizes.size() > kMaxAttentionBatch) return std::nullopt;
  Replacement out;
  Attention& op = out.op;
  op.batch = batch->sizes;
  op.queries = f.queries;
  op.keys = f.keys;
  op.depth = f.depth;
  op.width = f.width;
  op.q = places_of(f.q, batch->strides[0]);
  op.k = places_of(f.k, batch->strides[1]);
  op.v = places_of(f.v, batch->strides[2]);
  op.y = places_of(f.y, batch->strides[3]);
  op.output = graph.value(f.y.value).type.dims;
  op.scale = f.scores.scale;
  op.nan_is_zero = f.nan_is_zero;
  out.inputs = {f.q.value, f.k.value, f.v.value};
  if (f.addend) op.addend = places_of(*f.addend, batch->strides[4]);
  if (f.choice) {
    op.blank = f.scores.blank;
    const auto places = places_of(*f.choice, batch->strides.back());
    op.causal = is_causal(graph, f, places);
    op.hides = f.scores.hides && !op.causal;
    if (!op.causal) op.choice = places;
  }
  if (f.addend || !op.choice.empty()) out.inputs.push_back(f.addend ? f.addend->value : kNoValue);
  if (!op.choice.empty()) out.inputs.push_back(f.choice->value);
  return out;
}

bool fuse_at(Graph& graph, Matcher& matcher, NodeId id) {
  const auto found = AttentionReader(graph, matcher).read(graph.node(id));
  if (!found) return false;
  auto replacement = replacement_of(graph, *found);
  if (!replacement) return false;
  Node& node = graph.node(found->last);
  matcher.rewired(found->last, node.inputs, replacement->inputs);
  node.op = std::move(replacement->op);
  node.inputs = std::move(replacement->inputs);
  return true;
}

}  // namespace

Result<int> fuse_attention(Graph& graph) {
  int changed = 0;
  Matcher matcher(graph);
  for (const NodeId id : graph.topological_order()) {
    if (std::holds_alternative<Softmax>(graph.node(id).op)) changed += fuse_at(graph, matcher, id);
  }
  return changed;
}

}  // namespace enginery
