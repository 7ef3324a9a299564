#include "engine/graph/text.h"

#include <algorithm>
#include <cstdlib>
#include <random>
#include <sstream>

#include "engine/graph/text_words.h"
#include "engine/tensor/storage_types.h"

namespace enginery {
namespace {

constexpr int64_t kMaxPrintedElements = 16;

std::string dims_text(const Graph& graph, const Dims& dims) {
  std::string out;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (i) out += 'x';
    const size_t symbol = static_cast<size_t>(-2 - dims[i]);
    if (dims[i] >= 0)
      out += std::to_string(dims[i]);
    else
      out += dims[i] <= -2 && symbol < graph.symbols.size() ? graph.symbols[symbol] : "?";
  }
  return "[" + out + "]";
}

std::string type_text(const Graph& graph, const TensorType& type) {
  return std::string(to_string(type.type)) + dims_text(graph, type.dims);
}

bool has_fractions(DataType type) {
  return is_floating(type) || is_float8(type);
}

std::string constant_text(const Tensor& tensor) {
  if (tensor.size() > kMaxPrintedElements) return sha256(tensor.byte_span()).text();
  std::string out;
  const Tensor wide =
      convert(tensor, has_fractions(tensor.type()) ? DataType::float32 : DataType::int64);
  for (int64_t i = 0; i < wide.size(); ++i) {
    if (i) out += ", ";
    out += wide.type() == DataType::float32
               ? float_text(wide.data<float>()[static_cast<size_t>(i)])
               : std::to_string(wide.data<int64_t>()[static_cast<size_t>(i)]);
  }
  return "{" + out + "}";
}

std::string value_text(const Graph& graph, ValueId id) {
  return "%" + name_text(graph.value(id).name);
}

std::string values_text(const Graph& graph, const std::vector<ValueId>& ids) {
  std::string out;
  for (size_t i = 0; i < ids.size(); ++i) {
    if (i) out += ", ";
    out += ids[i] == kNoValue ? "_" : value_text(graph, ids[i]);
  }
  return out;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : lexer_(text) {}

  Result<Graph> parse() {
    CHECK_OK(lexer_.expect("graph"));
    if (lexer_.peek() != "{") {
      TRY(graph_.name, lexer_.name_of(lexer_.next()));
    }
    CHECK_OK(lexer_.expect("{"));
    while (!lexer_.accept("}")) {
      if (lexer_.peek().empty()) return lexer_.error("'}' is missing");
      CHECK_OK(parse_line());
    }
    return std::move(graph_);
  }

 private:
  Status parse_line() {
    if (lexer_.accept("input")) {
      TRY(const std::string name, value_name());
      CHECK_OK(lexer_.expect(":"));
      TRY(const TensorType type, parse_type(lexer_.next()));
      ids_[name] = graph_.add_input(name, type);
      return {};
    }
    if (lexer_.accept("output")) {
      TRY(const ValueId id, known_value());
      return graph_.mark_output(id);
    }
    std::vector<std::string> names;
    do {
      TRY(names.emplace_back(), value_name());
    } while (lexer_.accept(","));
    CHECK_OK(lexer_.expect("="));
    const std::string op(lexer_.next());
    return op == "constant" ? parse_constant(names[0]) : parse_node(names, op);
  }

  // Whether a line or the end of the graph is next; an attribute may have a line's first word for
  // its key.
  bool begins_line() {
    const std::string_view word = lexer_.peek();
    if (word == "input" || word == "output") return !lexer_.is_key_next();
    return word.empty() || word == "}" || word[0] == '%';
  }

  Result<std::string> value_name() {
    const std::string_view word = lexer_.next();
    if (word.size() < 2 || word[0] != '%')
      return lexer_.error("expected a %value, found '" + std::string(word) + "'");
    return lexer_.name_of(word.substr(1));
  }

  Result<ValueId> known_value() {
    if (lexer_.accept("_")) return kNoValue;
    TRY(const std::string name, value_name());
    const auto found = ids_.find(name);
    if (found == ids_.end()) return lexer_.error("%" + name + " is not defined above");
    return found->second;
  }

  Result<TensorType> parse_type(std::string_view word) {
    const size_t open = word.find('[');
    if (open == std::string_view::npos || word.back() != ']')
      return lexer_.error("'" + std::string(word) + "' is not a type");
    TensorType type;
    TRY(type.type, parse_data_type(word.substr(0, open)));
    std::string_view dims = word.substr(open + 1, word.size() - open - 2);
    while (!dims.empty()) {
      const size_t x = std::min(dims.find('x'), dims.size());
      const std::string size(dims.substr(0, x));
      const auto number = parse_int(size);
      type.dims.push_back(number ? *number : size == "?" ? kDynamic : graph_.symbol_size(size));
      dims.remove_prefix(std::min(x + 1, dims.size()));
    }
    return type;
  }

  Status parse_constant(const std::string& name) {
    TRY(const TensorType type, parse_type(lexer_.next()));
    TRY(const Tensor data, parse_data(type));
    const Tensor exact = convert(data, type.type, Overflow::infinity);
    ids_[name] = graph_.add_constant(name, exact.reshaped(type.dims));
    return {};
  }

  Result<Tensor> parse_data(const TensorType& type) {
    TRY(const int64_t count, checked_volume(type.dims, 8));
    Tensor out(has_fractions(type.type) ? DataType::float64 : DataType::int64, {count});
    const std::string kind(lexer_.next());
    if (kind.starts_with("sha256"))
      return lexer_.error("the constant is given by its digest alone, not by its data");
    if (kind != "{" && (kind != "fill" && kind != "random"))
      return lexer_.error("constant data expected");
    if (kind == "{") {
      CHECK_OK(parse_elements(lexer_.until('}'), out));
      return out;
    }
    CHECK_OK(lexer_.expect("("));
    double argument = 0;
    std::istringstream{std::string(lexer_.until(')'))} >> argument;
    std::mt19937_64 random(static_cast<uint64_t>(argument));
    std::uniform_real_distribution<double> uniform(-1, 1);
    for (int64_t i = 0; i < count; ++i) {
      const double v = kind == "fill" ? argument : uniform(random);
      if (out.type() == DataType::float64)
        out.mutable_data<double>()[static_cast<size_t>(i)] = v;
      else
        out.mutable_data<int64_t>()[static_cast<size_t>(i)] = static_cast<int64_t>(v);
    }
    return out;
  }

  // One number for each element; integers are read as such, because a double cannot hold all of
  // them.
  Status parse_elements(std::string_view list, Tensor& out) {
    std::istringstream text{std::string(list)};
    std::string word;
    for (int64_t i = 0; i < out.size(); ++i) {
      if (!(text >> std::ws) || !std::getline(text, word, ','))
        return lexer_.error("too few elements");
      word.erase(word.find_last_not_of(" \n\t") + 1);
      if (out.type() == DataType::float64) {
        char* end = nullptr;
        out.mutable_data<double>()[static_cast<size_t>(i)] = std::strtod(word.c_str(), &end);
        if (word.empty() || *end != 0) return lexer_.error("'" + word + "' is not a number");
      } else {
        const auto number = parse_int(word);
        if (!number) return lexer_.error(number.error().message);
        out.mutable_data<int64_t>()[static_cast<size_t>(i)] = *number;
      }
    }
    if (text >> word) return lexer_.error("too many elements");
    return {};
  }

  Status parse_node(const std::vector<std::string>& names, const std::string& op_word) {
    CHECK_OK(lexer_.expect("("));
    std::vector<ValueId> inputs;
    while (!lexer_.accept(")")) {
      if (!inputs.empty()) CHECK_OK(lexer_.expect(","));
      TRY(inputs.emplace_back(), known_value());
    }
    std::map<std::string, std::string> attributes;
    int32_t group = kNoGroup;
    while (!begins_line()) {
      const std::string key(lexer_.next());
      CHECK_OK(lexer_.expect("="));
      const std::string text(lexer_.next());
      if (key == "group") {
        TRY(const int64_t number, parse_int(text));
        group = static_cast<int32_t>(number);
      } else {
        attributes[key] = text;
      }
    }
    const auto op = parse_op(op_word, attributes);
    if (!op) return lexer_.error(op.error().message);
    const auto outputs = graph_.add_node(names[0], *op, inputs, names);
    if (!outputs) return lexer_.error(outputs.error().message);
    graph_.node(graph_.node_count() - 1).group = group;
    for (size_t i = 0; i < outputs->size() && i < names.size(); ++i) ids_[names[i]] = (*outputs)[i];
    return {};
  }

  Lexer lexer_;
  Graph graph_;
  std::map<std::string, ValueId> ids_;
};

// One line a live value or node in canonical order, with numbers for names.
std::string canonical_text(const Graph& graph, bool with_weights) {
  std::vector<int> number(static_cast<size_t>(graph.value_count()), -1);
  int next = 0;
  std::string out;
  const auto define = [&](ValueId v) { return number[static_cast<size_t>(v)] = next++; };
  const auto constant = [&](ValueId v) {
    const Tensor& t = *graph.constant(v);
    const bool exact = with_weights || !is_floating(t.type());
    out += "c" + std::to_string(define(v)) + " " + to_string(t.tensor_type()) +
           (exact ? " " + sha256(t.byte_span()).hex() : "") + "\n";
  };
  for (const ValueId v : graph.inputs()) {
    out += "i" + std::to_string(define(v)) + " " + type_text(graph, graph.value(v).type) + "\n";
  }
  for (const NodeId id : graph.topological_order()) {
    const Node& node = graph.node(id);
    for (const ValueId v : node.inputs) {
      if (v != kNoValue && graph.constant(v) && number[static_cast<size_t>(v)] < 0) constant(v);
    }
    out += std::string(op_name(node.op)) + " " + attributes_text(node.op) + " g" +
           std::to_string(node.group) + " (";
    for (const ValueId v : node.inputs)
      out += v == kNoValue ? "_ " : std::to_string(number[static_cast<size_t>(v)]) + " ";
    out += ")";
    for (const ValueId v : node.outputs)
      out += " " + std::to_string(define(v)) + ":" + type_text(graph, graph.value(v).type);
    out += "\n";
  }
  for (const ValueId v : graph.outputs()) {
    if (graph.constant(v) && number[static_cast<size_t>(v)] < 0) constant(v);
    out += "o" + std::to_string(number[static_cast<size_t>(v)]) + "\n";
  }
  return out;
}

}  // namespace

