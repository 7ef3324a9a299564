#include "engine/passes/fuse_attention.h"

#include <algorithm>
#include <cmath>

#include "engine/passes/attention_scores.h"
#include "engine/passes/matrix_view.h"
#include "engine/passes/pattern_matcher.h"

namespace enginery {
namespace {

// Follows an operand to where its elements were before they were moved.
class OperandReader {
 public:
  OperandReader(const Graph& graph, const Matcher& matcher) : graph_(graph), m_(matcher) {}

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
    const Node* node = m_.producer(view.value);
    const auto factor = node && scale ? read_factor(graph_, m_, *node) : std::nullopt;
    if (!factor) return std::nullopt;
    own *= factor->scalar;
    MatrixView out = view;
    out.value = factor->other;
    return out;
  }

  const Graph& graph_;
  const Matcher& m_;
};

// Rows become columns.
MatrixView turned(MatrixView view) {
  std::swap(view.axes[MatrixView::kRows], view.axes[MatrixView::kColumns]);
  return view;
}

// One attention while it is put together.
struct Found {
  Scores scores;
  ZeroRows zeros = ZeroRows::none;
  NodeId last = kNoNode;  // the node whose output becomes the attention's
  MatrixView q, k, v, y;  // k: keys in rows
  std::optional<MatrixView> addend, choice;
  std::vector<MatrixView> addends;  // of which the sum is to be made, where there are two
  Dims stack, result_stack;         // of the products
  int64_t queries = 0, keys = 0, depth = 0, width = 0;
};

class AttentionReader {
 public:
  AttentionReader(const Graph& graph, const Matcher& matcher)
      : graph_(graph), m_(matcher), operands_(graph, matcher) {}

  std::optional<Found> read(const Node& softmax) const {
    const auto* op = std::get_if<Softmax>(&softmax.op);
    const TensorType& type = graph_.value(softmax.inputs[0]).type;
    const int64_t rank = std::ssize(type.dims);
    if (!op || op->log || (op->axis != -1 && op->axis != rank - 1)) return std::nullopt;
    if (type.type == DataType::float64 || !is_static(type.dims) || rank < 2) return std::nullopt;
    const auto scores = read_scores(graph_, m_, softmax.inputs[0]);
    if (!scores) return std::nullopt;
    const WeightsUse use = use_of_weights(graph_, m_, softmax, *scores);
    if (use.product == kNoNode) return std::nullopt;
    const Node& last = graph_.node(use.product);
    if (!std::holds_alternative<MatMul>(last.op) || last.inputs[0] != use.weights)
      return std::nullopt;
    Found found;
    found.scores = *scores;
    found.zeros = use.zeros;
    found.last = use.product;
    const bool whole = read_sizes(found, type.dims, last) && read_operands(found, last.inputs[1]) &&
                       read_masks(found, type.type);
    if (!whole) return std::nullopt;
    read_result(found);
    return found;
  }

 private:
  const Dims& dims_of(ValueId v) const { return graph_.value(v).type.dims; }

  static Dims stack_of(const Dims& dims) { return Dims(dims.begin(), dims.end() - 2); }

  // Every product of at least two dimensions, the second one over the same stack as the first.
  bool read_sizes(Found& f, const Dims& scores, const Node& last) const {
    const Dims &a = dims_of(f.scores.a), &b = dims_of(f.scores.b), &v = dims_of(last.inputs[1]),
               &y = dims_of(last.outputs[0]);
    for (const Dims* dims : {&a, &b, &v, &y})
      if (dims->size() < 2 || volume(*dims) == 0) return false;
    f.stack = stack_of(f.scores.product);
    f.result_stack = stack_of(y);
    if (f.result_stack != stack_of(dims_of(last.inputs[0]))) return false;
    f.queries = scores[scores.size() - 2];
    f.keys = scores.back();
    f.depth = a.back();
    f.width = y.back();
    return std::max(f.depth, f.width) <= kMaxAttentionDepth;
  }

  bool read_operands(Found& f, ValueId values) const {
    const auto q = operands_.read(matrices_of(graph_, f.scores.a, f.stack), &f.scores.scale);
    const auto k =
        operands_.read(turned(matrices_of(graph_, f.scores.b, f.stack)), &f.scores.scale);
    const auto v = operands_.read(matrices_of(graph_, values, f.result_stack), nullptr);
    if (!q || !k || !v || !std::isfinite(f.scores.scale)) return false;
    for (const auto* view : {&*q, &*k, &*v})
      if (graph_.constant(view->value)) return false;
    f.q = *q;
    f.k = *k;
    f.v = *v;
    return true;
  }

  // A mask is broadcast to the scores, of which its step kept the type.
  std::optional<MatrixView> mask_view(const ScoreMask& mask) const {
    if (dims_of(mask.value).size() > mask.scores.size()) return std::nullopt;
    return matrices_of(graph_, mask.value, stack_of(mask.scores));
  }
  std::optional<MatrixView> moved_mask_view(const ScoreMask& mask) const {
    auto view = mask_view(mask);
    return view ? operands_.read(std::move(*view), nullptr) : std::nullopt;
  }

