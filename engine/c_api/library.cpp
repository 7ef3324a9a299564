// What the C interface says of itself, and where its messages go.
#include "engine/base/log_sink.h"
#include "engine/c_api/objects.h"

namespace enginery {
namespace {

constexpr int32_t kStatusCount = ENGINERY_ERROR_DEVICE_LOST + 1;

bool is_type(enginery_type type) {
  return type >= 0 && type < kDataTypeCount;
}
static_assert(static_cast<int>(DataType::float32) == ENGINERY_FLOAT32);
static_assert(static_cast<int>(DataType::int64) == ENGINERY_INT64);
static_assert(static_cast<int>(DataType::boolean) == ENGINERY_BOOL);
static_assert(static_cast<int>(DataType::float8e5m2fnuz) == ENGINERY_FLOAT8E5M2FNUZ);
static_assert(static_cast<int>(DataType::uint4) == ENGINERY_UINT4);
static_assert(kDataTypeCount == ENGINERY_UINT4 + 1);

LogSink sink_of(enginery_log_fn log, void* user) {
  return [log, user](LogLevel level, std::string_view message) {
    log(user, static_cast<int32_t>(level), std::string(message).c_str());
  };
}

}  // namespace
}  // namespace enginery

using namespace enginery;

const char* enginery_version(void) {
  return ENGINERY_VERSION;
}

const char* enginery_last_error(void) {
  return last_message();
}

const char* enginery_status_name(enginery_status status) {
  if (status == ENGINERY_OK) return "ok";
  if (status > 0 && status < kStatusCount) return to_string(static_cast<ErrorCode>(status - 1));
  if (status == ENGINERY_ERROR_HANDLE) return "not a live handle";
  if (status == ENGINERY_ERROR_BUSY) return "busy";
  if (status == ENGINERY_ERROR_NOT_SET) return "not set";
  return "unknown status";
}

const char* enginery_type_name(enginery_type type) {
  // Each view is of a literal, which ends with a zero.
  return is_type(type) ? to_string(static_cast<DataType>(type)).data() : "unknown type";
}

size_t enginery_type_bytes(enginery_type type) {
  return is_type(type) ? static_cast<size_t>(element_bytes(static_cast<DataType>(type))) : 0;
}

enginery_status enginery_set_log(enginery_log_fn log, void* user, int32_t level) {
  return outcome_of([&]() -> Failure {
    if (level < 0 || level > static_cast<int32_t>(LogLevel::off))
      return invalid_call("expected a level from 0 to 4, got " + std::to_string(level));
    set_log_sink(static_cast<LogLevel>(level), log ? sink_of(log, user) : LogSink());
    return {};
  });
}