std::string to_text(const Graph& graph) {
  std::string out = "graph " + (graph.name.empty() ? "" : name_text(graph.name)) + " {\n";
  for (const ValueId v : graph.inputs()) {
    out += "  input " + value_text(graph, v) + " : " + type_text(graph, graph.value(v).type) + "\n";
  }
  std::vector<bool> printed(static_cast<size_t>(graph.value_count()), false);
  const auto constant = [&](ValueId v) {
    if (v == kNoValue || !graph.constant(v) || printed[static_cast<size_t>(v)]) return;
    printed[static_cast<size_t>(v)] = true;
    const Value& value = graph.value(v);
    out += "  " + value_text(graph, v) + " = constant " + type_text(graph, value.type) + " " +
           constant_text(*value.constant) + "\n";
  };
  for (const NodeId id : graph.topological_order()) {
    const Node& node = graph.node(id);
    for (const ValueId v : node.inputs) constant(v);
    const std::string attributes = attributes_text(node.op);
    out += "  " + values_text(graph, node.outputs) + " = " + std::string(op_name(node.op)) + "(" +
           values_text(graph, node.inputs) + ")" + (attributes.empty() ? "" : " " + attributes);
    if (node.group != kNoGroup) out += " group=" + std::to_string(node.group);
    out += "  # " + type_text(graph, graph.value(node.outputs[0]).type) + "\n";
  }
  for (const ValueId v : graph.outputs()) {
    constant(v);
    out += "  output " + value_text(graph, v) + "\n";
  }
  for (const RunTimeSize& size : graph.run_time_sizes) {
    const auto name = [&](size_t output) { return value_text(graph, graph.outputs()[output]); };
    out += "  # dimension " + std::to_string(size.axis) + " of " + name(size.output) + " is " +
           name(size.count) + "\n";
  }
  return out + "}\n";
}

Result<Graph> parse_graph(std::string_view text) {
  return Parser(text).parse();
}

Digest structure_fingerprint(const Graph& graph) {
  return sha256(canonical_text(graph, false));
}

Digest fingerprint(const Graph& graph) {
  return sha256(canonical_text(graph, true));
}

}  // namespace enginery
