// The process's exit codes: what scripts branch on (cli/README.md has the table; the numbers never
// change).
//
// Where: every verb returns one or an Error, which main turns into one. Threads: as any value.
#pragma once

#include "engine/base/result.h"

namespace enginery {

enum class ExitCode : int {
  ok = 0,
  failed = 1,         // job or build failed, internal
  usage = 2,          // bad flag, unknown target name
  not_found = 3,      // file, name, job
  unreachable = 4,    // no coordinator answers
  untrusted = 5,      // signature, tampered or truncated engine, authorisation
  timed_out = 6,      // or cancelled
  incompatible = 7,   // an engine of another SKU
  partial = 8,        // some SKUs failed
  invalid_input = 9,  // invalid or unsupported model, image, array, preprocessing file
  storage = 10,       // read-only, full, permission, locked
};

// The exit code of a failure. A broken model is invalid_argument (its reader says so), so
// corrupt_data is always an engine's.
constexpr ExitCode exit_code(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument:
    case ErrorCode::unsupported:
      return ExitCode::invalid_input;
    case ErrorCode::usage:
      return ExitCode::usage;
    case ErrorCode::not_found:
      return ExitCode::not_found;
    case ErrorCode::out_of_memory:
    case ErrorCode::internal:
    case ErrorCode::device_lost:
      return ExitCode::failed;
    case ErrorCode::corrupt_data:
    case ErrorCode::untrusted:
      return ExitCode::untrusted;
    case ErrorCode::incompatible:
      return ExitCode::incompatible;
    case ErrorCode::unavailable:
      return ExitCode::unreachable;
    case ErrorCode::timed_out:
    case ErrorCode::cancelled:
      return ExitCode::timed_out;
    case ErrorCode::storage:
      return ExitCode::storage;
  }
  return ExitCode::failed;
}

}  // namespace enginery
