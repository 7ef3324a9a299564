#include "engine/passes/row_demand.h"

#include <algorithm>

#include "engine/ops/element_order.h"
#include "engine/passes/pattern_matcher.h"
#include "engine/passes/permutation.h"

namespace enginery {
namespace {

size_t counted_from_front(int64_t axis, const Dims& dims) {
  return static_cast<size_t>(wrapped(axis, dims.size()));
}

int64_t volume_before(const Dims& dims, size_t axis) {
  return volume(Dims(dims.begin(), dims.begin() + static_cast<std::ptrdiff_t>(axis)));
}

// `rows` of a tensor of dims `to` in one of dims `from` with the same elements in the same order.
std::optional<Rows> rows_before_reshape(const Dims& from, const Dims& to, const Rows& rows) {
  const int64_t before = volume_before(to, rows.axis), stride = strides_of(to)[rows.axis];
  const Dims strides = strides_of(from);
  for (size_t d = 0; d < from.size(); ++d) {
    if (from[d] == 1 || volume_before(from, d) != before) continue;
    const int64_t first = rows.first * stride, count = rows.count * stride;
    if (first % strides[d] != 0 || count % strides[d] != 0) return std::nullopt;
    return Rows{d, first / strides[d], count / strides[d]};
  }
  return std::nullopt;
}

// How many positions of the output's dimension one query takes; nothing where the queries are not
// what it counts first. The output's places fill it without gaps (engine/ops/attention.h).
std::optional<int64_t> positions_of_query(const Attention& op, size_t axis) {
  const int64_t stride = strides_of(op.output)[axis], row = op.y[op.y.size() - 2];
  if (op.queries < 2 || row % stride != 0) return std::nullopt;
  const int64_t positions = row / stride;
  return positions * op.queries == op.output[axis] ? std::optional(positions) : std::nullopt;
}

class InputReader {
 public:
  InputReader(const Graph& graph, const Node& node, const Rows& rows)
      : graph_(graph),
        node_(node),
        rows_(rows),
        out_(dims_of(node.outputs[0])),
        read_(node.inputs.size()) {}

  std::optional<InputRows> read() {
    const Op& op = node_.op;
    bool known = false;
    if (maps_elements(op)) known = broadcast_from(0);
    if (std::holds_alternative<MatMul>(op)) known = multiplied();
    if (const auto* gemm = std::get_if<Gemm>(&op)) known = multiplied(*gemm);
    if (const auto* norm = std::get_if<LayerNorm>(&op)) known = normalized(norm->axis);
    if (const auto* norm = std::get_if<RmsNorm>(&op)) known = normalized(norm->axis);
    if (const auto* softmax = std::get_if<Softmax>(&op))
      known = counted_from_front(softmax->axis, out_) != rows_.axis && broadcast_from(0);
    if (const auto* transpose = std::get_if<Transpose>(&op)) known = transposed(*transpose);
    if (keeps_element_order(op)) known = reshaped();
    if (const auto* attention = std::get_if<Attention>(&op)) known = attended(*attention);
    return known ? std::optional(std::move(read_)) : std::nullopt;
  }

 private:
  static bool maps_elements(const Op& op) {
    return std::holds_alternative<Activation>(op) || std::holds_alternative<Unary>(op) ||
           std::holds_alternative<Cast>(op) || std::holds_alternative<Binary>(op) ||
           std::holds_alternative<Where>(op);
  }
  const Dims& dims_of(ValueId v) const { return graph_.value(v).type.dims; }

  // Whether input `i`, which broadcasting aligns at the last dimension, has one position for each
  // row; the others it has for all rows alike.
  bool has_rows(size_t i) const {
    const Dims& dims = dims_of(node_.inputs[i]);
    const size_t missing = out_.size() - dims.size();
    return rows_.axis >= missing && dims[rows_.axis - missing] != 1;
  }
  void take_rows(size_t i) {
    const size_t missing = out_.size() - dims_of(node_.inputs[i]).size();
    read_[i] = Rows{rows_.axis - missing, rows_.first, rows_.count};
  }

  bool broadcast_from(size_t first) {
    for (size_t i = first; i < node_.inputs.size(); ++i)
      if (has_input(node_, i) && has_rows(i)) take_rows(i);
    return true;
  }

  bool multiplied() {
    const Dims &a = dims_of(node_.inputs[0]), &b = dims_of(node_.inputs[1]);
    if (a.size() < 2 || b.size() < 2 || rows_.axis + 1 == out_.size()) return false;
    if (rows_.axis + 2 == out_.size())
      take_rows(0);
    else
      broadcast_from(0);
    return true;
  }

  bool multiplied(const Gemm& op) {
    if (rows_.axis != 0 || op.transpose_a) return false;
    take_rows(0);
    if (has_input(node_, 2) && has_rows(2)) take_rows(2);
    return true;
  }

  bool normalized(int64_t axis) {
    if (rows_.axis >= counted_from_front(axis, out_)) return false;
    return broadcast_from(0);
  }

