// Expected failure as a value: Error, Result<T>, Status and the two macros that pass an Error on.
//
// Where: below everything; part of the public API. Values: safe to move between threads.
#pragma once

#include <cstdlib>
#include <string>
#include <utility>
#include <variant>

namespace enginery {

// What kind of failure; the command line maps each to one exit code (cli/output/exit_code.h).
enum class ErrorCode {
  invalid_argument,  // the input (model, picture, array, shape) breaks its own rules
  usage,             // the request itself is malformed: flag, target name
  not_found,         // a named file, job, engine or key does not exist
  unsupported,       // valid, but this implementation cannot do it: ask the next one
  out_of_memory,     // host or device memory
  corrupt_data,      // bytes that do not parse or do not match their digest
  untrusted,         // signature or tampering: an engine that must not be used; authorisation
  incompatible,      // an engine of another SKU, instruction-set cap or library version
  unavailable,       // the other side does not answer
  timed_out,
  cancelled,
  storage,  // local disk: read-only, full, permission, locked
  internal,
  device_lost,  // the device faulted: nothing of this process that is on it works any more; another
                // process may go on
};
// Codes are stored and sent as numbers: new ones go to the end.
inline constexpr ErrorCode kLastErrorCode = ErrorCode::device_lost;

const char* to_string(ErrorCode code);

// A failure: its kind and one sentence (what was attempted, on what, why it failed).
struct Error {
  ErrorCode code = ErrorCode::internal;
  std::string message;

  // Adds the caller's verb in front: "build resnet50.onnx" + "import: ..." -> "build resnet50.onnx:
  // import: ...".
  Error within(const std::string& verb) const { return {code, verb + ": " + message}; }
};

// Prints the reason and aborts: a broken promise inside our own code, never a reaction to input.
[[noreturn]] void panic(const char* file, int line, const std::string& reason);

// A T or the Error that prevented it. value() on an error aborts.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& value() & { return require(), std::get<0>(state_); }
  const T& value() const& { return require(), std::get<0>(state_); }
  T&& value() && { return require(), std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  const Error& error() const& { return std::get<1>(state_); }
  Error&& error() && { return std::get<1>(std::move(state_)); }

 private:
  void require() const {
    if (!ok()) panic(__FILE__, __LINE__, "value() of an error: " + std::get<1>(state_).message);
  }
  std::variant<T, Error> state_;
};

// Success, or the Error.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Error error) : error_(std::move(error)), ok_(false) {}

  bool ok() const { return ok_; }
  explicit operator bool() const { return ok_; }
  const Error& error() const { return error_; }

 private:
  Error error_;
  bool ok_ = true;
};

}  // namespace enginery

#define ENGINERY_CONCAT_(a, b) a##b
#define ENGINERY_CONCAT(a, b) ENGINERY_CONCAT_(a, b)

// TRY(auto x, f()): x = *f(), or return f's error from the enclosing function.
#define ENGINERY_TRY_(tmp, declaration, ...)    \
  auto tmp = (__VA_ARGS__);                     \
  if (!tmp.ok()) return std::move(tmp).error(); \
  declaration = std::move(tmp).value()
#define TRY(declaration, ...) \
  ENGINERY_TRY_(ENGINERY_CONCAT(try_, __LINE__), declaration, __VA_ARGS__)

// CHECK_OK(f()): return f's error from the enclosing function, if it has one.
#define CHECK_OK(...)                                                        \
  do {                                                                       \
    if (auto status_ = (__VA_ARGS__); !status_.ok()) return status_.error(); \
  } while (false)

// ENSURE(condition, reason): aborts when our own code broke a promise.
#define ENSURE(condition, reason) \
  ((condition) ? void() : ::enginery::panic(__FILE__, __LINE__, reason))
