#include <nlohmann/json.hpp>

#include "engine/import/saved/network_file.h"

namespace enginery {
namespace {

using Json = nlohmann::json;

constexpr size_t kDataAlignment = 64;

size_t aligned(size_t bytes) {
  return (bytes + kDataAlignment - 1) / kDataAlignment * kDataAlignment;
}

Json attributes_of(const Op& op) {
  Json out = Json::object();
  const auto add = [&](std::string_view name, const auto& value) {
    out[std::string(name)] = attribute_text(value);
  };
  std::visit([&](const auto& o) { std::decay_t<decltype(o)>::fields(o, add); }, op);
  return out;
}

// Numbers the values in the order in which a reader makes them.
class NetworkWriter {
 public:
  explicit NetworkWriter(const Graph& graph)
      : graph_(graph), numbers_(static_cast<size_t>(graph.value_count()), -1) {}

  Result<Bytes> write() {
    for (const ValueId v : graph_.inputs()) add_input(v);
    for (const NodeId n : order()) add_node(graph_.node(n));
    Json outputs = Json::array();
    for (const ValueId v : graph_.outputs()) outputs.push_back(number_of(v));
    const Json header = {{"name", graph_.name},
                         {"symbols", graph_.symbols},
                         {"records", std::move(records_)},
                         {"outputs", std::move(outputs)}};
    TRY(const std::string text, text_of(header));
    return assemble(text);
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

  Json typed(const char* kind, const Value& value) {
    return {{kind, value.name},
            {"type", std::string(to_string(value.type.type))},
            {"dims", value.type.dims}};
  }

  void add_input(ValueId v) {
    numbers_[static_cast<size_t>(v)] = next_++;
    records_.push_back(typed("input", graph_.value(v)));
  }

  void add_node(const Node& node) {
    Json inputs = Json::array(), outputs = Json::array();
    for (const ValueId v : node.inputs) inputs.push_back(number_of(v));
    for (const ValueId v : node.outputs) {
      outputs.push_back(graph_.value(v).name);
      numbers_[static_cast<size_t>(v)] = next_++;
    }
    records_.push_back({{"layer", node.name},
                        {"op", std::string(op_name(node.op))},
                        {"attributes", attributes_of(node.op)},
                        {"inputs", std::move(inputs)},
                        {"outputs", std::move(outputs)}});
  }

  // A constant stands right before its first reader.
  int64_t number_of(ValueId v) {
    if (v == kNoValue) return -1;
    int64_t& number = numbers_[static_cast<size_t>(v)];
    if (number >= 0) return number;
    const Tensor* tensor = graph_.constant(v);
    ENSURE(tensor != nullptr, "a value that nothing makes");
    Json record = typed("constant", graph_.value(v));
    record["at"] = data_bytes_;
    data_bytes_ += aligned(tensor->byte_span().size());
    constants_.push_back(tensor);
    records_.push_back(std::move(record));
    return number = next_++;
  }

  static Result<std::string> text_of(const Json& header) try {
    return header.dump();
  } catch (const Json::type_error&) {
    return Error{ErrorCode::invalid_argument, "save a network: a name in it is not UTF-8"};
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
  Json records_ = Json::array();
  std::vector<const Tensor*> constants_;
  size_t data_bytes_ = 0;
};

}  // namespace

Result<Bytes> save_network(const Graph& graph) {
  return NetworkWriter(graph).write();
}

}  // namespace enginery
