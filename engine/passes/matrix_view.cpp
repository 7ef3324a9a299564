#include "engine/passes/matrix_view.h"

#include <algorithm>
#include <set>

#include "engine/ops/element_order.h"
#include "engine/passes/pattern_matcher.h"
#include "engine/passes/permutation.h"

namespace enginery {
namespace {

// Elements of a tensor of `dims` lie elsewhere: `strides` apart along each dimension, from
// `offset`.
struct Move {
  ValueId value = kNoValue;  // the tensor where they lie
  Dims dims;
  std::vector<int64_t> strides;
  int64_t offset = 0;
};

// Moves runs from the order of a tensor of move.dims to where its elements lie.
class RunMover {
 public:
  RunMover(const Move& move, int64_t offset) : move_(move), strides_(strides_of(move.dims)) {
    for (size_t d = 0; d < strides_.size(); ++d)
      used_.push_back(offset / strides_[d] % std::max<int64_t>(move.dims[d], 1));
  }

  // Appends `run` as one or more runs. False where it crosses a dimension's end unevenly.
  bool append(const Run& run, std::vector<Run>& out) {
    if (run.size == 1) return true;
    if (run.stride == 0) return out.push_back(run), true;
    const auto d = dimension_of(run.stride);
    if (!d) return false;
    const int64_t size = move_.dims[*d], step = run.stride / strides_[*d];
    int64_t inner = run.size;
    if (inner * step > size) {  // goes on in the dimensions before
      inner = size / step;
      if (size % step != 0 || run.size % inner != 0) return false;
      if (!append({run.size / inner, strides_[*d] * size}, out)) return false;
    }
    used_[*d] += (inner - 1) * step;
    if (inner > 1) out.push_back({inner, step * move_.strides[*d]});
    return used_[*d] < size;
  }

  int64_t moved(int64_t offset) const {
    int64_t out = move_.offset;
    for (size_t d = 0; d < strides_.size(); ++d)
      out += offset / strides_[d] % std::max<int64_t>(move_.dims[d], 1) * move_.strides[d];
    return out;
  }

 private:
  // The dimension in which a stride steps.
  std::optional<size_t> dimension_of(int64_t stride) const {
    for (size_t d = strides_.size(); d-- > 0;) {
      const bool within = stride >= strides_[d] && stride < strides_[d] * move_.dims[d];
      if (within && stride % strides_[d] == 0) return d;
    }
    return std::nullopt;
  }

  const Move& move_;
  const Dims strides_;
  std::vector<int64_t> used_;  // the last position along each dimension
};

void join_runs(std::vector<Run>& runs) {
  std::vector<Run> out;
  for (const Run& run : runs) {
    if (run.size == 1) continue;
    if (!out.empty() && out.back().stride == run.stride * run.size)
      out.back() = {out.back().size * run.size, run.stride};
    else
      out.push_back(run);
  }
  runs = std::move(out);
}

std::optional<MatrixView> moved(const MatrixView& view, const Move& move) {
  MatrixView out;
  out.value = move.value;
  RunMover mover(move, view.offset);
  out.offset = mover.moved(view.offset);
  for (size_t axis = 0; axis < view.axes.size(); ++axis) {
    for (const Run& run : view.axes[axis])
      if (!mover.append(run, out.axes[axis])) return std::nullopt;
    join_runs(out.axes[axis]);
  }
  return out;
}

size_t axis_of(int64_t axis, const Dims& dims) {
  return static_cast<size_t>(wrapped(axis, dims.size()));
}

// A producer that moves elements, as seen from its output.
class MoveReader {
 public:
  MoveReader(const Graph& graph, const Node& node, ValueId output)
      : graph_(graph), node_(node), output_(output), x_(dims_of(node.inputs[0])) {
    move_.value = node.inputs[0];
    move_.dims = dims_of(output);
    move_.strides = strides_of(x_);
  }