  bool transposed(const Transpose& op) {
    const Permutation order = written_out(op.permutation, out_.size());
    read_[0] = Rows{static_cast<size_t>(order[rows_.axis]), rows_.first, rows_.count};
    return true;
  }

  bool reshaped() {
    read_[0] = rows_before_reshape(dims_of(node_.inputs[0]), out_, rows_);
    return read_[0].has_value();
  }

  // The operator reads its queries where they lie: its inputs stay whole. Which keys a causal one
  // hides is counted from the last query.
  bool attended(const Attention& op) const {
    const auto positions = positions_of_query(op, rows_.axis);
    if (!positions || rows_.first % *positions != 0 || rows_.count % *positions != 0) return false;
    return !op.causal || rows_.first + rows_.count == out_[rows_.axis];
  }

  const Graph& graph_;
  const Node& node_;
  const Rows& rows_;
  const Dims& out_;
  InputRows read_;
};

void skip_queries(std::vector<int64_t>& places, int64_t queries) {
  if (!places.empty()) places[0] += queries * places[places.size() - 2];
}

Attention of_queries(Attention op, const Rows& rows) {
  const int64_t positions = *positions_of_query(op, rows.axis), row = op.y[op.y.size() - 2];
  const int64_t first = rows.first / positions, count = rows.count / positions;
  for (auto* places : {&op.q, &op.addend, &op.choice}) skip_queries(*places, first);
  // What counts whole sets of queries steps over fewer.
  for (size_t i = 1; i < op.y.size(); ++i)
    if (op.y[i] >= row * op.queries) op.y[i] = op.y[i] / op.queries * count;
  op.output[rows.axis] = rows.count;
  op.queries = count;
  return op;
}

std::optional<std::vector<int64_t>> ints_of(const Graph& graph, const Node& node, size_t input) {
  const Tensor* t = has_input(node, input) ? graph.constant(node.inputs[input]) : nullptr;
  return t ? std::optional(to_int64s(*t)) : std::nullopt;
}

std::optional<Rows> rows_gathered(const Graph& graph, const Node& node, int64_t axis) {
  const Dims& dims = graph.value(node.inputs[0]).type.dims;
  const Tensor* index = graph.constant(node.inputs[1]);
  if (!index || index->size() != 1 || index->rank() > 1) return std::nullopt;
  const size_t at = counted_from_front(axis, dims);
  const int64_t position = to_int64s(*index)[0];
  return Rows{at, position < 0 ? position + dims[at] : position, 1};
}

std::optional<Rows> rows_sliced(const Graph& graph, const Node& node) {
  const auto starts = ints_of(graph, node, 1), ends = ints_of(graph, node, 2),
             axes = ints_of(graph, node, 3), steps = ints_of(graph, node, 4);
  if (!starts || !ends || (has_input(node, 3) && !axes) || (has_input(node, 4) && !steps))
    return std::nullopt;
  const Dims& dims = graph.value(node.inputs[0]).type.dims;
  const auto parts =
      slice_dims(dims, *starts, *ends, axes ? &*axes : nullptr, steps ? &*steps : nullptr);
  if (!parts) return std::nullopt;
  std::optional<Rows> out;
  for (size_t d = 0; d < dims.size(); ++d) {
    const SliceDim& part = (*parts)[d];
    if (part.size == dims[d] && part.step == 1) continue;
    if (out || part.step != 1) return std::nullopt;
    out = Rows{d, part.start, part.size};
  }
  return out;
}

}  // namespace

std::optional<Rows> rows_taken(const Graph& graph, const Node& node) {
  if (node.inputs.empty() || !is_static(graph.value(node.inputs[0]).type.dims)) return std::nullopt;
  std::optional<Rows> out;
  if (const auto* gather = std::get_if<Gather>(&node.op))
    out = rows_gathered(graph, node, gather->axis);
  if (std::holds_alternative<Slice>(node.op)) out = rows_sliced(graph, node);
  if (!out) return std::nullopt;
  const int64_t size = graph.value(node.inputs[0]).type.dims[out->axis];
  const bool is_part =
      out->first >= 0 && out->count > 0 && out->count < size && out->first + out->count <= size;
  return is_part ? out : std::nullopt;
}

std::optional<InputRows> rows_to_read(const Graph& graph, const Node& node, const Rows& rows) {
  if (node.outputs.size() != 1 || node.group != kNoGroup) return std::nullopt;
  const auto sized = [&](ValueId v) {
    return v == kNoValue ||
           (is_static(graph.value(v).type.dims) && volume(graph.value(v).type.dims) > 0);
  };
  if (!std::ranges::all_of(node.inputs, sized) || !sized(node.outputs[0])) return std::nullopt;
  return InputReader(graph, node, rows).read();
}

Op of_rows(const Op& op, const Rows& rows) {
  if (const auto* attention = std::get_if<Attention>(&op)) return of_queries(*attention, rows);
  if (keeps_element_order(op)) return Reshape{};
  return op;
}

}  // namespace enginery
