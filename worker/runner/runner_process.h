// RunnerProcess: one runner as who started it sees it: started, listened to, cancelled, collected.
//
// Where: run_attempts (runner_attempts.h) has one for each attempt, the agent one to describe its
// device. The child reads requests from file descriptor 0 and writes reports to 3; what it prints
// goes to the step's log. The kernel kills the runner when the thread that started it ends, however
// it does; a sandboxed one is ended by its watcher when this process is gone (sandbox_watch.h), and
// by this process when its watcher is.
// Belongs to that thread. Ctrl-C, which goes to all processes of a terminal, does not end
// a runner: who started it decides.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/clock.h"
#include "worker/runner/line_pipe.h"
#include "worker/runner/runner_messages.h"
#include "worker/runner/sandbox.h"

namespace enginery {

// A file descriptor that is closed with its owner. Movable.
class OwnedFd {
 public:
  OwnedFd() = default;
  explicit OwnedFd(int fd) : fd_(fd) {}
  OwnedFd(OwnedFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  OwnedFd& operator=(OwnedFd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~OwnedFd() { reset(); }
  int get() const { return fd_; }
  void reset();

 private:
  int fd_ = -1;
};

// What is started, and how long it may take to end.
struct RunnerCommand {
  std::vector<std::string> program;            // path and arguments
  std::vector<std::string> environment;        // all of it
  std::chrono::milliseconds kill_after{8000};  // of a cancelled runner that does not end
  std::optional<SandboxView> sandbox = {};     // nothing: a plain child process
  uint64_t memory_bytes = 0;                   // limit on its data; 0: none
  int device_lock = -1;  // a locked file that the runner keeps open; -1: none. Borrowed
  // For kill_after, and for one that lingers after its report. Null: the machine's; otherwise it
  // outlives the process.
  const Clock* clock = nullptr;
};

// What a runner's owner hears and is asked while it runs; all on the owner's thread.
struct RunnerEvents {
  std::function<void(const RunnerReport&)> report;  // progress, log lines, timings, trials
  std::function<void(const std::string&)> output;   // a line of stdout or stderr
  std::function<KnownTimings(const WantTimings&)> timings;
  std::function<Taking(const WantProblem&)> take = [](const WantProblem&) { return Taking(); };
  // Asked five times a second; once true, the process is asked to stop (SIGTERM), later killed.
  std::function<bool()> cancelled = [] { return false; };
  // Asked as often; once it gives a reason, the process is killed and counts as crashed for that
  // reason.
  std::function<std::string()> hung = [] { return std::string(); };
};

class RunnerProcess {
  // Only start() makes one.
  struct Started {
    explicit Started() = default;
  };

 public:
  // Starts the program. A program that is not there shows as an end without a report (exit status
  // 127). Errors: internal (no process could be made).
  static Result<std::unique_ptr<RunnerProcess>> start(const RunnerCommand& command);
  RunnerProcess(Started, const Clock* clock) : clock_(clock ? *clock : machine_clock_) {}
  ~RunnerProcess();  // kills what still runs

  // Of the process that was started: the runner, or the watcher of the sandbox around it.
  pid_t pid() const { return pid_; }
  // Sends the request and listens until the process has ended or, where the request says that it
  // stays, has reported the end. The end that it reported, or what became of it: killed by a signal
  // is worker_lost or out_of_memory for SIGKILL, crashed for its own doing, internal for a hang.
  RunnerReport run(const RunnerRequest& request, const RunnerEvents& events);
  // After run: the process died of its own doing, with no end reported, or hung.
  bool crashed() const { return crashed_; }
  // After run: it has stayed, and takes another request.
  bool waits();

 private:
  void listen(const RunnerEvents& events, bool stays);
  bool drain(int fd, LineBuffer& buffer, const std::function<void(const std::string&)>& line);
  void handle(const std::string& line, const RunnerEvents& events);
  void enforce_cancel(const RunnerEvents& events);
  void find_inside(int info);
  void ask_to_stop();
  // The process has ended and was not waited for yet.
  bool has_died() const;
  bool take_end(int& status);  // waits for it, if it has
  void end_orphans();
  void end();  // at once
  RunnerReport collect();

  const SystemClock machine_clock_;
  const Clock& clock_;
  pid_t pid_ = -1;
  OwnedFd life_;  // of a sandbox: open as long as it may live
  OwnedFd request_, report_, output_;
  LineBuffer reports_, outputs_;
  bool in_sandbox_ = false;
  pid_t first_inside_ = -1;  // of the sandbox's namespace
  OwnedFd inside_;           // the same, whoever has its number later
  std::chrono::milliseconds kill_after_{};
  bool cancelled_ = false, crashed_ = false;
  std::string hung_;  // why it was killed
  Nanoseconds kill_at_{};
  uint64_t kills_before_ = 0;  // of the kernel's out-of-memory killer
  std::optional<RunnerReport> end_;
};

}  // namespace enginery
