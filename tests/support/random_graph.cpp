#include "tests/support/random_graph.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <iostream>

#include "engine/graph/run_graph.h"
#include "tests/support/random_graph_maker.h"

namespace enginery::test {
namespace {

constexpr int64_t kMaxElements = 2048;
constexpr size_t kMaxRank = 5;
constexpr double kHalfStep = 1.0 / 1024;  // float16: the distance of neighbours, relative

// Where a float's bound grows beyond this, a clip follows, so that deep graphs stay finite.
double highest_bound(DataType type) {
  return type == DataType::float16 ? 500 : 1e5;
}

bool is_usable(const TensorType& type) {
  if (!is_static(type.dims) || type.dims.size() > kMaxRank) return false;
  const int64_t elements = volume(type.dims);
  return elements > 0 && elements <= kMaxElements;
}

// The operands as Graph::add_node sees them, to ask before adding.
InferredTypes types_of(const Graph& graph, const Op& op, const std::vector<ValueId>& inputs) {
  Node node;
  node.inputs = inputs;
  return infer_types(op, graph.operands(node));
}

void add_inputs(GraphMaker& make) {
  const Dims picture{make.between(1, 2), make.one_of<int64_t>({2, 3, 4, 6}), make.between(3, 7),
                     make.between(3, 7)};
  make.input({DataType::float32, picture});
  Dims partner = picture;
  for (int64_t& d : partner) d = make.one_in(2) ? 1 : d;
  make.input({DataType::float32, partner});
  const Dims other = make.sizes(static_cast<size_t>(make.between(1, 5)), 1, 4);
  make.input({make.one_of({DataType::float32, DataType::float16, DataType::int32, DataType::int64,
                           DataType::boolean}),
              other});
  make.input({DataType::float32, {make.between(1, 4), make.between(1, 5)}});
  make.input({make.one_of({DataType::int32, DataType::int64}), {make.between(1, 4), 4}});
}

// The last values and some in the middle. Inputs and constants are never outputs themselves.
void mark_outputs(GraphMaker& make, RandomGraph& out) {
  std::vector<Drawn> produced;
  for (const Drawn& v : make.values()) {
    if (make.graph().value(v.id).producer != kNoNode) produced.push_back(v);
  }
  std::vector<Drawn> outputs = make.last_values();
  if (!produced.empty()) outputs.push_back(produced.back());
  for (int64_t i = make.between(1, 3); i > 0 && !produced.empty(); --i) {
    const Drawn& v =
        produced[static_cast<size_t>(make.between(0, static_cast<int64_t>(produced.size()) - 1))];
    const bool known =
        std::any_of(outputs.begin(), outputs.end(), [&](const Drawn& o) { return o.id == v.id; });
    if (!known) outputs.push_back(v);
  }
  for (const Drawn& v : outputs) {
    const Status marked = make.graph().mark_output(v.id);
    ENSURE(marked.ok(), "a value of the graph may be an output");
    out.bars.push_back(v.noise);
  }
}

// "" when y is what r is, within `bar`.
std::string tensor_difference(const Tensor& y, const Tensor& r, double bar) {
  if (y.tensor_type() != r.tensor_type())
    return "is " + to_string(y.tensor_type()) + " instead of " + to_string(r.tensor_type());
  if (!is_floating(r.type())) {
    const bool same = std::memcmp(y.raw(), r.raw(), static_cast<size_t>(r.bytes())) == 0;
    return same ? "" : "has other elements";
  }
  const Tensor a = convert(y, DataType::float64), b = convert(r, DataType::float64);
  for (int64_t i = 0; i < b.size(); ++i) {
    const double got = a.data<double>()[static_cast<size_t>(i)],
                 want = b.data<double>()[static_cast<size_t>(i)];
    if (got == want || (std::isnan(got) && std::isnan(want))) continue;
    if (std::abs(got - want) <= bar) continue;
    return "element " + std::to_string(i) + " is " + std::to_string(got) + " instead of " +
           std::to_string(want) + " (allowed: " + std::to_string(bar) + ")";
  }
  return "";
}

}  // namespace

GraphMaker::GraphMaker(uint64_t seed) : random_(seed) {
  graph_.name = "random";
}

int64_t GraphMaker::between(int64_t first, int64_t last) {
  return first + static_cast<int64_t>(random_() % static_cast<uint64_t>(last - first + 1));
}

std::vector<int64_t> GraphMaker::sizes(size_t count, int64_t first, int64_t last) {
  std::vector<int64_t> out(count);
  for (int64_t& size : out) size = between(first, last);
  return out;
}

std::optional<Drawn> GraphMaker::value_where(const std::function<bool(const Drawn&)>& fits) {
  std::vector<const Drawn*> found;
  for (const Drawn& v : values_) {
    if (fits(v)) found.push_back(&v);
  }
  if (found.empty()) return std::nullopt;
  // Newer ones are likelier: graphs become deep.
  const int64_t last = static_cast<int64_t>(found.size()) - 1;
  return *found[static_cast<size_t>(std::max(between(0, last), between(0, last)))];
}

void GraphMaker::offer(Drawn value) {
  value.type = graph_.value(value.id).type;
  values_.push_back(std::move(value));
}

Drawn GraphMaker::input(TensorType type) {
  const bool integer = is_integer(type.type);
  offer({graph_.add_input("x", std::move(type)), {}, integer ? 4.0 : 2.0, 0});
  return values_.back();
}

ValueId GraphMaker::constant(DataType type, Dims dims, float low, float high) {
  Tensor out(type, dims);
  for (const Tensor& earlier : constants_) {
    // Equal bytes under another type or other dims: what merging by bytes alone would confuse.
    // Floats and booleans take no foreign bytes: these could be NaN, or neither true nor false.
    const bool readable = is_integer(type) || earlier.type() == type;
    if (earlier.bytes() != out.bytes() || !readable || !one_in(3)) continue;
    std::memcpy(out.mutable_bytes(), earlier.raw(), static_cast<size_t>(out.bytes()));
    return graph_.add_constant("same", out);
  }
  Tensor wide(is_floating(type) ? DataType::float32 : DataType::int64, std::move(dims));
  const bool all_zero = !is_floating(type) && one_in(5);
  for (int64_t i = 0; i < wide.size(); ++i) {
    if (wide.type() == DataType::int64) {
      wide.mutable_data<int64_t>()[static_cast<size_t>(i)] = all_zero ? 0 : between(-3, 3);
    } else {
      const float share = static_cast<float>(between(0, 1000)) / 1000;
      const float v = low + (high - low) * share;
      wide.mutable_data<float>()[static_cast<size_t>(i)] = one_in(2) ? v : -v;
    }
  }
  out = convert(wide, type);
  constants_.push_back(out);
  return graph_.add_constant("c", out);
}

ValueId GraphMaker::positive(Dims dims) {
  Tensor out(DataType::float32, std::move(dims));
  for (float& v : out.mutable_data<float>()) v = static_cast<float>(between(500, 1500)) / 1000;
  return graph_.add_constant("positive", out);
}

ValueId GraphMaker::ints(const std::vector<int64_t>& values, DataType type) {
  const Tensor wide = Tensor::of<int64_t>({std::ssize(values)}, std::span<const int64_t>(values));
  return graph_.add_constant("ints", convert(wide, type));
}

void GraphMaker::offer_constant(TensorType type) {
  const ValueId id = constant(type.type, type.dims);
  offer({id, {}, bound_of(id), 0});
}

double GraphMaker::bound_of(ValueId constant) const {
  const Tensor wide = convert(*graph_.constant(constant), DataType::float64);
  double bound = 0;
  for (const double v : wide.data<double>()) bound = std::max(bound, std::abs(v));
  return bound;
}

std::vector<Drawn> GraphMaker::add(Op op, const std::vector<ValueId>& inputs, double bound,
                                   double noise) {
  const InferredTypes types = types_of(graph_, op, inputs);
  if (!types.ok() || !std::all_of(types->begin(), types->end(), is_usable)) return {};
  auto added = graph_.add_node("n", std::move(op), inputs);
  ENSURE(added.ok(), "the shape rule has just agreed");
  const size_t first = values_.size();
  for (const ValueId id : *added) {
    const DataType type = graph_.value(id).type.type;
    const bool rounds_again = noise > 0 && type == DataType::float16;
    offer({id, {}, bound, noise + (rounds_again ? bound * kHalfStep : 0)});
  }
  const std::vector<Drawn> out(values_.begin() + static_cast<ptrdiff_t>(first), values_.end());
  if (bound <= highest_bound(out[0].type.type) || !out[0].floating()) return out;
  values_.resize(first);  // only the clipped ones go on
  std::vector<Drawn> clipped;
  for (const Drawn& v : out) {
    const auto low = add(Activation{ActivationKind::clip, -8, 8}, {v.id}, 8, v.noise);
    clipped.insert(clipped.end(), low.begin(), low.end());
  }
  return clipped;
}

void GraphMaker::add_last(Op op, const std::vector<ValueId>& inputs, double noise) {
  auto added = graph_.add_node("last", std::move(op), inputs);
  if (added.ok()) last_.push_back({(*added)[0], {}, 0, noise});
}

void GraphMaker::repeat_a_node() {
  if (graph_.node_count() == 0) return;
  const Node node = graph_.node(static_cast<NodeId>(between(0, graph_.node_count() - 1)));
  const auto like = std::find_if(values_.begin(), values_.end(),
                                 [&](const Drawn& v) { return v.id == node.outputs[0]; });
  if (like == values_.end()) return;
  std::vector<ValueId> inputs = node.inputs;
  for (ValueId& v : inputs) {
    const Tensor* constant = v == kNoValue ? nullptr : graph_.constant(v);
    if (constant && one_in(2)) v = graph_.add_constant("copy", Tensor(*constant));
  }
  const double bound = like->bound, noise = like->noise;
  add(node.op, inputs, bound, noise);
}

uint64_t test_seed() {
  static const uint64_t seed = [] {
    const char* given = std::getenv("ENGINERY_TEST_SEED");
    const uint64_t drawn = given ? std::strtoull(given, nullptr, 10) : std::random_device{}();
    std::cout << "ENGINERY_TEST_SEED=" << drawn << "\n";
    return drawn;
  }();
  return seed;
}

RandomGraph random_graph(uint64_t seed, int nodes) {
  GraphMaker make(seed);
  add_inputs(make);
  std::vector<NodeKind> kinds;
  for (const auto& family : {pointwise_kinds(), layer_kinds(), move_kinds(), attention_kinds()})
    kinds.insert(kinds.end(), family.begin(), family.end());
  while (make.graph().node_count() < nodes) {
    if (make.one_in(8))
      make.repeat_a_node();
    else
      kinds[static_cast<size_t>(make.between(0, std::ssize(kinds) - 1))](make);
  }
  RandomGraph out;
  mark_outputs(make, out);
  out.graph = make.graph();
  return out;
}

std::map<std::string, Tensor> random_inputs(const Graph& graph, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::map<std::string, Tensor> out;
  for (const ValueId v : graph.inputs()) {
    const TensorType& type = graph.value(v).type;
    const uint64_t range = type.type == DataType::boolean ? 0 : is_floating(type.type) ? 16 : 4;
    Tensor wide(DataType::float32, type.dims);
    for (float& x : wide.mutable_data<float>()) {
      x = range == 0 ? static_cast<float>(random() % 2)
                     : static_cast<float>(random() % (2 * range + 1)) - static_cast<float>(range);
      if (is_floating(type.type)) x /= 8;
    }
    out[graph.value(v).name] = convert(wide, type.type);
  }
  return out;
}

std::string difference(const RandomGraph& before, const Graph& after, uint64_t seed) {
  const auto inputs = random_inputs(before.graph, seed);
  const auto wanted = run_graph(before.graph, inputs);
  if (!wanted.ok()) return "the graph before does not run: " + wanted.error().message;
  const auto got = run_graph(after, inputs);
  if (!got.ok()) return "the graph after does not run: " + got.error().message;
  if (before.graph.outputs().size() != after.outputs().size()) return "has other outputs";
  for (size_t i = 0; i < before.bars.size(); ++i) {
    const std::string& name = before.graph.value(before.graph.outputs()[i]).name;
    const auto found = got->find(name);
    if (found == got->end()) return "output '" + name + "' is gone";
    const std::string reason = tensor_difference(found->second, wanted->at(name), before.bars[i]);
    if (!reason.empty()) return "output '" + name + "' " + reason;
  }
  return "";
}

std::string group_problem(const Graph& graph) {
  const auto users = graph.users();
  std::map<int32_t, NodeId> last_of;
  for (const NodeId id : graph.topological_order()) {
    const Node& node = graph.node(id);
    if (node.group == kNoGroup) continue;
    const auto [before, first] = last_of.emplace(node.group, id);
    if (first) continue;
    const ValueId chained = graph.node(before->second).outputs[0];
    const auto& readers = users[static_cast<size_t>(chained)];
    const std::string what = "group " + std::to_string(node.group) + ": '" + node.name + "' ";
    const bool alone = std::ranges::all_of(readers, [&](NodeId reader) { return reader == id; });
    if (readers.empty() || !alone)
      return what + "follows a value that others read, or does not read it";
    if (graph.is_output(chained)) return what + "follows an output of the graph";
    if (graph.value(node.outputs[0]).type != graph.value(chained).type)
      return what + "changes the type of what it follows";
    before->second = id;
  }
  return "";
}

}  // namespace enginery::test
