// Recurrent layers, unrolled over their steps: the input's products for all steps at once, then for
// each step the state's product and the gates. ONNX RNN-22, GRU-22, LSTM-22.
//
// What a layer starts from when it is given no initial state is not zeros in the graph: terms of it
// are left out of the first step.
#include <algorithm>
#include <array>

#include "engine/import/onnx/operators/read_helpers.h"
#include "engine/import/onnx/operators/readers.h"
#include "engine/import/onnx/operators/recurrent_functions.h"

namespace enginery {
namespace {

constexpr int64_t kMaxSteps = 1024;  // of both directions; about 20 nodes each

ValueId add_up(NodeReader& node, ValueId a, ValueId b) {
  if (a == kNoValue || b == kNoValue) return a == kNoValue ? b : a;
  return node.add(Binary{BinaryKind::add}, {a, b});
}
ValueId product(NodeReader& node, ValueId a, ValueId b) {
  return node.add(Binary{BinaryKind::mul}, {a, b});
}
ValueId one_minus(NodeReader& node, ValueId x) {
  return node.add(Binary{BinaryKind::sub}, {node.number_constant(1, node.type(x)), x});
}
// Row `at` of the first dimension, which goes; kNoValue for an absent value.
ValueId row(NodeReader& node, ValueId x, int64_t at) {
  return x == kNoValue ? x : node.add(Gather{0}, {x, node.constant(Tensor::scalar(at))});
}
std::vector<ValueId> split_columns(NodeReader& node, ValueId x, std::vector<int64_t> sizes) {
  const size_t parts = sizes.size();
  auto columns = node.add_all(Split{node.rank(x) - 1, std::move(sizes)}, {x});
  columns.resize(parts, kNoValue);
  return columns;
}

// One direction of a layer, in the shapes that the steps need. kNoValue where absent.
struct Direction {
  ValueId inputs = kNoValue;           // [steps, batch, gates * hidden]: x * W, with the biases
  ValueId recurrence = kNoValue;       // [hidden, gates * hidden]
  ValueId recurrence_bias = kNoValue;  // [hidden]: what GRU's linear_before_reset multiplies
  ValueId peepholes = kNoValue;        // [3 * hidden]: i, o, f
  ValueId h = kNoValue, c = kNoValue;  // [batch, hidden]: the state
  std::array<RecurrentFunction, 3> functions;
};

struct Layer {
  int64_t gates = 1, hidden = 1, steps = 1;
  bool is_batch_first = false, linear_before_reset = false, couples_input_and_forget = false;
  float clip = 0;              // 0: none
  ValueId lengths = kNoValue;  // [batch], int64
  ValueId x = kNoValue;        // [steps, batch, input]
};

// x * state's weights of the step; kNoValue at the start.
ValueId recur(NodeReader& node, ValueId h, ValueId weights) {
  return h == kNoValue ? h : node.add(MatMul{}, {h, weights});
}

ValueId apply(NodeReader& node, const Layer& layer, const RecurrentFunction& f, ValueId x) {
  if (layer.clip > 0) x = node.add(Activation{ActivationKind::clip, -layer.clip, layer.clip}, {x});
  return f.apply(node, x);
}

void step_rnn(NodeReader& node, const Layer& layer, Direction& d, ValueId in) {
  d.h = apply(node, layer, d.functions[0], add_up(node, in, recur(node, d.h, d.recurrence)));
}

// Gates z, r, h.
void step_gru(NodeReader& node, const Layer& layer, Direction& d, ValueId in) {
  const int64_t n = layer.hidden;
  const auto x = split_columns(node, in, {2 * n, n});
  const auto weights = split_columns(node, d.recurrence, {2 * n, n});
  const auto zr = split_columns(
      node, apply(node, layer, d.functions[0], add_up(node, x[0], recur(node, d.h, weights[0]))),
      {n, n});
  ValueId state = kNoValue;
  if (layer.linear_before_reset) {
    state = add_up(node, recur(node, d.h, weights[1]), d.recurrence_bias);
    if (state != kNoValue) state = product(node, zr[1], state);
  } else if (d.h != kNoValue) {
    state = recur(node, product(node, zr[1], d.h), weights[1]);
  }
  const ValueId candidate = apply(node, layer, d.functions[1], add_up(node, x[1], state));
  const ValueId fresh = product(node, one_minus(node, zr[0]), candidate);
  d.h = d.h == kNoValue ? fresh : add_up(node, fresh, product(node, zr[0], d.h));
}

// Gates i, o, f, c.
void step_lstm(NodeReader& node, const Layer& layer, Direction& d, ValueId in) {
  const int64_t n = layer.hidden;
  const ValueId sum = add_up(node, in, recur(node, d.h, d.recurrence));
  const auto gates = split_columns(node, sum, {n, n, n, n});
  std::vector<ValueId> peep(3, kNoValue);
  if (d.peepholes != kNoValue) peep = split_columns(node, d.peepholes, {n, n, n});
  const auto peeped = [&](ValueId gate, ValueId weights, ValueId c) {
    const bool looks = weights != kNoValue && c != kNoValue;
    return looks ? add_up(node, gate, product(node, weights, c)) : gate;
  };
  const ValueId i = apply(node, layer, d.functions[0], peeped(gates[0], peep[0], d.c));
  ValueId c = product(node, i, apply(node, layer, d.functions[1], gates[3]));
  if (d.c != kNoValue) {
    const ValueId f = layer.couples_input_and_forget
                          ? one_minus(node, i)
                          : apply(node, layer, d.functions[0], peeped(gates[2], peep[2], d.c));
    c = add_up(node, c, product(node, f, d.c));
  }
  const ValueId o = apply(node, layer, d.functions[0], peeped(gates[1], peep[1], c));
  d.h = product(node, o, d.functions[2].apply(node, c));  // not clipped, as in ONNX Runtime
  d.c = c;
}

using Step = void (*)(NodeReader&, const Layer&, Direction&, ValueId in);

// `now` in rows whose sequence reaches step t, `before` (zeros where it is kNoValue) in the others.
ValueId where_reached(NodeReader& node, const Layer& layer, int64_t t, ValueId now,
                      ValueId before) {
  if (layer.lengths == kNoValue || now == kNoValue) return now;
  const ValueId reached =
      node.add(Binary{BinaryKind::less}, {node.constant(Tensor::scalar(t)), layer.lengths});
  const ValueId column = node.add(Unsqueeze{}, {reached, node.ints_constant({1})});
  if (before == kNoValue) before = node.number_constant(0, node.type(now));
  return node.add(Where{}, {column, now, before});
}

// The direction's output of each step, in the order of time.
std::vector<ValueId> run(NodeReader& node, const Layer& layer, Direction& d, bool backward,
                         Step step) {
  std::vector<ValueId> outputs(static_cast<size_t>(layer.steps), kNoValue);
  for (int64_t k = 0; node.ok() && k < layer.steps; ++k) {
    const int64_t t = backward ? layer.steps - 1 - k : k;
    const Direction before = d;
    step(node, layer, d, row(node, d.inputs, t));
    outputs[static_cast<size_t>(t)] = where_reached(node, layer, t, d.h, kNoValue);
    d.h = where_reached(node, layer, t, d.h, before.h);
    d.c = where_reached(node, layer, t, d.c, before.c);
  }
  return outputs;
}

ValueId time_first(NodeReader& node, const Layer& layer, ValueId v) {
  const bool turns = layer.is_batch_first && v != kNoValue;
  return turns ? node.add(Transpose{{1, 0, 2}}, {v}) : v;
}

// B's halves for input and state. They are added up where both come outside of the activations.
void read_biases(NodeReader& node, const Layer& layer, ValueId bias, Direction& d) {
  if (bias == kNoValue) return;
  const int64_t n = layer.hidden, all = layer.gates * n;
  const auto halves = split_columns(node, bias, {all, all});
  ValueId state = halves[1];
  if (layer.linear_before_reset) {
    const auto parts = split_columns(node, state, {2 * n, n});
    d.recurrence_bias = parts[1];
    const ValueId none = node.add(Binary{BinaryKind::sub}, {parts[1], parts[1]});
    state = node.add(Concat{0}, {parts[0], none});
  }
  d.inputs = add_up(node, d.inputs, add_up(node, halves[0], state));
}

Direction read_direction(NodeReader& node, const Layer& layer, int64_t index, ValueId h,
                         ValueId c) {
  const auto transposed = [&](size_t input) {
    return node.add(Transpose{{1, 0}}, {row(node, node.input(input), index)});
  };
  Direction d;
  d.inputs = node.add(MatMul{}, {layer.x, transposed(1)});
  d.recurrence = transposed(2);
  read_biases(node, layer, row(node, node.optional_input(3), index), d);
  d.h = row(node, h, index);
  d.c = row(node, c, index);
  return d;
}

Layer read_layer(NodeReader& node, int64_t gates) {
  Layer layer;
  layer.gates = gates;
  layer.is_batch_first = node.integer("layout", 0) != 0;
  layer.clip = node.real("clip", 0);
  layer.x = time_first(node, layer, node.input(0));
  layer.steps = node.size(layer.x, 0, "the number of steps");
  layer.hidden = node.size(node.input(2), 2, "the size of the state");
  if (node.integer("hidden_size", layer.hidden) != layer.hidden)
    node.reject("attribute hidden_size is not the size of R");
  layer.lengths = as_int64(node, node.optional_input(4));
  const Tensor* lengths = node.constant(layer.lengths);
  if (lengths && std::ranges::all_of(to_int64s(*lengths), [&](auto n) { return n == layer.steps; }))
    layer.lengths = kNoValue;
  return layer;
}

int64_t read_directions(NodeReader& node, bool& first_is_backward) {
  const std::string direction = node.text("direction", "forward");
  if (direction != "forward" && direction != "reverse" && direction != "bidirectional")
    node.reject("attribute direction is '" + printable(direction) + "'");
  first_is_backward = direction == "reverse";
  return direction == "bidirectional" ? 2 : 1;
}

// Y: [steps, directions, batch, hidden].
void result_outputs(NodeReader& node, const Layer& layer,
                    const std::vector<std::vector<ValueId>>& outputs) {
  if (!node.has_output(0)) return;
  std::vector<ValueId> directions;
  for (const auto& steps : outputs) {
    std::vector<ValueId> wide;
    for (const ValueId h : steps)
      wide.push_back(node.add(Unsqueeze{}, {h, node.ints_constant({0, 1})}));
    directions.push_back(node.add(Concat{0}, wide));
  }
  const ValueId y = node.add(Concat{1}, directions);
  node.result(layer.is_batch_first ? node.add(Transpose{{2, 0, 1, 3}}, {y}) : y, 0);
}

// Y_h, Y_c: [directions, batch, hidden].
void result_state(NodeReader& node, const Layer& layer, const std::vector<ValueId>& states,
                  size_t output) {
  if (!node.has_output(output)) return;
  std::vector<ValueId> wide;
  for (const ValueId state : states)
    wide.push_back(node.add(Unsqueeze{}, {state, node.ints_constant({0})}));
  node.result(time_first(node, layer, node.add(Concat{0}, wide)), output);
}

// `has_cell`: LSTM's second state and peepholes.
void read_recurrent(NodeReader& node, Layer layer, const std::vector<std::string>& functions,
                    Step step, bool has_cell) {
  bool is_backward = false;
  const int64_t count = read_directions(node, is_backward);
  const auto chosen = read_recurrent_functions(node, functions, static_cast<size_t>(count));
  const ValueId h = time_first(node, layer, node.optional_input(5));
  const ValueId c = has_cell ? time_first(node, layer, node.optional_input(6)) : kNoValue;
  const ValueId peepholes = has_cell ? node.optional_input(7) : kNoValue;
  if (node.ok() && (layer.steps < 1 || layer.steps * count > kMaxSteps))
    node.refuse(std::to_string(layer.steps) + " steps; from 1 to " +
                std::to_string(kMaxSteps / count) + " are supported");
  std::vector<std::vector<ValueId>> outputs;
  std::vector<ValueId> hidden, cell;
  for (int64_t i = 0; node.ok() && i < count; ++i) {
    Direction d = read_direction(node, layer, i, h, c);
    d.peepholes = row(node, peepholes, i);
    for (size_t f = 0; f < functions.size(); ++f)
      d.functions[f] = chosen[static_cast<size_t>(i) * functions.size() + f];
    outputs.push_back(run(node, layer, d, is_backward || i == 1, step));
    hidden.push_back(d.h);
    cell.push_back(d.c);
  }
  if (!node.ok()) return;
  result_outputs(node, layer, outputs);
  result_state(node, layer, hidden, 1);
  if (has_cell) result_state(node, layer, cell, 2);
}

void read_rnn(NodeReader& node) {
  read_recurrent(node, read_layer(node, 1), {"Tanh"}, step_rnn, false);
}

void read_gru(NodeReader& node) {
  Layer layer = read_layer(node, 3);
  layer.linear_before_reset = node.integer("linear_before_reset", 0) != 0;
  read_recurrent(node, layer, {"Sigmoid", "Tanh"}, step_gru, false);
}

void read_lstm(NodeReader& node) {
  Layer layer = read_layer(node, 4);
  layer.couples_input_and_forget = node.integer("input_forget", 0) != 0;
  read_recurrent(node, layer, {"Sigmoid", "Tanh", "Tanh"}, step_lstm, true);
}

constexpr OperatorReader kRecurrentReaders[] = {
    {"RNN", read_rnn},
    {"GRU", read_gru},
    {"LSTM", read_lstm},
};

}  // namespace

std::span<const OperatorReader> recurrent_readers() {
  return kRecurrentReaders;
}

}  // namespace enginery
