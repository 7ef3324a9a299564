#include "engine/passes/merge_products.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "engine/passes/pattern_matcher.h"

namespace enginery {
namespace {

// y = x w + b, with the bias in the product or in an addition of its own.
struct Product {
  NodeId node = kNoNode;
  NodeId addition = kNoNode;
  ValueId x = kNoValue, weights = kNoValue, bias = kNoValue, y = kNoValue;
  int64_t columns = 0;
};

// Reads what makes a value, as a product that may be merged with others.
class ProductReader {
 public:
  ProductReader(const Graph& graph, const Matcher& matcher) : graph_(graph), m_(matcher) {}

  std::optional<Product> read(ValueId y) const {
    const Dims& dims = dims_of(y);
    if (dims.size() < 2 || !is_static(dims) || volume(dims) == 0) return std::nullopt;
    Product out{.y = y, .columns = dims.back()};
    ValueId made = y;
    const Node* node = m_.producer(y);
    if (node && std::holds_alternative<Binary>(node->op)) {
      const auto biased = vector_added(*node, out.columns);
      if (!biased || graph_.value(biased->x).type != graph_.value(y).type) return std::nullopt;
      out.addition = graph_.value(y).producer;
      out.bias = biased->vector;
      made = biased->x;
      node = m_.private_producer(made);
    }
    if (!node || !is_product(*node)) return std::nullopt;
    out.node = graph_.value(made).producer;
    out.x = node->inputs[0];
    out.weights = node->inputs[1];
    if (!has_input(*node, 2)) return out;
    const bool two = out.bias != kNoValue || !is_vector(node->inputs[2], out.columns);
    if (two) return std::nullopt;
    out.bias = node->inputs[2];
    return out;
  }

 private:
  struct Biased {
    ValueId x, vector;
  };

  const Dims& dims_of(ValueId v) const { return graph_.value(v).type.dims; }

  // One number for each column.
  bool is_vector(ValueId v, int64_t columns) const {
    const Tensor* t = graph_.constant(v);
    return t && t->rank() > 0 && t->size() == columns && t->dims().back() == columns;
  }

  std::optional<Biased> vector_added(const Node& node, int64_t columns) const {
    if (std::get<Binary>(node.op).kind != BinaryKind::add) return std::nullopt;
    for (const size_t side : {0u, 1u})
      if (is_vector(node.inputs[side], columns))
        return Biased{node.inputs[1 - side], node.inputs[side]};
    return std::nullopt;
  }

  bool is_product(const Node& node) const {
    const auto* gemm = std::get_if<Gemm>(&node.op);
    if (gemm ? gemm->alpha != 1 || gemm->beta != 1 || gemm->transpose_a
             : !std::holds_alternative<MatMul>(node.op))
      return false;
    const Tensor* weights = graph_.constant(node.inputs[1]);
    return weights && weights->rank() == 2 && !graph_.constant(node.inputs[0]);
  }

  const Graph& graph_;
  const Matcher& m_;
};

// Columns [first, first + size) of rows of `all`.
struct Part {
  int64_t first = 0, size = 0, all = 0;
};

// Where what lies in rows of `part.size` lies once these are part of longer rows; nothing where a
// stride runs from one row into the next. `sizes`: of what the strides step through.
std::optional<std::vector<int64_t>> moved_into_rows(const std::vector<int64_t>& places,
                                                    const Dims& sizes, const Part& part) {
  const auto in_longer_rows = [&](int64_t at) {
    return at / part.size * part.all + at % part.size;
  };
  std::vector<int64_t> out{in_longer_rows(places[0]) + part.first};
  int64_t last = places[0] % part.size;
  for (size_t d = 0; d < sizes.size(); ++d) {
    const int64_t stride = places[d + 1];
    if (stride > part.size && stride % part.size != 0 && sizes[d] > 1) return std::nullopt;
    out.push_back(in_longer_rows(stride));
    last += stride % part.size * (sizes[d] - 1);
  }
  return last < part.size ? std::optional(std::move(out)) : std::nullopt;
}

std::vector<int64_t>& places_of_input(Attention& op, size_t input) {
  return input == 0 ? op.q : input == 1 ? op.k : op.v;
}

Dims sizes_of_input(const Attention& op, size_t input) {
  Dims out = op.batch;
  out.push_back(input == 0 ? op.queries : op.keys);
  out.push_back(input == 2 ? op.width : op.depth);
  return out;
}

Tensor zeros(DataType type, int64_t size) {
  Tensor out(type, {size});
  std::memset(out.mutable_bytes(), 0, static_cast<size_t>(out.bytes()));
  return out;
}

// The constants side by side along `axis`. All of one type.
Result<Tensor> side_by_side(const std::vector<Tensor>& parts, int64_t axis) {
  std::vector<const Tensor*> inputs;
  for (const Tensor& part : parts) inputs.push_back(&part);
  TRY(std::vector<Tensor> out, run_reference(Concat{axis}, inputs));
  return std::move(out[0]);
}

class Merger {
 public:
  explicit Merger(Graph& graph) : graph_(graph), m_(graph) {}

  // The operands of attention `id` that can share a product.
  Result<int> merge(NodeId id) {
    int changed = 0;
    for (const std::vector<Product>& siblings : siblings_of(id)) {
      if (siblings.size() < 2) continue;
      const auto reader = reading_in_place(id, siblings);
      if (!reader) continue;
      CHECK_OK(merge(id, siblings, *reader));
      ++changed;
    }
    return changed;
  }

