// The children of `up`: starts them, restarts dead ones with back-off, ends them.
//
// Where: the verb's main loop. Children are this very binary with other arguments; the kernel kills
// them when this process dies, however it does. Threads: the main thread only, with SIGCHLD,
// SIGTERM, SIGINT and SIGHUP blocked (block_supervisor_signals).
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "cli/output/console.h"
#include "engine/base/clock.h"

namespace enginery {

// What a child is started with, every time.
struct ChildSpec {
  std::string name;                    // "coordinator", "worker cpu-avx2"
  std::vector<std::string> arguments;  // after the program's name
};

// A child as it is now.
struct Child {
  ChildSpec spec;
  pid_t pid = 0;  // 0: not running
  Nanoseconds started{}, restart_at{};
  int quick_deaths = 0;          // in a row, each within a second of its start
  int deaths = 0;                // since `up` began
  std::optional<int> exit_code;  // of the last death; 128 + signal where a signal caused it
};

// How long to wait before a dead child is restarted: 0.2 s, doubled for each of its quick deaths in
// a row, at most 30 s.
Nanoseconds restart_delay(int quick_deaths);

// Blocks the signals that supervise() waits for. Call it before the first child is started.
void block_supervisor_signals();

class Supervisor {
 public:
  Supervisor(Console& console, const Clock& clock) : console_(console), clock_(clock) {}
  ~Supervisor() { stop(); }
  Supervisor(const Supervisor&) = delete;

  // Starts a child and keeps it running from now on. Errors: internal (no process could be made).
  Status add(ChildSpec spec);

  // Waits at most `timeout` for a signal, collects dead children, and restarts those whose delay is
  // over. True when this process has been asked to end.
  bool supervise(std::chrono::milliseconds timeout);

  // Ends all children, the last started first: SIGTERM, after ten seconds SIGKILL. Idempotent.
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
