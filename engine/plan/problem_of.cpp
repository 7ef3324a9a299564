#include "engine/plan/problem_of.h"

#include <algorithm>
#include <set>

#include "engine/ops/float_function.h"
#include "engine/tactics/bias_axis.h"

namespace enginery {
namespace {

constexpr int64_t kMaxKeyedElements = 4096;

// Numbers of 8 bits are quantised weights, however few: only a single one, a zero point, is more.
bool is_data(const Value& value) {
  const DataType type = value.type.type;
  return (type == DataType::int8 || type == DataType::uint8) && value.constant->size() > 1;
}

TensorDesc describe(const Graph& graph, ValueId v) {
  if (v == kNoValue)
    return {.type = {}, .present = false, .constant = false, .value = {}, .pinned = {}};
  const Value& value = graph.value(v);
  TensorDesc desc{.type = value.type,
                  .present = true,
                  .constant = value.constant.has_value(),
                  .value = {},
                  .pinned = {}};
  const DataType type = value.type.type;
  const bool selects_code = desc.constant && (is_integer(type) || type == DataType::boolean) &&
                            !is_data(value) && value.constant->size() <= kMaxKeyedElements;
  if (selects_code) desc.value = *value.constant;
  return desc;
}

// A constant addition of one number a channel: the bias of an anchor.
bool is_bias(const Graph& graph, const Op& anchor, ValueId operand, const Dims& dims) {
  const Tensor* t = graph.constant(operand);
  if (!t || dims.empty()) return false;
  const size_t axis = bias_axis(anchor, dims.size());
  if (axis >= dims.size() || t->size() != dims[axis] || t->dims().size() > dims.size() ||
      t->dims().empty())
    return false;
  size_t from_right = dims.size() - axis;
  return t->dims().size() >= from_right && t->dims()[t->dims().size() - from_right] == dims[axis];
}

// What `binary` does with what an anchor gave so far.
EpilogueKind combination(const Graph& graph, const Op& anchor, const Binary& binary,
                         ValueId operand, ValueId flowing) {
  if (binary.kind == BinaryKind::mul) return EpilogueKind::multiply;
  const bool bias = is_bias(graph, anchor, operand, graph.value(flowing).type.dims);
  return bias ? EpilogueKind::bias : EpilogueKind::add;
}

// Where the value is an input of the problem, or becomes one; or the result of an earlier member.
int operand_of(const Graph& graph, ValueId v, const std::vector<ValueId>& results,
               NetworkNode& node) {
  if (v == kNoValue) return -1;
  const auto number = [&](const std::vector<ValueId>& values) {
    return static_cast<int>(std::find(values.begin(), values.end(), v) - values.begin());
  };
  const int result = number(results);
  if (result < std::ssize(results)) return -2 - result;  // numbered when all inputs are known
  const int input = number(node.inputs);
  if (input == std::ssize(node.inputs)) {
    node.inputs.push_back(v);
    node.problem.inputs.push_back(describe(graph, v));
  }
  return input;
}

// Whether nobody but the members reads the value.
bool is_inner(const Graph& graph, const Users& users, Members members, ValueId v) {
  const auto is_member = [&](NodeId reader) {
    return std::find(members.begin(), members.end(), reader) != members.end();
  };
  const std::vector<NodeId>& readers = users[static_cast<size_t>(v)];
  return !graph.is_output(v) && std::all_of(readers.begin(), readers.end(), is_member);
}

bool is_all_zeros(const Tensor& t) {
  const std::vector<int64_t> values = to_int64s(t);
  return std::ranges::all_of(values, [](int64_t v) { return v == 0; });
}

bool is_dequantize(const Graph& graph, NodeId id) {
  return id != kNoNode && std::holds_alternative<Dequantize>(graph.node(id).op);
}

// Whether the node makes floats of constants, or of integers of run time by constants.
bool dequantizes(const Graph& graph, const Node& node, RegionPattern::Operands operands) {
  const bool run_time = operands == RegionPattern::Operands::dequantized;
  return std::all_of(node.inputs.begin() + (run_time ? 1 : 0), node.inputs.end(),
                     [&](ValueId v) { return v == kNoValue || graph.constant(v); });
}

// Quantised constants come into a region of quantised numbers as they are: with the operator that
// makes floats of them, whose result is a constant of the graph, too. So do those of run time where
// the region wants them. Zero points of 0 do not come.
void add_dequantized(const Graph& graph, const Node& reader, RegionPattern::Operands operands,
                     std::vector<ValueId>& results, NetworkNode& out) {
  for (const ValueId v : reader.inputs) {
    const NodeId made_by = v == kNoValue ? kNoNode : graph.value(v).producer;
    const bool known = std::find(results.begin(), results.end(), v) != results.end();
    if (known || !is_dequantize(graph, made_by)) continue;
    const Node& node = graph.node(made_by);
    if (!dequantizes(graph, node, operands)) continue;
    RegionOp& op = out.problem.rest.emplace_back(RegionOp{node.op, {}});
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const bool is_zero_point = i == 2 && node.inputs[i] != kNoValue;
      const bool absent = is_zero_point && is_all_zeros(*graph.constant(node.inputs[i]));
      op.operands.push_back(absent ? -1 : operand_of(graph, node.inputs[i], results, out));
    }
    out.problem.inner.push_back(graph.value(results.back()).type);
    results.push_back(v);
  }
}

bool reads_back(const Problem& problem) {
  const size_t inputs = problem.inputs.size();
  return std::all_of(problem.rest.begin(), problem.rest.end(), [&](const RegionOp& op) {
    const std::string text = region_op_text(op, inputs);
    const auto read = parse_region_op(text, inputs);
    return read.ok() && region_op_text(*read, inputs) == text;
  });
}

bool is_taken(const std::vector<NodeId>& members, NodeId node) {
  return std::find(members.begin(), members.end(), node) != members.end();
}

// Whether the node reads the results of all these members; of those that are still to be found,
// nothing is asked.
bool reads_members(const Graph& graph, NodeId reader, const std::vector<NodeId>& members,
                   const std::vector<size_t>& earlier) {
  const std::vector<ValueId>& inputs = graph.node(reader).inputs;
  return std::all_of(earlier.begin(), earlier.end(), [&](size_t place) {
    if (members[place] == kNoNode) return true;
    const ValueId v = graph.node(members[place]).outputs[0];
    return std::find(inputs.begin(), inputs.end(), v) != inputs.end();
  });
}

// The first reader of the earlier places' results that fits this one.
NodeId next_member(const Graph& graph, const Users& users, const std::vector<NodeId>& members,
                   const RegionPattern::Place& place) {
  const auto found = std::ranges::find_if(
      place.reads, [&](size_t earlier) { return members[earlier] != kNoNode; });
  if (found == place.reads.end()) return kNoNode;
  const ValueId first = graph.node(members[*found]).outputs[0];
  for (const NodeId reader : users[static_cast<size_t>(first)]) {
    if (!is_taken(members, reader) && place.fits(graph.node(reader).op) &&
        reads_members(graph, reader, members, place.reads))
      return reader;
  }
  return kNoNode;
}

// Finds, from the member that was added last, those of its places that nothing before it led to.
// False where one of them is missing.
bool find_producers(const Graph& graph, const RegionPattern& pattern,
                    std::vector<NodeId>& members) {
  const NodeId reader = members.back();
  for (const size_t place : pattern.places[members.size() - 1].reads) {
    if (members[place] != kNoNode) continue;
    for (const ValueId v : graph.node(reader).inputs) {
      const NodeId producer = v == kNoValue ? kNoNode : graph.value(v).producer;
      const bool fits = producer != kNoNode && !is_taken(members, producer) &&
                        pattern.places[place].fits(graph.node(producer).op);
      if (fits) members[place] = producer;
    }
    if (members[place] == kNoNode) return false;
  }
  return true;
}

// Adds a member for each further place. False where one of them is missing.
bool complete(const Graph& graph, const Users& users, const RegionPattern& pattern,
              std::vector<NodeId>& members) {
  while (members.size() < pattern.places.size()) {
    const RegionPattern::Place& place = pattern.places[members.size()];
    const NodeId next = next_member(graph, users, members, place);
    if (next == kNoNode && !place.reads.empty()) return false;
    members.push_back(next);
    if (next != kNoNode && !find_producers(graph, pattern, members)) return false;
  }
  return !is_taken(members, kNoNode);
}

// The first member, or it and each of its readers: those of a Dequantize may be in different
// regions.
std::vector<std::vector<NodeId>> beginnings(const Graph& graph, const Users& users, NodeId first,
                                            const RegionPattern& pattern) {
  if (!is_dequantize(graph, first) || pattern.places.size() < 2) return {{first}};
  std::vector<std::vector<NodeId>> out;
  for (const NodeId reader : users[static_cast<size_t>(graph.node(first).outputs[0])]) {
    const bool seen = !out.empty() && out.back()[1] == reader;
    if (!seen && pattern.places[1].fits(graph.node(reader).op)) out.push_back({first, reader});
  }
  return out;
}

}  // namespace