  bool read_masks(Found& f, DataType scores) const {
    const std::vector<ScoreMask>& addends = f.scores.addends;
    for (const ScoreMask& addend : addends)
      if (graph_.value(addend.value).type.type != scores) return false;
    if (addends.size() == 1) {
      f.addend = moved_mask_view(addends[0]);
      if (!f.addend) return false;
    }
    for (size_t i = 0; i < addends.size() && addends.size() > 1; ++i) {
      const auto view = mask_view(addends[i]);
      if (!view) return false;
      f.addends.push_back(*view);
    }
    if (f.scores.choice) {
      f.choice = moved_mask_view(*f.scores.choice);
      if (!f.choice) return false;
    }
    return true;
  }

  // Takes along what only moves the result.
  void read_result(Found& f) const {
    MatrixView view = matrices_of(graph_, graph_.node(f.last).outputs[0], f.result_stack);
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
  op.zeros = f.zeros;
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

// The sizes of the common batch and the matrices that a view has of its own; 1 where it repeats.
Dims own_dims(const MatrixView& view, const CommonBatch& batch, size_t index) {
  Dims out;
  for (size_t d = 0; d < batch.sizes.size(); ++d)
    out.push_back(batch.strides[index][d] == 0 ? 1 : batch.sizes[d]);
  out.push_back(view.row().size);
  out.push_back(view.column().size);
  return out;
}

// Sums of two addends, each made once: a network's layers often share them.
class AddendSums {
 public:
  AddendSums(Graph& graph, Matcher& matcher) : graph_(graph), m_(matcher) {}

  // The sum, in which each is read in its own order: a constant where both are. Nothing where their
  // stacks do not divide each other.
  Result<std::optional<MatrixView>> sum_of(const std::vector<MatrixView>& addends) {
    const auto batch = common_batch({&addends[0], &addends[1]});
    if (!batch) return std::optional<MatrixView>();
    const Dims first = own_dims(addends[0], *batch, 0), second = own_dims(addends[1], *batch, 1);
    const auto key = std::tuple(addends[0].value, first, addends[1].value, second);
    if (!made_.contains(key)) {
      TRY(const ValueId a, reshaped(addends[0].value, first));
      TRY(const ValueId b, reshaped(addends[1].value, second));
      TRY(const ValueId sum, add(a, b));
      made_.emplace(key, sum);
    }
    return std::optional(matrices_of(graph_, made_.at(key), batch->sizes));
  }

 private:
  Result<ValueId> reshaped(ValueId v, const Dims& dims) {
    if (graph_.value(v).type.dims == dims) return v;
    const std::string name = graph_.value(v).name + ".stack";
    if (const Tensor* constant = graph_.constant(v))
      return graph_.add_constant(name, constant->reshaped(dims));
    const ValueId shape =
        graph_.add_constant(name + ".shape", Tensor::of<int64_t>({std::ssize(dims)}, dims));
    return made_by(name, Reshape{}, {v, shape});
  }

  Result<ValueId> add(ValueId a, ValueId b) {
    const std::string name = graph_.value(a).name + ".sum";
    const Tensor *x = graph_.constant(a), *y = graph_.constant(b);
    if (!x || !y) return made_by(name, Binary{BinaryKind::add}, {a, b});
    const std::vector<const Tensor*> inputs{x, y};
    TRY(std::vector<Tensor> sum, run_reference(Binary{BinaryKind::add}, inputs));
    return graph_.add_constant(name, std::move(sum[0]));
  }

  Result<ValueId> made_by(const std::string& name, Op op, const std::vector<ValueId>& inputs) {
    TRY(const auto made, graph_.add_node(name, std::move(op), inputs));
    m_.rewired(graph_.value(made[0]).producer, {}, inputs);
    return made[0];
  }

  Graph& graph_;
  Matcher& m_;
  std::map<std::tuple<ValueId, Dims, ValueId, Dims>, ValueId> made_;
};

Result<bool> fuse_at(Graph& graph, Matcher& matcher, AddendSums& sums, NodeId id) {
  auto found = AttentionReader(graph, matcher).read(graph.node(id));
  if (!found) return false;
  if (!found->addends.empty()) {
    TRY(found->addend, sums.sum_of(found->addends));
    if (!found->addend) return false;
  }
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
  AddendSums sums(graph, matcher);
  for (const NodeId id : graph.topological_order()) {
    if (!std::holds_alternative<Softmax>(graph.node(id).op)) continue;
    TRY(const bool fused, fuse_at(graph, matcher, sums, id));
    changed += fused ? 1 : 0;
  }
  return changed;
}

}  // namespace enginery
