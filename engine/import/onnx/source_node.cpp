#include "engine/import/onnx/source_node.h"

#include "engine/ops/attributes.h"

namespace enginery {
namespace {

constexpr size_t kMaxNameText = 120;
constexpr size_t kMaxListText = 16;

template <typename T, typename F>
std::string list_text(const std::vector<T>& values, F&& text) {
  std::string out = "[";
  for (size_t i = 0; i < values.size() && i < kMaxListText; ++i)
    out += (i ? "," : "") + text(values[i]);
  return out + (values.size() > kMaxListText ? ",...]" : "]");
}

std::string value_text(const AttributeValue& value) {
  return std::visit(
      [](const auto& v) -> std::string {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, int64_t>)
          return std::to_string(v);
        else if constexpr (std::is_same_v<T, float>)
          return float_text(v);
        else if constexpr (std::is_same_v<T, std::string>)
          return printable(v);
        else if constexpr (std::is_same_v<T, std::vector<int64_t>>)
          return list_text(v, [](int64_t i) { return std::to_string(i); });
        else if constexpr (std::is_same_v<T, std::vector<float>>)
          return list_text(v, float_text);
        else if constexpr (std::is_same_v<T, std::vector<std::string>>)
          return list_text(v, printable);
        else if constexpr (std::is_same_v<T, Tensor>)
          return to_string(v.tensor_type());
        else
          return "(" + v.reason + ")";
      },
      value);
}

}  // namespace

std::string printable(const std::string& name) {
  std::string out = name.substr(0, kMaxNameText);
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  return out + (name.size() > kMaxNameText ? "..." : "");
}

std::string attributes_text(const SourceNode& node) {
  std::string out;
  for (const auto& [name, value] : node.attributes) {
    if (out.size() > 4 * kMaxNameText) return out + " ...";
    out += (out.empty() ? "" : " ") + printable(name) + "=" + value_text(value);
  }
  return out;
}

std::string shown_name(const SourceNode& node) {
  const bool is_named = !node.name.empty() || node.outputs.empty();
  return printable(is_named ? node.name : node.outputs[0]);
}

std::string node_text(const SourceNode& node) {
  const std::string domain = node.domain.empty() ? "" : printable(node.domain) + ".";
  return "node '" + shown_name(node) + "' (" + domain + printable(node.op_type) + ")";
}

}  // namespace enginery
