#include "engine/passes/split_einsum.h"

#include <algorithm>
#include <numeric>

namespace enginery {
namespace {

// An equation of two operands; of one, where b is empty.
struct Terms {
  std::string a, b, out;
};

bool has_letter(const std::string& term, char letter) {
  return term.find(letter) != std::string::npos;
}

// Nothing where it has another number of operands, or no result.
std::optional<Terms> terms_of(const std::string& equation) {
  const size_t arrow = equation.find("->"), comma = std::min(equation.find(','), arrow);
  if (arrow == std::string::npos) return std::nullopt;
  Terms out{equation.substr(0, comma), {}, equation.substr(arrow + 2)};
  if (comma < arrow) out.b = equation.substr(comma + 1, arrow - comma - 1);
  return has_letter(out.b, ',') ? std::nullopt : std::optional(std::move(out));
}

// The letters of an equation by where they stand.
struct ProductLetters : Terms {
  std::string batch, rows, columns, depth;  // both and the result; a; b; both alone
};

constexpr std::string_view kDots = "...";

// The sizes that a term's dots stand for. Requires dims that fit the term.
Dims hidden_by_dots(const std::string& term, const Dims& dims) {
  const size_t at = term.find(kDots);
  if (at == std::string::npos) return {};
  const size_t letters = term.size() - kDots.size();
  const auto begin = dims.begin() + static_cast<std::ptrdiff_t>(at);
  return {begin, begin + static_cast<std::ptrdiff_t>(dims.size() - letters)};
}

// The terms with a letter for each dimension that the dots stand for, which both operands (or one
// alone) must have in the same sizes: nothing where they broadcast or the result leaves them out.
std::optional<Terms> without_dots(Terms t, const Dims& a, const Dims& b) {
  const Dims of_a = hidden_by_dots(t.a, a), of_b = hidden_by_dots(t.b, b);
  if (!of_a.empty() && !of_b.empty() && of_a != of_b) return std::nullopt;
  const size_t hidden = std::max(of_a.size(), of_b.size());
  if (hidden > 0 && t.out.find(kDots) == std::string::npos) return std::nullopt;
  std::string letters;
  for (char c = 'A'; c <= 'Z' && letters.size() < hidden; ++c)
    if (!has_letter(t.a + t.b + t.out, c)) letters += c;
  if (letters.size() < hidden) return std::nullopt;
  const auto replace = [](std::string& term, const std::string& by) {
    const size_t at = term.find(kDots);
    if (at != std::string::npos) term.replace(at, kDots.size(), by);
  };
  replace(t.a, of_a.empty() ? "" : letters);
  replace(t.b, of_b.empty() ? "" : letters);
  replace(t.out, letters);
  return t;
}

bool is_plain(const std::string& term) {
  return std::all_of(term.begin(), term.end(), [&](char c) {
    return c != '.' && std::count(term.begin(), term.end(), c) == 1;
  });
}

// Nothing where the sum is no product of two matrices for each batch.
std::optional<ProductLetters> product_letters(const Terms& terms) {
  ProductLetters l{terms, {}, {}, {}, {}};
  if (!is_plain(l.a) || !is_plain(l.b) || !is_plain(l.out)) return std::nullopt;
  for (const char c : l.out) {
    const bool in_a = has_letter(l.a, c), in_b = has_letter(l.b, c);
    (in_a && in_b ? l.batch : in_a ? l.rows : l.columns) += c;
  }
  for (const char c : l.a) {
    if (has_letter(l.out, c)) continue;
    if (!has_letter(l.b, c)) return std::nullopt;  // a sum over one operand alone
    l.depth += c;
  }
  const auto is_placed = [&](char c) { return has_letter(l.out, c) || has_letter(l.depth, c); };
  if (l.depth.empty() || !std::all_of(l.b.begin(), l.b.end(), is_placed)) return std::nullopt;
  return l;
}

class ProductBuilder {
 public:
  ProductBuilder(Graph& graph, const Node& einsum, const ProductLetters& letters)
      : graph_(graph), name_(einsum.name) {
    const auto learn = [&](const std::string& term, ValueId v) {
      for (size_t i = 0; i < term.size(); ++i) sizes_[term[i]] = graph.value(v).type.dims[i];
    };
    learn(letters.a, einsum.inputs[0]);
    learn(letters.b, einsum.inputs[1]);
  }

