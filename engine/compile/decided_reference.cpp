#include "engine/compile/decided_reference.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>

#include "engine/compile/counted_floats.h"
#include "engine/graph/run_graph.h"
#include "engine/ops/element_order.h"

namespace enginery {
namespace {

// Zeros are what relu and masks leave for good: in the random worlds few of them are ties.
constexpr double kTiedZeros = 0.02;

bool is_order(BinaryKind kind) {
  return kind == BinaryKind::greater || kind == BinaryKind::greater_equal ||
         kind == BinaryKind::less || kind == BinaryKind::less_equal;
}

bool is_rounding(UnaryKind kind) {
  return kind == UnaryKind::floor || kind == UnaryKind::ceil || kind == UnaryKind::round ||
         kind == UnaryKind::sign;
}

bool chooses(const Op& op) {
  return std::holds_alternative<ArgMinMax>(op) || std::holds_alternative<TopK>(op) ||
         std::holds_alternative<FindNonZero>(op) || std::holds_alternative<NonMaxSuppression>(op);
}

// Whether the operator turns a small difference of its first input, a float, into a step.
bool is_deciding(const Op& op) {
  if (const auto* binary = std::get_if<Binary>(&op))
    return is_order(binary->kind) || binary->kind == BinaryKind::equal ||
           binary->kind == BinaryKind::mod || binary->kind == BinaryKind::fmod;
  if (const auto* unary = std::get_if<Unary>(&op)) return is_rounding(unary->kind);
  if (const auto* cast = std::get_if<Cast>(&op)) return !is_floating(cast->to);
  if (const auto* activation = std::get_if<Activation>(&op))
    return activation->kind == ActivationKind::thresholded_relu;
  return std::holds_alternative<Quantize>(op) || chooses(op);
}

// Values that hang on the graph's inputs. The others (sizes, for the most part) are computed at
// build time, and by the references too.
std::vector<bool> varying(const Graph& graph) {
  std::vector<bool> out(static_cast<size_t>(graph.value_count()), false);
  for (const ValueId v : graph.inputs()) out[static_cast<size_t>(v)] = true;
  for (const NodeId id : graph.topological_order()) {
    const Node& node = graph.node(id);
    if (std::holds_alternative<Shape>(node.op)) continue;
    const bool varies = std::ranges::any_of(
        node.inputs, [&](ValueId v) { return v != kNoValue && out[static_cast<size_t>(v)]; });
    for (const ValueId v : node.outputs) out[static_cast<size_t>(v)] = varies;
  }
  return out;
}

// Which nodes of a graph decide. Of counts every engine decides as the reference does.
class Decisions {
 public:
  explicit Decisions(const Graph& graph)
      : graph_(graph), varies_(varying(graph)), exact_(counted_floats(graph).exact) {}

  bool decides(const Node& node) const {
    if (node.inputs.empty() || node.inputs[0] == kNoValue || !is_float(node.inputs[0]))
      return false;
    // Quantisation divides by a scale, or multiplies by what is nearly its reciprocal.
    const bool rounds_anyhow = std::holds_alternative<Quantize>(node.op);
    return is_deciding(node.op) && std::ranges::any_of(node.inputs, [&](ValueId v) {
             return v != kNoValue && varies_[static_cast<size_t>(v)] &&
                    (rounds_anyhow || !is_float(v) || !exact_[static_cast<size_t>(v)]);
           });
  }

 private:
  bool is_float(ValueId v) const { return is_floating(graph_.value(v).type.type); }

