#include "tests/support/sliced_graph.h"

#include <algorithm>
#include <random>

namespace enginery::test {
namespace {

class Maker {
 public:
  explicit Maker(uint64_t seed) : random_(seed) {
    if (draw(0, 1) == 0) {
      unit_ = 8;
      rows_ = 2;
      columns_ = 4;
    }
    for (const char* name : {"x", "z"})
      values_.push_back(
          graph_.add_input(name, {DataType::float32, {1, draw(2, 6) * unit_, rows_, columns_}}));
  }

  Graph make(int nodes) {
    for (int i = 0; i < nodes; ++i) add_any();
    mark_outputs();
    return std::move(graph_);
  }

 private:
  int64_t draw(int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(random_);
  }
  // Rather a late one, so that graphs are deep.
  ValueId any() {
    const int64_t last = std::ssize(values_) - 1;
    return values_[static_cast<size_t>(std::max(draw(0, last), draw(0, last)))];
  }
  int64_t channels(ValueId v) const { return graph_.value(v).type.dims[1]; }
  int64_t units(ValueId v) const { return channels(v) / unit_; }

  void add(Op op, const std::vector<ValueId>& inputs) {
    const auto outputs = graph_.add_node("n", std::move(op), inputs);
    if (!outputs.ok()) return;  // sides of unlike sizes
    for (const ValueId v : *outputs) values_.push_back(v);
  }
  ValueId ints(const std::vector<int64_t>& numbers) {
    return graph_.add_constant("i", Tensor::of<int64_t>({std::ssize(numbers)}, numbers));
  }
  ValueId weights(const Dims& dims) {
    Tensor out(DataType::float32, dims);
    for (float& w : out.mutable_data<float>())
      w = static_cast<float>(draw(-8, 8)) / static_cast<float>(8 * dims[1]);
    return graph_.add_constant("w", std::move(out));
  }

  void add_join() {
    std::vector<ValueId> parts;
    for (int64_t n = draw(2, 4); n > 0; --n) parts.push_back(any());
    if (draw(0, 7) == 0) parts.push_back(weights({1, 2 * unit_, rows_, columns_}));
    int64_t sum = 0;
    for (const ValueId v : parts) sum += units(v);
    if (sum <= 64) add(Concat{1}, parts);
  }
  void add_cut() {
    const ValueId x = any();
    const int64_t first = draw(1, std::max<int64_t>(units(x) - 1, 1)) * unit_;
    if (first < channels(x)) add(Split{1, {first, channels(x) - first}}, {x});
  }
  void add_slice() {
    const ValueId x = any();
    const int64_t begin = draw(0, units(x) - 1), end = draw(begin + 1, units(x));
    add(Slice{}, {x, ints({begin * unit_}), ints({end * unit_}), ints({1})});
  }
  // Rows, whose halves are no single pieces, there and back.
  void add_turned_rows() {
    const ValueId x = any();
    const auto halves = graph_.add_node("h", Split{2, {rows_ / 2, rows_ / 2}}, {x});
    add(Concat{2}, {(*halves)[1], (*halves)[0]});
  }
  void add_view() {
    const ValueId x = any();
    const auto flat = graph_.add_node("f", Reshape{}, {x, ints({1, channels(x), -1})});
    add(Reshape{}, {(*flat)[0], ints({1, channels(x), rows_, columns_})});
  }
  void add_convolution() {
    const ValueId x = any();
    Convolution op;
    op.strides = op.dilations = {1, 1};
    op.pads_begin = op.pads_end = {0, 0};
    add(op, {x, weights({draw(1, 8) * unit_, channels(x), 1, 1})});
  }
  void add_sum() {
    const ValueId x = any();
    for (size_t i = values_.size(); i-- > 0;) {
      if (channels(values_[i]) == channels(x)) return add(Binary{BinaryKind::add}, {x, values_[i]});
    }
  }
  void add_any() {
    switch (draw(0, 9)) {
      case 0:
      case 1:
      case 2:
        return add_join();
      case 3:
        return add_cut();
      case 4:
        return add_slice();
      case 5:
        return add_turned_rows();
      case 6:
        return add_view();
      case 7:
        return add_convolution();
      case 8:
        return add_sum();
      default:
        return add(Activation{ActivationKind::tanh, 0, 0}, {any()});
    }
  }

  // The last value and now and then another, of the middle.
  void mark_outputs() {
    ValueId last = values_.back();
    if (graph_.value(last).producer == kNoNode)
      last = (*graph_.add_node("y", Identity{}, {last}))[0];
    for (const ValueId v : values_) {
      const bool inner = v != last && graph_.value(v).producer != kNoNode && draw(0, 9) == 0;
      if (inner) (void)graph_.mark_output(v);
    }
    (void)graph_.mark_output(last);
  }

  std::mt19937_64 random_;
  // So many channels of an image take 256 bytes; eight of them are also a block.
  int64_t unit_ = 1, rows_ = 8, columns_ = 8;
  Graph graph_;
  std::vector<ValueId> values_;
};

}  // namespace

Graph sliced_graph(uint64_t seed, int nodes) {
  return Maker(seed).make(nodes);
}

}  // namespace enginery::test