bool is_epilogue(const Graph& graph, Members members) {
  if (members.size() > 1 && is_operator<Cast, Where>(graph.node(members[0]).op)) return false;
  return std::ranges::all_of(members.subspan(1), [&](NodeId id) {
    const Node& node = graph.node(id);
    // A square has no other operand.
    return std::holds_alternative<Activation>(node.op) ||
           (adds_or_multiplies(node.op) && node.inputs[0] != node.inputs[1]);
  });
}

NetworkNode make_node(const Graph& graph, Members members) {
  const Node& anchor = graph.node(members[0]);
  NetworkNode out;
  out.name = anchor.name;
  out.problem.op = anchor.op;
  out.inputs = anchor.inputs;
  out.problem.anchor_inputs = static_cast<int>(anchor.inputs.size());
  ValueId flowing = anchor.outputs[0];
  for (size_t i = 1; i < members.size(); ++i) {
    const Node& node = graph.node(members[i]);
    EpilogueStep step;
    if (const auto* activation = std::get_if<Activation>(&node.op)) {
      step = {EpilogueKind::activation, *activation, -1};
    } else {
      ValueId operand = node.inputs[0] == flowing ? node.inputs[1] : node.inputs[0];
      step = {combination(graph, anchor.op, std::get<Binary>(node.op), operand, flowing),
              {},
              static_cast<int>(out.inputs.size())};
      out.inputs.push_back(operand);
    }
    out.problem.epilogue.push_back(step);
    flowing = node.outputs[0];
    out.name += "+" + node.name;
  }
  out.outputs = members.size() > 1 ? std::vector<ValueId>{flowing} : anchor.outputs;
  for (ValueId v : out.inputs) out.problem.inputs.push_back(describe(graph, v));
  for (ValueId v : out.outputs) out.problem.outputs.push_back(describe(graph, v));
  return out;
}