  const Graph& graph_;
  const std::vector<bool> varies_, exact_;
};

bool is_product(const Op& op) {
  return std::holds_alternative<Convolution>(op) || std::holds_alternative<Deconvolution>(op) ||
         std::holds_alternative<MatMul>(op) || std::holds_alternative<Gemm>(op) ||
         std::holds_alternative<Einsum>(op);
}

// Operators whose output elements hang on one element of each input.
bool keeps_elements_apart(const Op& op) {
  return moves_elements(op) || std::holds_alternative<Activation>(op) ||
         std::holds_alternative<Unary>(op) || std::holds_alternative<PRelu>(op) ||
         std::holds_alternative<Binary>(op) || std::holds_alternative<Quantize>(op) ||
         std::holds_alternative<Dequantize>(op);
}

// ... and lie in the same order: positions stay with the lanes that they were chosen from.
bool keeps_order(const Op& op) {
  if (const auto* cast = std::get_if<Cast>(&op)) return cast->to != DataType::boolean;
  return keeps_element_order(op);
}

// What the tensor's elements may be off by. Whole numbers (counts, masks, what was decided before)
// are computed exactly.
double slack_of(const Tensor& t, double bar) {
  const Tensor wide = convert(t, DataType::float64);
  double largest = 0;
  bool whole = true;
  for (const double v : wide.data<double>()) {
    if (std::isfinite(v)) largest = std::max(largest, std::abs(v));
    whole &= !std::isfinite(v) || v == std::nearbyint(v);
  }
  return whole ? 0 : bar * largest;
}

Tensor moved(const Tensor& t, double by) {
  Tensor wide = convert(t, DataType::float64);
  for (double& v : wide.mutable_data<double>()) v += by;
  return convert(wide, t.type());
}

Tensor shaken(const Tensor& t, double slack, std::mt19937_64& random) {
  Tensor wide = convert(t, DataType::float64);
  std::uniform_real_distribution<double> noise(-slack, slack), share(0, 1);
  for (double& v : wide.mutable_data<double>()) {
    if (v != 0 || share(random) < kTiedZeros) v += noise(random);
  }
  return convert(wide, t.type());
}

// Elements that a comparison with equality cannot tell: true in one world, false in the other.
void decide_equality(const Tensor& a, const Tensor* b, double slack, World world,
                     std::mt19937_64& random, Tensor& out) {
  if (slack == 0) return;
  const Tensor x = convert(a, DataType::float64);
  const Tensor y = b ? convert(*b, DataType::float64) : Tensor();
  if (x.size() != out.size() && y.size() != out.size()) return;
  const auto at = [&](const Tensor& t, int64_t i) {  // one number for all, or one each
    return t.size() == out.size() ? t.data<double>()[static_cast<size_t>(i)]
           : t.size() == 1        ? t.data<double>()[0]
                                  : std::numeric_limits<double>::quiet_NaN();
  };
  auto* to = static_cast<uint8_t*>(out.mutable_bytes());
  for (int64_t i = 0; i < out.size(); ++i) {
    const double distance = std::abs(at(x, i) - (b ? at(y, i) : 0));
    if (!(distance <= slack)) continue;
    const bool equal = world == World::up || (world != World::down && random() % 2 == 0);
    to[i] = b ? equal : !equal;  // a cast to boolean says "is not zero"
  }
}

class DecidedRun {
 public:
  DecidedRun(const Graph& graph, double bar)
      : graph_(graph),
        bar_(bar),
        decisions_(graph),
        values_(static_cast<size_t>(graph.value_count())),
        order_(graph.needed_order()),
        readers_left_(reader_counts(graph, order_)) {}

  Result<std::vector<DecidedValue>> run(const std::vector<Tensor>& inputs) {
    for (ValueId v = 0; v < graph_.value_count(); ++v) {
      if (const Tensor* t = graph_.constant(v)) of(v).worlds = {*t};
    }
    for (size_t i = 0; i < inputs.size(); ++i) of(graph_.inputs()[i]).worlds = {inputs[i]};
    for (const NodeId id : order_) {
      const Node& node = graph_.node(id);
      if (Status done = run_node(node, id); !done.ok()) {
        return done.error().within("node '" + node.name + "' (" + std::string(op_name(node.op)) +
                                   ")");
      }
      drop_read(node);
    }
    std::vector<DecidedValue> out;
    for (const ValueId v : graph_.outputs()) out.push_back(of(v));
    return out;
  }

 private:
  DecidedValue& of(ValueId v) { return values_[static_cast<size_t>(v)]; }

  // A value goes after its last reader, so that large models fit; one without readers at once.
  void drop_read(const Node& node) {
    for (const ValueId v : node.inputs) {
      if (v != kNoValue && --readers_left_[static_cast<size_t>(v)] == 0 && !graph_.is_output(v))
        of(v) = {};
    }
    for (const ValueId v : node.outputs) {
      if (readers_left_[static_cast<size_t>(v)] == 0 && !graph_.is_output(v)) of(v) = {};
    }
  }

  // What the outputs hang on.
  Decided decided_by(const Node& node) {
    std::vector<ValueId> open;
    bool often = false;
    for (const ValueId v : node.inputs) {
      if (v == kNoValue || of(v).decided == Decided::none) continue;
      if (std::find(open.begin(), open.end(), v) == open.end()) open.push_back(v);
      often |= of(v).decided == Decided::often;
    }
    if (open.empty()) return decisions_.decides(node) ? Decided::once : Decided::none;
    const bool apart = open.size() == 1 && !often && keeps_elements_apart(node.op);
    return apart && !decisions_.decides(node) ? Decided::once : Decided::often;
  }

  const Tensor* input(const Node& node, size_t i, World world) {
    const ValueId v = node.inputs[i];
    if (v == kNoValue) return nullptr;
    const std::vector<Tensor>& worlds = of(v).worlds;
    return &worlds[worlds.size() == 1 ? 0 : static_cast<size_t>(world)];
  }
  std::vector<const Tensor*> inputs(const Node& node, World world) {
    std::vector<const Tensor*> out;
    for (size_t i = 0; i < node.inputs.size(); ++i) out.push_back(input(node, i, world));
    return out;
  }

