#include "engine/base/result.h"

#include <cstdio>

namespace enginery {

const char* to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument:
      return "invalid_argument";
    case ErrorCode::usage:
      return "usage";
    case ErrorCode::not_found:
      return "not_found";
    case ErrorCode::unsupported:
      return "unsupported";
    case ErrorCode::out_of_memory:
      return "out_of_memory";
    case ErrorCode::corrupt_data:
      return "corrupt_data";
    case ErrorCode::untrusted:
      return "untrusted";
    case ErrorCode::incompatible:
      return "incompatible";
    case ErrorCode::unavailable:
      return "unavailable";
    case ErrorCode::timed_out:
      return "timed_out";
    case ErrorCode::cancelled:
      return "cancelled";
    case ErrorCode::storage:
      return "storage";
    case ErrorCode::internal:
      return "internal";
    case ErrorCode::device_lost:
      return "device_lost";
  }
  return "unknown";
}

void panic(const char* file, int line, const std::string& reason) {
  std::fprintf(stderr, "%s:%d: broken promise: %s\n", file, line, reason.c_str());
  std::abort();
}

}  // namespace enginery
