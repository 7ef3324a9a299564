// FailureKind: why a tactic was rejected, by type, so that rejections can be counted apart. The
// text beside it says what exactly happened.
//
// Where: the tuner and the worker's runner decide the kind where a tactic fails; its timing keeps
// it. Plain values, no thread rule.
#pragma once

#include <string_view>

#include "enginery/result.h"

namespace enginery {

// In order of how far the tactic came. The words (`to_string`) are kept in timing stores: a word is
// never renamed or reused; add kinds at the end.
enum class FailureKind {
  unknown,        // an entry written before kinds existed, or by a later version
  compile,        // `prepare` failed: its code or its weights
  launch,         // `enqueue` failed, or the device reported an error of its launch
  wrong_result,   // it ran, and differs from the reference by more than its precision allows
  red_zone,       // it wrote outside its output or its workspace
  out_of_memory,  // no room for it now: never kept, since there may be room another time
  timed_out,      // it did not end in time
  fault,          // the device was lost while it ran
  crash,          // the process ended while it ran
};

std::string_view to_string(FailureKind kind);
// The kind of a word; `unknown` for any other text.
FailureKind parse_failure_kind(std::string_view word);

// What an error at some stage says about the tactic: out_of_memory and fault (a lost device) are
// read from its code, whatever the stage; else the stage's own kind.
FailureKind failure_kind(const Error& error, FailureKind stage);

}  // namespace enginery
