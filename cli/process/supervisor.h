// The children of `up`: starts them, starts dead ones again with back-off, ends them.
//
// Children are this very binary with other arguments. They are killed by the kernel when this
// process dies, however it does. Threads: the main thread only, with SIGCHLD, SIGTERM, SIGINT and
// SIGHUP blocked (block_supervisor_signals).
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "cli/output/console.h"
#include "engine/base/clock.h"

namespace enginery {

struct ChildSpec {
  std::string name;                    // "coordinator", "worker cpu-avx2"
  std::vector<std::string> arguments;  // behind the program's name
};

struct Child {
  ChildSpec spec;
  pid_t pid = 0;  // 0: not running
  Nanoseconds started{}, restart_at{};
  int quick_deaths = 0;          // in a row, within a second of the start
  int deaths = 0;                // in all
  std::optional<int> exit_code;  // of the last end; 128 + signal where a signal ended it
};

// How long to wait before a child that died so often soon after its start is started again: 0.2 s
// doubling up to 30 s.
Nanoseconds restart_delay(int quick_deaths);

void block_supervisor_signals();

class Supervisor {
 public:
  Supervisor(Console& console, const Clock& clock) : console_(console), clock_(clock) {}
  ~Supervisor() { stop(); }
  Supervisor(const Supervisor&) = delete;

  // Starts a child and keeps it running. internal: no process could be made.
  Status add(ChildSpec spec);

  // Waits at most `timeout` for signals, collects dead children, starts those again whose time has
  // come. True when this process has been asked to end.
  bool tend(std::chrono::milliseconds timeout);

  // Ends all children: SIGTERM, after ten seconds SIGKILL; the last started first. Idempotent.
  void stop();

  const std::vector<Child>& children() const { return children_; }

 private:
  Status start(Child& child);
  void collect();
  void end(Child& child);

  Console& console_;
  const Clock& clock_;
  std::vector<Child> children_;
};

}  // namespace enginery