  Status run_node(const Node& node, NodeId id) {
    const Decided decided = decided_by(node);
    TRY(auto exact, run_reference(node.op, inputs(node, World::exact)));
    for (size_t o = 0; o < exact.size(); ++o) {
      DecidedValue& value = of(node.outputs[o]);
      value.worlds = {std::move(exact[o])};
      value.decided = decided;
      // The values that TopK found are as near as their source; only their positions are decided,
      // and what positions lead to has no upper and lower end.
      const bool values = std::holds_alternative<TopK>(node.op) && o == 0;
      if (decided == Decided::once && chooses(node.op))
        value.decided = values ? Decided::none : Decided::often;
    }
    if (decided == Decided::none) return {};
    for (int w = 1; w < kWorlds; ++w) {
      auto outputs = run_in(node, id, static_cast<World>(w));
      // What is moved may have no result (a position that no row has): then it stays.
      for (size_t o = 0; o < exact.size(); ++o) {
        DecidedValue& value = of(node.outputs[o]);
        if (value.decided == Decided::none) continue;
        value.worlds.push_back(outputs ? std::move((*outputs)[o]) : value.exact());
      }
    }
    keep_choice(node);
    return {};
  }

  Result<std::vector<Tensor>> run_in(const Node& node, NodeId id, World world) {
    std::vector<const Tensor*> in = inputs(node, world);
    if (!decisions_.decides(node)) return run_reference(node.op, in);
    std::mt19937_64 random(static_cast<uint64_t>(id) * kWorlds + static_cast<uint64_t>(world));
    const auto* binary = std::get_if<Binary>(&node.op);
    const double first = slack_of(*in[0], bar_), second = binary ? slack_of(*in[1], bar_) : 0;
    const auto* cast = std::get_if<Cast>(&node.op);
    if ((binary && binary->kind == BinaryKind::equal) || (cast && cast->to == DataType::boolean)) {
      TRY(auto out, run_reference(node.op, in));
      decide_equality(*in[0], binary ? in[1] : nullptr, first + second, world, random, out[0]);
      return out;
    }
    if (world == World::up || world == World::down) {
      // A choice has no upper and lower end: Choice says what may be chosen.
      if (chooses(node.op) || first + second == 0) return run_reference(node.op, in);
      const double by = (first + second) * (world == World::up ? 1 : -1);
      const Tensor a = moved(*in[0], by);
      in[0] = &a;
      return run_reference(node.op, in);
    }
    const Tensor a = shaken(*in[0], first + second, random);
    in[0] = &a;
    if (!std::holds_alternative<NonMaxSuppression>(node.op)) return run_reference(node.op, in);
    const Tensor scores = shaken(*in[1], slack_of(*in[1], bar_), random);
    in[1] = &scores;
    return run_reference(node.op, in);
  }

  // Positions keep what they were chosen from, as long as their order stays.
  void keep_choice(const Node& node) {
    if (keeps_order(node.op) && of(node.inputs[0]).choice) {
      of(node.outputs[0]).choice = of(node.inputs[0]).choice;
      return;
    }
    if (!decisions_.decides(node)) return;
    const auto* arg = std::get_if<ArgMinMax>(&node.op);
    const auto* top = std::get_if<TopK>(&node.op);
    if (!arg && !top) return;
    const DecidedValue& source = of(node.inputs[0]);
    const Dims& dims = source.exact().dims();
    int64_t axis = arg ? arg->axis : top->axis;
    if (axis < 0) axis += std::ssize(dims);
    const size_t output = arg ? 0 : 1;
    auto choice = std::make_shared<Choice>();
    choice->scores = convert(source.exact(), DataType::float64);
    choice->size = dims[static_cast<size_t>(axis)];
    choice->inner = strides_of(dims)[static_cast<size_t>(axis)];
    const int64_t lanes = source.exact().size() / std::max<int64_t>(choice->size, 1);
    choice->chosen = of(node.outputs[output]).exact().size() / std::max<int64_t>(lanes, 1);
    choice->slack = 2 * slack_of(source.exact(), bar_);
    for (size_t w = 1; w < source.worlds.size(); ++w)
      choice->slack += largest_difference(source.worlds[w], source.exact());
    of(node.outputs[output]).choice = std::move(choice);
  }

  static double largest_difference(const Tensor& a, const Tensor& b) {
    const Tensor x = convert(a, DataType::float64), y = convert(b, DataType::float64);
    double largest = 0;
    for (size_t i = 0; i < x.data<double>().size(); ++i) {
      const double d = std::abs(x.data<double>()[i] - y.data<double>()[i]);
      if (std::isfinite(d)) largest = std::max(largest, d);
    }
    return largest;
  }

  const Graph& graph_;
  const double bar_;
  const Decisions decisions_;
  std::vector<DecidedValue> values_;
  const std::vector<NodeId> order_;
  std::vector<size_t> readers_left_;
};

}  // namespace

Result<std::vector<DecidedValue>> run_decided(const Graph& graph, const std::vector<Tensor>& inputs,
                                              double bar) {
  return DecidedRun(graph, bar).run(inputs);
}

bool decides_before_products(const Graph& graph) {
  const Decisions decisions(graph);
  std::vector<bool> decided(static_cast<size_t>(graph.value_count()), false);
  for (const NodeId id : graph.topological_order()) {
    const Node& node = graph.node(id);
    bool after = decisions.decides(node);
    for (const ValueId v : node.inputs) after |= v != kNoValue && decided[static_cast<size_t>(v)];
    if (!after) continue;
    if (is_product(node.op)) return true;
    for (const ValueId v : node.outputs) decided[static_cast<size_t>(v)] = true;
  }
  return false;
}

}  // namespace enginery
