#include "engine/ops/attributes.h"

namespace enginery {

std::string float_text(float value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  char buffer[32];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, value);
  return {buffer, error == std::errc() ? end : buffer};
}

Result<float> parse_float(std::string_view text) {
  float value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    return Error{ErrorCode::invalid_argument, "'" + std::string(text) + "' is not a number"};
  }
  return value;
}

std::string ints_text(const std::vector<int64_t>& values) {
  std::string out = "[";
  for (size_t i = 0; i < values.size(); ++i) out += (i ? "," : "") + std::to_string(values[i]);
  return out + "]";
}

Result<std::vector<int64_t>> parse_ints(std::string_view text) {
  if (text.size() < 2 || text.front() != '[' || text.back() != ']') {
    return bad_attribute("list", text, "[integers]");
  }
  text = text.substr(1, text.size() - 2);
  std::vector<int64_t> out;
  while (!text.empty()) {
    const size_t comma = text.find(',');
    TRY(const int64_t value, parse_int(text.substr(0, comma)));
    out.push_back(value);
    if (comma == text.npos) break;
    text.remove_prefix(comma + 1);
    if (text.empty()) return bad_attribute("list", "[...,]", "an integer after each comma");
  }
  return out;
}

Error bad_attribute(std::string_view name, std::string_view text, std::string_view expected) {
  return {ErrorCode::invalid_argument, "attribute '" + std::string(name) + "' = '" +
                                           std::string(text) + "': expected " +
                                           std::string(expected)};
}

}  // namespace enginery
