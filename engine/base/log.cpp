#include "engine/base/log.h"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <memory>
#include <nlohmann/json.hpp>

namespace enginery {
namespace {

constexpr char kName[] = "enginery";
std::atomic<bool> quote_messages = false;  // JSON lines need their message quoted

spdlog::level::level_enum level_of(LogLevel level) {
  switch (level) {
    case LogLevel::debug:
      return spdlog::level::debug;
    case LogLevel::info:
      return spdlog::level::info;
    case LogLevel::warning:
      return spdlog::level::warn;
    case LogLevel::error:
      return spdlog::level::err;
    case LogLevel::off:
      return spdlog::level::off;
  }
  return spdlog::level::info;
}

}  // namespace

void set_up_log(LogLevel least, bool json) {
  auto logger = spdlog::get(kName);
  if (!logger) logger = spdlog::stderr_color_mt(kName);
  logger->set_level(level_of(least));
  logger->set_pattern(json ? R"({"time":"%Y-%m-%dT%H:%M:%S.%e%z","level":"%l","message":%v})"
                           : "%H:%M:%S.%e %^%l%$ %v");
  logger->flush_on(spdlog::level::debug);
  quote_messages.store(json);
}

void log(LogLevel level, std::string_view message) {
  auto logger = spdlog::get(kName);
  if (!logger) {
    set_up_log(LogLevel::warning, false);
    logger = spdlog::get(kName);
  }
  if (quote_messages.load()) {
    logger->log(level_of(level), "{}", nlohmann::json(message).dump());
  } else {
    logger->log(level_of(level), "{}", message);
  }
}

}  // namespace enginery