std::optional<NetworkNode> make_region(const Graph& graph, const Users& users, Members members,
                                       RegionPattern::Operands operands) {
  NetworkNode out;
  std::vector<ValueId> results;
  const bool quantised =
      std::ranges::any_of(members, [&](NodeId id) { return is_dequantize(graph, id); });
  for (const NodeId id : members) {
    const Node& node = graph.node(id);
    const bool last = id == members.back();
    const bool shared = results.empty() && is_dequantize(graph, id);
    if (node.outputs.size() != 1 || !is_static(graph.value(node.outputs[0]).type.dims) ||
        (!last && !shared && !is_inner(graph, users, members, node.outputs[0])))
      return std::nullopt;
    if (results.empty()) {
      out = make_node(graph, members.first(1));
    } else {
      if (quantised) add_dequantized(graph, node, operands, results, out);
      RegionOp& op = out.problem.rest.emplace_back(RegionOp{node.op, {}});
      for (const ValueId v : node.inputs) op.operands.push_back(operand_of(graph, v, results, out));
      out.problem.inner.push_back(graph.value(results.back()).type);
      out.name += "+" + node.name;
    }
    results.push_back(node.outputs[0]);
  }
  const int inputs = static_cast<int>(out.inputs.size());
  for (RegionOp& op : out.problem.rest) {
    for (int& operand : op.operands) operand = operand < -1 ? inputs - 2 - operand : operand;
  }
  out.outputs = {results.back()};
  out.problem.outputs = {describe(graph, results.back())};
  if (!is_region(out.problem) || !reads_back(out.problem)) return std::nullopt;
  return out;
}

std::vector<std::vector<NodeId>> find_regions(const Graph& graph, const Users& users,
                                              const std::vector<NodeId>& order,
                                              const RegionPattern& pattern) {
  std::vector<std::vector<NodeId>> out;
  std::set<std::set<NodeId>> seen;  // of two ways to see the same nodes the first counts
  for (const NodeId first : order) {
    if (!pattern.places[0].fits(graph.node(first).op)) continue;
    for (std::vector<NodeId>& members : beginnings(graph, users, first, pattern)) {
      if (complete(graph, users, pattern, members) &&
          seen.insert({members.begin(), members.end()}).second)
        out.push_back(std::move(members));
    }
  }
  return out;
}

}  // namespace enginery