  // `v` with dimensions `from` as [batch..., first, second], each of the two joined into one.
  Result<ValueId> matrices(ValueId v, const std::string& from, const std::string& batch,
                           const std::string& first, const std::string& second) {
    TRY(v, transposed(v, from, batch + first + second));
    Dims dims = dims_of(batch);
    dims.push_back(volume(dims_of(first)));
    dims.push_back(volume(dims_of(second)));
    return reshaped(v, dims);
  }
  Result<ValueId> transposed(ValueId v, const std::string& from, const std::string& to) {
    if (from == to) return v;
    return moved(Transpose{permutation(from, to)}, {v});
  }
  Result<ValueId> reshaped(ValueId v, const Dims& dims) {
    if (graph_.value(v).type.dims == dims) return v;
    return moved(Reshape{}, {v, shape_constant(dims)});
  }
  // A weight is moved here: as a product's operand it is packed, which a computed one is not.
  Result<ValueId> moved(Op op, std::vector<ValueId> inputs) {
    const Tensor* weight = graph_.constant(inputs[0]);
    if (!weight) return add(std::move(op), std::move(inputs));
    std::vector<const Tensor*> operands{weight};
    if (inputs.size() > 1) operands.push_back(graph_.constant(inputs[1]));
    TRY(auto results, run_reference(op, operands));
    return graph_.add_constant(graph_.value(inputs[0]).name + "/part", std::move(results[0]));
  }
  Result<ValueId> add(Op op, std::vector<ValueId> inputs) {
    TRY(const auto outputs, graph_.add_node(name_ + "/part", std::move(op), std::move(inputs)));
    return outputs[0];
  }
  ValueId shape_constant(const Dims& dims) {
    return graph_.add_constant(name_ + "/shape",
                               Tensor::of<int64_t>({std::ssize(dims)}, std::span(dims)));
  }
  Dims dims_of(const std::string& letters) const {
    Dims dims;
    for (const char c : letters) dims.push_back(sizes_.at(c));
    return dims;
  }
  static std::vector<int64_t> permutation(const std::string& from, const std::string& to) {
    std::vector<int64_t> out;
    for (const char c : to) out.push_back(static_cast<int64_t>(from.find(c)));
    return out;
  }

 private:
  Graph& graph_;
  const std::string name_;
  std::map<char, int64_t> sizes_;
};

Status split_node(Graph& graph, NodeId id, const ProductLetters& l) {
  const Node einsum = graph.node(id);
  ProductBuilder build(graph, einsum, l);
  TRY(const ValueId a, build.matrices(einsum.inputs[0], l.a, l.batch, l.rows, l.depth));
  TRY(const ValueId b, build.matrices(einsum.inputs[1], l.b, l.batch, l.depth, l.columns));
  const std::string order = l.batch + l.rows + l.columns;
  const Dims wide = build.dims_of(order);
  const bool joins = l.rows.size() != 1 || l.columns.size() != 1, moves = order != l.out;
  std::vector<ValueId> inputs{a, b};
  Op last = MatMul{};  // the node itself becomes the last step, so that its output stays
  if (joins || moves) {
    TRY(const ValueId product, build.add(MatMul{}, inputs));
    if (moves) {
      TRY(const ValueId apart, build.reshaped(product, wide));
      inputs = {apart};
      last = Transpose{ProductBuilder::permutation(order, l.out)};
    } else {
      inputs = {product, build.shape_constant(wide)};
      last = Reshape{};
    }
  }
  graph.node(id).op = std::move(last);
  graph.node(id).inputs = std::move(inputs);
  return {};
}

// Of one operand; the letters of the result are some of its own.
Status sum_and_transpose(Graph& graph, NodeId id, const Terms& t) {
  std::string kept;
  Reduce sum{ReduceKind::sum, {}, false, false};
  for (size_t i = 0; i < t.a.size(); ++i) {
    if (has_letter(t.out, t.a[i]))
      kept += t.a[i];
    else
      sum.axes.push_back(static_cast<int64_t>(i));
  }
  ValueId from = graph.node(id).inputs[0];
  if (kept == t.out && !sum.axes.empty()) {
    graph.node(id).op = std::move(sum);
    return {};
  }
  if (!sum.axes.empty()) {
    TRY(const auto sums, graph.add_node(graph.node(id).name + "/part", std::move(sum), {from}));
    from = sums[0];
  }
  graph.node(id).op = Transpose{ProductBuilder::permutation(kept, t.out)};
  graph.node(id).inputs = {from};
  return {};
}

bool is_sum_of_one(const Terms& t) {
  return is_plain(t.a) && is_plain(t.out) &&
         std::ranges::all_of(t.out, [&](char c) { return has_letter(t.a, c); });
}

// Whether the node was one that can be written so.
Result<bool> rewrite(Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const size_t operands = node.inputs.size();
  const auto known = [&](ValueId v) {
    return is_static(graph.value(v).type.dims) && volume(graph.value(v).type.dims) > 0 &&
           is_floating(graph.value(v).type.type);
  };
  const auto written = terms_of(std::get<Einsum>(node.op).equation);
  if (!written || operands > 2 || !std::ranges::all_of(node.inputs, known)) return false;
  const auto dims = [&](size_t i) {
    return i < operands ? graph.value(node.inputs[i]).type.dims : Dims();
  };
  const auto terms = without_dots(*written, dims(0), dims(1));
  if (!terms) return false;
  if (operands == 1) {
    if (!is_sum_of_one(*terms)) return false;
    CHECK_OK(sum_and_transpose(graph, id, *terms));
    return true;
  }
  const auto letters = product_letters(*terms);
  if (!letters) return false;
  CHECK_OK(split_node(graph, id, *letters));
  return true;
}

}  // namespace

Result<int> split_einsum(Graph& graph) {
  int changed = 0;
  for (const NodeId id : graph.topological_order()) {
    if (!std::holds_alternative<Einsum>(graph.node(id).op)) continue;
    TRY(const bool rewritten, rewrite(graph, id));
    changed += rewritten;
  }
  return changed;
}

}  // namespace enginery