  std::optional<Move> read() {
    const Op& op = node_.op;
    bool known = false;
    if (const auto* transpose = std::get_if<Transpose>(&op)) known = transposed(*transpose);
    if (std::holds_alternative<Expand>(op)) known = expanded();
    if (const auto* gather = std::get_if<Gather>(&op)) known = gathered(*gather);
    if (const auto* split = std::get_if<Split>(&op)) known = part_of(*split);
    if (std::holds_alternative<Slice>(op)) known = sliced();
    return known ? std::optional(move_) : std::nullopt;
  }

 private:
  const Dims& dims_of(ValueId v) const { return graph_.value(v).type.dims; }

  bool transposed(const Transpose& op) {
    const Dims strides = strides_of(x_);
    const auto order = written_out(op.permutation, x_.size());
    for (size_t i = 0; i < order.size(); ++i)
      move_.strides[i] = strides[static_cast<size_t>(order[i])];
    return true;
  }

  bool expanded() {
    const size_t front = move_.dims.size() - x_.size();
    move_.strides.insert(move_.strides.begin(), front, 0);
    for (size_t i = 0; i < x_.size(); ++i)
      if (x_[i] == 1) move_.strides[front + i] = 0;
    return true;
  }

  // One position of a dimension, which goes or stays as one.
  bool gathered(const Gather& op) {
    const Tensor* index = graph_.constant(node_.inputs[1]);
    if (!index || index->size() != 1 || index->rank() > 1) return false;
    const size_t axis = axis_of(op.axis, x_);
    const int64_t at = to_int64s(*index)[0];
    move_.offset = (at < 0 ? at + x_[axis] : at) * move_.strides[axis];
    if (index->rank() == 0)
      move_.strides.erase(move_.strides.begin() + static_cast<std::ptrdiff_t>(axis));
    return true;
  }

  bool part_of(const Split& op) {
    const size_t axis = axis_of(op.axis, x_);
    for (size_t i = 0; node_.outputs[i] != output_; ++i)
      move_.offset += dims_of(node_.outputs[i])[axis] * move_.strides[axis];
    return true;
  }

  std::optional<std::vector<int64_t>> ints_of(size_t input) const {
    const Tensor* t = graph_.constant(node_.inputs[input]);
    return t ? std::optional(to_int64s(*t)) : std::nullopt;
  }

  // Forwards, and without leaving elements out.
  bool sliced() {
    const auto starts = ints_of(1);
    if (!starts) return false;
    std::vector<int64_t> axes;
    for (size_t i = 0; i < starts->size(); ++i) axes.push_back(static_cast<int64_t>(i));
    for (const size_t input : {3u, 4u}) {
      if (!has_input(node_, input)) continue;
      const auto given = ints_of(input);
      if (!given) return false;
      const bool steps = input == 4;
      if (steps && std::any_of(given->begin(), given->end(), [](int64_t s) { return s != 1; }))
        return false;
      if (!steps) axes = *given;
    }
    for (size_t i = 0; i < axes.size(); ++i) {
      const size_t axis = axis_of(axes[i], x_);
      const int64_t start = (*starts)[i] < 0 ? (*starts)[i] + x_[axis] : (*starts)[i];
      move_.offset += std::clamp<int64_t>(start, 0, x_[axis]) * move_.strides[axis];
    }
    return true;
  }

