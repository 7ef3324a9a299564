#include "engine/base/log.h"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>

#include "engine/base/log_sink.h"

namespace enginery {
namespace {

constexpr char kName[] = "enginery";

// The message as a JSON string, quotes included: %* in a pattern.
class JsonMessage final : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& line, const std::tm&,
              spdlog::memory_buf_t& out) override {
    const std::string_view message(line.payload.data(), line.payload.size());
    const std::string quoted =
        nlohmann::json(message).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    out.append(quoted.data(), quoted.data() + quoted.size());
  }
  std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<JsonMessage>();
  }
};

std::unique_ptr<spdlog::formatter> formatter_of(bool json) {
  auto formatter = std::make_unique<spdlog::pattern_formatter>();
  formatter->add_flag<JsonMessage>('*');
  formatter->set_pattern(json ? R"({"time":"%Y-%m-%dT%H:%M:%S.%e%z","level":"%l","message":%*})"
                              : "%H:%M:%S.%e %^%l%$ %v");
  return formatter;
}

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

// Where messages go when it is not stderr.
struct SinkOfProcess {
  std::mutex mutex;
  LogLevel least = LogLevel::warning;
  LogSink sink;
};
SinkOfProcess& sink_of_process() {
  static SinkOfProcess sink;
  return sink;
}

// Whether there is a sink: then the message is its.
bool taken_by_sink(LogLevel level, std::string_view message) {
  SinkOfProcess& to = sink_of_process();
  std::lock_guard lock(to.mutex);
  if (to.sink && level >= to.least) to.sink(level, message);
  return static_cast<bool>(to.sink);
}

}  // namespace

void set_log_sink(LogLevel least, LogSink sink) {
  SinkOfProcess& to = sink_of_process();
  std::lock_guard lock(to.mutex);
  to.least = least;
  to.sink = std::move(sink);
}

void set_up_log(LogLevel least, bool json) {
  auto logger = spdlog::get(kName);
  if (!logger) logger = spdlog::stderr_color_mt(kName);
  logger->set_level(level_of(least));
  logger->set_formatter(formatter_of(json));
  logger->flush_on(spdlog::level::debug);
}

void log(LogLevel level, std::string_view message) {
  if (taken_by_sink(level, message)) return;
  auto logger = spdlog::get(kName);
  if (!logger) {
    set_up_log(LogLevel::warning, false);
    logger = spdlog::get(kName);
  }
  logger->log(level_of(level), "{}", message);
}

}  // namespace enginery
