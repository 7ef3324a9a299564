// One process that edits and runs inputs of the target without end in sight of its parent: whatever
// ends it (a sanitizer, a signal, a broken promise), the parent has the input that did it.
//
// Between edits_main, which starts jobs and reports, and fuzz_target. Threads: one at a time, and
// none may be running when a job starts.
#pragma once

#include <sys/types.h>

#include <memory>

#include "tests/fuzz/fuzz_target.h"

namespace enginery::test {

struct JobOptions {
  uint64_t seed = 0;
  int64_t executions = 0;
  std::vector<FuzzSeed> kept;  // inputs of earlier findings: run first, and edited like seeds
};

class EditsJob {
  struct MakeKey {};  // only start makes jobs
  struct Shared;

 public:
  // Forks.
  static Result<std::unique_ptr<EditsJob>> start(const JobOptions& options);
  EditsJob(MakeKey, Shared* shared) : shared_(shared) {}
  ~EditsJob();

  // Whether it goes on. An input that takes longer than 20 s of processor time or a process that
  // takes more than 3 GB is ended and is a finding.
  bool is_running();
  // "" where it ended well; else what happened.
  const std::string& finding() const { return finding_; }

  int64_t executions() const;
  std::vector<int64_t> fates() const;  // how many of each, parallel to FuzzTarget::fates
  Bytes last_input() const;

 private:
  void watch();
  void stop(const std::string& why);

  Shared* shared_;
  pid_t process_ = -1;
  std::string finding_;
  int64_t watched_ = -1;    // the execution that was under way at the last look
  double began_cpu_s_ = 0;  // when it was first seen
};

}  // namespace enginery::test