  const Graph& graph_;
  const Node& node_;
  const ValueId output_;
  const Dims& x_;
  Move move_;
};

// The sizes of what lies within each run and of the run itself, counted from the innermost.
std::vector<int64_t> cuts_of(const MatrixView& view) {
  std::vector<int64_t> out;
  int64_t within = 1;
  const auto& runs = view.axes[MatrixView::kBatch];
  for (size_t i = runs.size(); i-- > 0;) out.push_back(within *= runs[i].size);
  return out;
}

// The stride of the run that holds position `within` of the batch.
int64_t stride_at(const MatrixView& view, int64_t within) {
  const auto& runs = view.axes[MatrixView::kBatch];
  int64_t inner = 1;
  for (size_t i = runs.size(); i-- > 0; inner *= runs[i].size)
    if (within < inner * runs[i].size) return runs[i].stride * (within / inner);
  return 0;
}

// Leaves out sizes of which every view goes on as it does within.
void join_sizes(CommonBatch& batch) {
  for (size_t i = batch.sizes.size(); i-- > 1;) {
    const bool continues = std::all_of(
        batch.strides.begin(), batch.strides.end(),
        [&](const auto& strides) { return strides[i - 1] == strides[i] * batch.sizes[i]; });
    if (!continues) continue;
    const auto place = static_cast<std::ptrdiff_t>(i - 1);
    batch.sizes[i] *= batch.sizes[i - 1];
    batch.sizes.erase(batch.sizes.begin() + place);
    for (auto& strides : batch.strides) strides.erase(strides.begin() + place);
  }
}

}  // namespace

bool MatrixView::is_simple() const {
  return axes[kRows].size() <= 1 && axes[kColumns].size() <= 1;
}

MatrixView matrices_of(const Graph& graph, ValueId value, const Dims& batch) {
  const size_t rank = batch.size() + 2;
  const Dims dims = aligned(graph.value(value).type.dims, rank), strides = strides_of(dims);
  const auto run = [&](size_t d, int64_t size) { return Run{size, dims[d] == 1 ? 0 : strides[d]}; };
  MatrixView out;
  out.value = value;
  for (size_t d = 0; d < batch.size(); ++d)
    out.axes[MatrixView::kBatch].push_back(run(d, batch[d]));
  out.axes[MatrixView::kRows].push_back(run(rank - 2, dims[rank - 2]));
  out.axes[MatrixView::kColumns].push_back(run(rank - 1, dims[rank - 1]));
  for (auto& runs : out.axes) join_runs(runs);
  return out;
}

std::optional<MatrixView> before_move(const Graph& graph, const MatrixView& view) {
  const NodeId id = graph.value(view.value).producer;
  if (id == kNoNode) return std::nullopt;
  const Node& node = graph.node(id);
  if (keeps_element_order(node.op)) {
    MatrixView out = view;
    out.value = node.inputs[0];
    return out;
  }
  const auto move = MoveReader(graph, node, view.value).read();
  return move ? moved(view, *move) : std::nullopt;
}

std::optional<MatrixView> after_move(const Graph& graph, const MatrixView& view, const Node& node) {
  if (keeps_element_order(node.op)) {
    MatrixView out = view;
    out.value = node.outputs[0];
    return out;
  }
  const auto* transpose = std::get_if<Transpose>(&node.op);
  if (!transpose) return std::nullopt;
  Move move;
  move.value = node.outputs[0];
  move.dims = graph.value(view.value).type.dims;
  move.strides.resize(move.dims.size());
  const Dims strides = strides_of(graph.value(move.value).type.dims);
  const auto order = written_out(transpose->permutation, move.dims.size());
  for (size_t i = 0; i < order.size(); ++i)
    move.strides[static_cast<size_t>(order[i])] = strides[i];
  return moved(view, move);
}

std::optional<CommonBatch> common_batch(const std::vector<const MatrixView*>& views) {
  std::set<int64_t> cuts{1};
  for (const MatrixView* view : views)
    for (const int64_t cut : cuts_of(*view)) cuts.insert(cut);
  CommonBatch out;
  out.strides.resize(views.size());
  for (auto cut = std::next(cuts.begin()); cut != cuts.end(); ++cut) {
    const int64_t within = *std::prev(cut);
    if (*cut % within != 0) return std::nullopt;
    out.sizes.insert(out.sizes.begin(), *cut / within);
    for (size_t v = 0; v < views.size(); ++v)
      out.strides[v].insert(out.strides[v].begin(), stride_at(*views[v], within));
  }
  join_sizes(out);
  return out;
}

}  // namespace enginery
