#include "coordinator/views/json_values.h"

#include <fmt/format.h>

#include <ctime>
#include <nlohmann/json.hpp>

namespace enginery {

std::string json_text(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string valid_utf8(std::string_view text) {
  const std::string quoted =
      Json(std::string(text)).dump(-1, ' ', false, Json::error_handler_t::replace);
  return Json::parse(quoted).get<std::string>();
}

Json json_time(int64_t wall_time_ns) {
  if (wall_time_ns == 0) return nullptr;
  const std::time_t seconds = wall_time_ns / 1'000'000'000;
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  char text[32];
  const size_t size = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &utc);
  return fmt::format("{}.{:03}Z", std::string_view(text, size), wall_time_ns / 1'000'000 % 1000);
}

bool is_document(const Json& json, std::string_view schema) {
  const auto found = json.is_object() ? json.find("schema") : json.end();
  return found != json.end() && found->is_string() &&
         found->get_ref<const std::string&>() == schema;
}

Json json_known(double number) {
  return number == 0 ? Json(nullptr) : Json(number);
}

Json json_text_or_null(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(valid_utf8(text));
}

}  // namespace enginery
