#include "pipeline/outcome_json.h"

#include <nlohmann/json.hpp>

namespace enginery {
namespace {

using nlohmann::json;

// A worker's text may be any bytes; JSON's must be UTF-8.
std::string dump(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace

std::string outcome_json(const StepResult& result) {
  json out;
  out["metrics"] = json::object();
  out["facts"] = json::object();
  for (const NamedNumber& metric : result.metrics) out["metrics"][metric.name] = metric.value;
  for (const NamedText& fact : result.facts) out["facts"][fact.name] = fact.value;
  if (!result.success)
    out["fault"] = {{"code", to_string(result.fault.code)}, {"message", result.fault.message}};
  return dump(out);
}

void read_outcome_json(const std::string& text, StepResult& result) {
  const json in = json::parse(text, nullptr, false);
  if (!in.is_object()) return;
  if (const auto metrics = in.find("metrics"); metrics != in.end() && metrics->is_object())
    for (const auto& [name, value] : metrics->items())
      if (value.is_number()) result.metrics.push_back({name, value.get<double>()});
  if (const auto facts = in.find("facts"); facts != in.end() && facts->is_object())
    for (const auto& [name, value] : facts->items())
      if (value.is_string()) result.facts.push_back({name, value.get<std::string>()});
  const auto fault = in.find("fault");
  if (fault == in.end() || !fault->is_object()) return;
  const std::string code = fault->value("code", "internal");
  for (int i = 0; i <= static_cast<int>(kLastErrorCode); ++i)
    if (code == to_string(static_cast<ErrorCode>(i))) result.fault.code = static_cast<ErrorCode>(i);
  result.fault.message = fault->value("message", "");
}

std::string fields_json(const std::vector<NamedText>& fields) {
  json out = json::object();
  for (const NamedText& field : fields) out[field.name] = field.value;
  return dump(out);
}

}  // namespace enginery
