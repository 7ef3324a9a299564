#include <nlohmann/json.hpp>

#include "engine/import/saved/network_file.h"

namespace enginery {
namespace {

// Text that is put together here: where memory runs out, a tree of nlohmann's ends the process,
// since its destructor allocates. A single string's does not.
using Json = nlohmann::json;
using Members = std::map<std::string, std::string>;  // name -> JSON text

constexpr size_t kDataAlignment = 64;

size_t aligned(size_t bytes) {
  return (bytes + kDataAlignment - 1) / kDataAlignment * kDataAlignment;
}

// Throws Json::type_error where the text is not UTF-8.
std::string json_text(std::string_view text) {
  return Json(text).dump();
}

template <typename List, typename TextOf>
std::string json_list(const List& list, TextOf&& text_of) {
  std::string out;
  for (const auto& element : list) out += (out.empty() ? "" : ",") + text_of(element);
  return "[" + out + "]";
}

std::string json_object(const Members& members) {
  std::string out;
  for (const auto& [name, text] : members)
    out += (out.empty() ? "" : ",") + json_text(name) + ":" + text;
  return "{" + out + "}";
}

std::string json_attributes(const Op& op) {
  Members out;
  const auto add = [&](std::string_view name, const auto& value) {
    out[std::string(name)] = json_text(attribute_text(value));
  };
  std::visit([&](const auto& o) { std::decay_t<decltype(o)>::fields(o, add); }, op);
  return json_object(out);
}

Members typed(const char* kind, const Value& value) {
  return {{kind, json_text(value.name)},
          {"type", json_text(to_string(value.type.type))},
          {"dims", json_list(value.type.dims, [](int64_t size) { return std::to_string(size); })}};
}

// Numbers the values in the order in which a reader makes them.
class NetworkWriter {
 public:
  explicit NetworkWriter(const Graph& graph)
      : graph_(graph), numbers_(static_cast<size_t>(graph.value_count()), -1) {}

  // Throws Json::type_error where a name is not UTF-8.
  Bytes write() {
    for (const ValueId v : graph_.inputs()) add_input(v);
    for (const NodeId n : order()) add_node(graph_.node(n));
    const std::string outputs = json_numbers(graph_.outputs());
    Members header = {{"name", json_text(graph_.name)},
                      {"symbols", json_list(graph_.symbols, json_text)},
                      {"records", "[" + records_ + "]"},
                      {"outputs", outputs}};
    if (!graph_.run_time_sizes.empty())
      header["run_time_sizes"] = json_list(graph_.run_time_sizes, [](const RunTimeSize& size) {
        return "[" + std::to_string(size.output) + "," + std::to_string(size.axis) + "," +
               std::to_string(size.count) + "]";
      });
    return assemble(json_object(header));
  }

 private:
  // As they were added where each stands after its producers: then the same graph comes back.
  std::vector<NodeId> order() const {
    std::vector<NodeId> as_added;
    std::vector<bool> is_made(static_cast<size_t>(graph_.node_count()), false);
    for (NodeId n = 0; n < graph_.node_count(); ++n) {
      if (graph_.node(n).erased) continue;
      for (const ValueId v : graph_.node(n).inputs) {
        const NodeId producer = v == kNoValue ? kNoNode : graph_.value(v).producer;
        if (producer != kNoNode && !is_made[static_cast<size_t>(producer)])
          return graph_.topological_order();
      }
      is_made[static_cast<size_t>(n)] = true;
      as_added.push_back(n);
    }
    return as_added;
  }

  void add_record(const Members& members) {
    records_ += (records_.empty() ? "" : ",") + json_object(members);
  }

  void add_input(ValueId v) {
    numbers_[static_cast<size_t>(v)] = next_++;
    add_record(typed("input", graph_.value(v)));
  }

  // Constants among the inputs become records before the layer's own.
  void add_node(const Node& node) {
    const std::string inputs = json_numbers(node.inputs);
    for (const ValueId v : node.outputs) numbers_[static_cast<size_t>(v)] = next_++;
    const auto name_of = [this](ValueId v) { return json_text(graph_.value(v).name); };
    add_record({{"layer", json_text(node.name)},
                {"op", json_text(op_name(node.op))},
                {"attributes", json_attributes(node.op)},
                {"inputs", inputs},
                {"outputs", json_list(node.outputs, name_of)}});
  }

  std::string json_numbers(const std::vector<ValueId>& values) {
    return json_list(values, [this](ValueId v) { return std::to_string(number_of(v)); });
  }

  // A constant stands right before its first reader.
  int64_t number_of(ValueId v) {
    if (v == kNoValue) return -1;
    int64_t& number = numbers_[static_cast<size_t>(v)];
    if (number >= 0) return number;
    const Tensor* tensor = graph_.constant(v);
    ENSURE(tensor != nullptr, "a value that nothing makes");
    Members record = typed("constant", graph_.value(v));
    record["at"] = std::to_string(data_bytes_);
    data_bytes_ += aligned(tensor->byte_span().size());
    constants_.push_back(tensor);
    add_record(record);
    return number = next_++;
  }

  Bytes assemble(const std::string& text) const {
    Bytes out(kNetworkFileMagic);
    const uint64_t size = text.size();
    for (int byte = 0; byte < 8; ++byte) out += static_cast<char>(size >> (8 * byte));
    out += text;
    out.resize(aligned(out.size()));
    out.reserve(out.size() + data_bytes_);
    for (const Tensor* tensor : constants_) {
      const ByteSpan data = tensor->byte_span();
      out.append(reinterpret_cast<const char*>(data.data()), data.size());
      out.resize(aligned(out.size()));
    }
    return out;
  }

  const Graph& graph_;
  std::vector<int64_t> numbers_;  // by ValueId
  int64_t next_ = 0;
  std::string records_;
  std::vector<const Tensor*> constants_;
  size_t data_bytes_ = 0;
};

}  // namespace

Result<Bytes> save_network(const Graph& graph) try {
  return NetworkWriter(graph).write();
} catch (const Json::type_error&) {
  return Error{ErrorCode::invalid_argument, "save a network: a name in it is not UTF-8"};
}

}  // namespace enginery
