#include "engine/c_api/outcome.h"

#include <algorithm>
#include <array>
#include <exception>
#include <new>

namespace enginery {
namespace {

constexpr size_t kMaxMessageBytes = 2048;

// Of a fixed size: that memory ran out can be said, too.
thread_local std::array<char, kMaxMessageBytes> message_of_thread{};

// ErrorCode's numbers begin with 0, which is a success here.
enginery_status status_of(ErrorCode code) {
  return static_cast<enginery_status>(code) + 1;
}
static_assert(static_cast<int>(ErrorCode::invalid_argument) + 1 == ENGINERY_ERROR_INVALID_ARGUMENT);
static_assert(static_cast<int>(kLastErrorCode) + 1 == ENGINERY_ERROR_DEVICE_LOST);

}  // namespace

Failure::Failure(const Status& status) {
  if (!status.ok()) *this = Failure(status.error());
}
Failure::Failure(const Error& error) : Failure(status_of(error.code), error.message) {}
Failure::Failure(enginery_status status, std::string message)
    : status_(status), message_(std::move(message)) {}

enginery_status remember(enginery_status status, std::string_view message) {
  const size_t length = std::min(message.size(), kMaxMessageBytes - 1);
  std::copy_n(message.begin(), length, message_of_thread.begin());
  message_of_thread[length] = 0;
  return status;
}

enginery_status remember_exception() {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return remember(ENGINERY_ERROR_OUT_OF_MEMORY, "out of memory");
  } catch (const std::exception& e) {
    return remember(ENGINERY_ERROR_INTERNAL, e.what());
  } catch (...) {
    return remember(ENGINERY_ERROR_INTERNAL, "a callback has thrown something");
  }
}

const char* last_message() {
  return message_of_thread.data();
}

}  // namespace enginery
