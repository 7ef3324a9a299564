// How a call of the C interface ends: its status, and the sentence that enginery_last_error() gives
// to the same thread.
//
// Where: every function of enginery.h that can fail is one call of `outcome_of`. Thread-safe.
#pragma once

#include <string_view>

#include "enginery/enginery.h"
#include "enginery/result.h"

namespace enginery {

// What the engine's own ErrorCode has no word for: a status of the C interface with its sentence.
class Failure {
 public:
  Failure() = default;            // success
  Failure(const Status& status);  // NOLINT: what the engine returned
  Failure(const Error& error);    // NOLINT
  Failure(enginery_status status, std::string message);
  enginery_status status() const { return status_; }
  const std::string& message() const { return message_; }

 private:
  enginery_status status_ = ENGINERY_OK;
  std::string message_;
};

// Remembers the sentence for this thread; needs no memory. Returns `status`.
enginery_status remember(enginery_status status, std::string_view message);
// The same for the exception that is being handled.
enginery_status remember_exception();
const char* last_message();

// Runs a call's body, which returns a Failure: nothing that it throws gets out.
template <typename F>
enginery_status outcome_of(F&& body) noexcept {
  try {
    const Failure failure = body();
    return remember(failure.status(), failure.message());
  } catch (...) {
    return remember_exception();
  }
}

}  // namespace enginery