 private:
  // Whether they differ in their weights, biases and columns alone.
  bool are_alike(const Product& a, const Product& b) const {
    const auto same_type = [&](ValueId v, ValueId w) {
      return v == kNoValue || w == kNoValue ||
             graph_.constant(v)->type() == graph_.constant(w)->type();
    };
    const Op &op = graph_.node(a.node).op, &other = graph_.node(b.node).op;
    return a.x == b.x && op.index() == other.index() &&
           attributes_text(op) == attributes_text(other) && same_type(a.weights, b.weights) &&
           same_type(a.bias, b.bias);
  }

  bool is_read_by_others(ValueId y, NodeId reader) const {
    return graph_.is_output(y) ||
           std::ranges::any_of(m_.readers(y), [&](NodeId r) { return r != reader; });
  }

  // Of each group one with an addition comes first, if there is one.
  std::vector<std::vector<Product>> siblings_of(NodeId id) const {
    std::vector<std::vector<Product>> out;
    const std::vector<ValueId>& inputs = graph_.node(id).inputs;
    std::set<ValueId> seen;
    for (size_t i = 0; i < 3; ++i) {
      if (!seen.insert(inputs[i]).second || is_read_by_others(inputs[i], id)) continue;
      const auto product = ProductReader(graph_, m_).read(inputs[i]);
      if (!product) continue;
      const auto like = std::ranges::find_if(
          out, [&](const auto& group) { return are_alike(group.front(), *product); });
      if (like == out.end())
        out.push_back({*product});
      else if (product->addition != kNoNode)
        like->insert(like->begin(), *product);
      else
        like->push_back(*product);
    }
    return out;
  }

  // The attention as it reads parts of the siblings' common product, which takes the place of the
  // first; nothing where it cannot. Another kind of reader has its place here.
  std::optional<Node> reading_in_place(NodeId id, const std::vector<Product>& siblings) const {
    const std::vector<ValueId>& inputs = graph_.node(id).inputs;
    Node out = graph_.node(id);
    auto& op = std::get<Attention>(out.op);
    for (size_t i = 3; i < inputs.size(); ++i)
      if (std::ranges::any_of(siblings, [&](const Product& p) { return inputs[i] == p.y; }))
        return std::nullopt;
    Part part;
    for (const Product& p : siblings) part.all += p.columns;
    for (const Product& p : siblings) {
      part.size = p.columns;
      for (size_t i = 0; i < 3; ++i) {
        if (inputs[i] != p.y) continue;
        auto& places = places_of_input(op, i);
        auto moved = moved_into_rows(places, sizes_of_input(op, i), part);
        if (!moved) return std::nullopt;
        places = std::move(*moved);
        out.inputs[i] = siblings.front().y;
      }
      part.first += p.columns;
    }
    return out;
  }

  Result<ValueId> joined_weights(const std::vector<Product>& siblings) {
    const auto* gemm = std::get_if<Gemm>(&graph_.node(siblings.front().node).op);
    std::vector<Tensor> parts;
    for (const Product& p : siblings) parts.push_back(*graph_.constant(p.weights));
    TRY(Tensor joined, side_by_side(parts, gemm && gemm->transpose_b ? 0 : 1));
    return graph_.add_constant(graph_.value(siblings.front().weights).name + ".merged",
                               std::move(joined));
  }

  // Zeros where some have no bias.
  Result<ValueId> joined_biases(const std::vector<Product>& siblings) {
    const auto has_bias = [](const Product& p) { return p.bias != kNoValue; };
    const auto first = std::ranges::find_if(siblings, has_bias);
    if (first == siblings.end()) return kNoValue;
    const DataType type = graph_.constant(first->bias)->type();
    std::vector<Tensor> parts;
    for (const Product& p : siblings)
      parts.push_back(has_bias(p) ? graph_.constant(p.bias)->reshaped({p.columns})
                                  : zeros(type, p.columns));
    TRY(Tensor joined, side_by_side(parts, 0));
    return graph_.add_constant(graph_.value(first->bias).name + ".merged", std::move(joined));
  }

  void rewire(NodeId id, std::vector<ValueId> inputs) {
    m_.rewired(id, graph_.node(id).inputs, inputs);
    graph_.node(id).inputs = std::move(inputs);
  }

  void erase(NodeId id) {
    if (id == kNoNode) return;
    rewire(id, {});
    graph_.erase_node(id);
  }

  // The first of the siblings becomes the product of all.
  Status merge(NodeId id, const std::vector<Product>& siblings, const Node& reader) {
    TRY(const ValueId weights, joined_weights(siblings));
    TRY(const ValueId bias, joined_biases(siblings));
    const Product& first = siblings.front();
    const ValueId made = graph_.node(first.node).outputs[0];
    std::vector<ValueId> inputs{first.x, weights};
    if (bias != kNoValue && first.addition == kNoNode) inputs.push_back(bias);
    rewire(first.node, std::move(inputs));
    if (first.addition != kNoNode) rewire(first.addition, {made, bias});
    rewire(id, reader.inputs);
    graph_.node(id).op = reader.op;
    int64_t columns = 0;
    for (const Product& p : siblings) columns += p.columns;
    for (const ValueId v : {made, first.y}) graph_.value(v).type.dims.back() = columns;
    for (auto p = std::next(siblings.begin()); p != siblings.end(); ++p) {
      erase(p->addition);
      erase(p->node);
    }
    return {};
  }

  Graph& graph_;
  Matcher m_;
};

}  // namespace

Result<int> merge_products(Graph& graph) {
  int changed = 0;
  Merger merger(graph);
  for (const NodeId id : graph.topological_order()) {
    if (!std::holds_alternative<Attention>(graph.node(id).op)) continue;
    TRY(const int merged, merger.merge(id));
    changed += merged;
  }
  return changed;
}

}  // namespace enginery
