#include "worker/runner/runner_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "engine/base/file.h"
#include "worker/runner/sandbox_watch.h"

namespace enginery {
namespace {

using std::chrono::milliseconds;

constexpr size_t kMaxLineBytes = size_t{16} << 20;  // a longer one is cut, and is no report

struct Pipe {
  OwnedFd read, write;
};

Result<Pipe> make_pipe() {
  int fds[2];
  if (pipe2(fds, O_CLOEXEC) != 0)
    return Error{ErrorCode::internal, std::string("pipe: ") + std::strerror(errno)};
  return Pipe{OwnedFd(fds[0]), OwnedFd(fds[1])};
}

// The agent writes requests to a socket: a dead runner is then an error instead of a SIGPIPE.
Result<Pipe> make_request_pipe() {
  int fds[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0) {
    return Error{ErrorCode::internal, std::string("socketpair: ") + std::strerror(errno)};
  }
  return Pipe{OwnedFd(fds[0]), OwnedFd(fds[1])};
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (const std::string& text : texts) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

// The pipes' ends that a child gets; -1: none.
struct ChildFds {
  int request, output, report, lock, info;
};

constexpr int kInfoFd = 5;  // where bubblewrap names the process in the sandbox

// Of whatever runs there: what a runner is asked to do itself, a hostile one need not.
bool limit_memory(uint64_t bytes) {
  const rlimit none{0, 0}, limit{bytes, bytes};
  return setrlimit(RLIMIT_CORE, &none) == 0 && (bytes == 0 || setrlimit(RLIMIT_DATA, &limit) == 0);
}

// In the child between fork and exec: only calls that are safe there. The pipes' ends lie above the
// three standard ones, but one of them may be the report's number.
[[noreturn]] void become_runner(char* const* arguments, char* const* environment,
                                const ChildFds& fds, uint64_t memory_bytes, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  signal(SIGPIPE, SIG_DFL);
  signal(SIGINT, SIG_IGN);
  const int high_request = fcntl(fds.request, F_DUPFD_CLOEXEC, 10),
            high_output = fcntl(fds.output, F_DUPFD_CLOEXEC, 10),
            high_report = fcntl(fds.report, F_DUPFD_CLOEXEC, 10),
            high_lock = fds.lock < 0 ? -1 : fcntl(fds.lock, F_DUPFD_CLOEXEC, 10),
            high_info = fds.info < 0 ? -1 : fcntl(fds.info, F_DUPFD_CLOEXEC, 10);
  const bool ok = dup2(high_request, kRunnerRequestFd) >= 0 &&
                  dup2(high_output, STDOUT_FILENO) >= 0 && dup2(high_output, STDERR_FILENO) >= 0 &&
                  dup2(high_report, kRunnerReportFd) >= 0 &&
                  (high_lock < 0 || dup2(high_lock, kRunnerLockFd) >= 0) &&
                  (high_info < 0 || dup2(high_info, kInfoFd) >= 0) && limit_memory(memory_bytes);
  if (ok) execve(arguments[0], arguments, environment);
  _exit(127);
}

// In the child of a sandboxed runner: bubblewrap is a child of that one.
[[noreturn]] void become_sandbox(char* const* arguments, char* const* environment,
                                 const ChildFds& fds, uint64_t memory_bytes, int life) {
  become_watcher();
  const pid_t watcher = getpid(), sandbox = _Fork();
  if (sandbox < 0) _exit(127);
  if (sandbox == 0) become_runner(arguments, environment, fds, memory_bytes, watcher);
  watch_sandbox(sandbox, life);
}

uint64_t kernel_memory_kills() {
  auto text = read_file("/proc/vmstat");
  if (!text.ok()) return 0;
  const size_t at = text->find("\noom_kill ");
  return at == std::string::npos ? 0 : std::strtoull(text->c_str() + at + 10, nullptr, 10);
}

Outcome ended(OutcomeKind kind, std::string message) {
  Outcome out;
  out.kind = kind;
  out.fault = {kind == OutcomeKind::out_of_memory ? ErrorCode::out_of_memory : ErrorCode::internal,
               std::move(message)};
  return out;
}

}  // namespace

void OwnedFd::reset() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

Result<std::unique_ptr<RunnerProcess>> RunnerProcess::start(const RunnerCommand& command) {
  TRY(Pipe request, make_request_pipe());
  TRY(Pipe report, make_pipe());
  TRY(Pipe output, make_pipe());
  Pipe info, life;
  if (command.sandbox) {
    TRY(info, make_pipe());
    TRY(life, make_pipe());
  }
  auto process = std::make_unique<RunnerProcess>(Started(), command.clock);
  process->kill_after_ = command.kill_after;
  process->kills_before_ = kernel_memory_kills();
  const std::vector<std::string> program =
      command.sandbox ? sandboxed(command.program, *command.sandbox, kInfoFd, command.memory_bytes)
                      : command.program;
  const std::vector<char*> arguments = pointers(program),
                           environment = pointers(command.environment);
  const ChildFds fds{request.read.get(), output.write.get(), report.write.get(),
                     command.device_lock, info.write.get()};
  const pid_t parent = getpid();
  process->pid_ = fork();
  if (process->pid_ < 0)
    return Error{ErrorCode::internal, std::string("start a runner: ") + std::strerror(errno)};
  if (process->pid_ == 0 && command.sandbox) {
    life.write.reset();
    become_sandbox(arguments.data(), environment.data(), fds, command.memory_bytes,
                   life.read.get());
  }
  if (process->pid_ == 0)
    become_runner(arguments.data(), environment.data(), fds, command.memory_bytes, parent);
  process->life_ = std::move(life.write);
  process->request_ = std::move(request.write);
  process->report_ = std::move(report.read);
  process->output_ = std::move(output.read);
  fcntl(process->report_.get(), F_SETFL, O_NONBLOCK);
  fcntl(process->output_.get(), F_SETFL, O_NONBLOCK);
  process->in_sandbox_ = command.sandbox.has_value();
  info.write.reset();
  if (process->in_sandbox_) process->find_inside(info.read.get());
  return process;
}

// Bubblewrap and its watcher hand no signal on: the runner inside is told by itself. It is known as
// soon as the namespaces are made; where they are not, bubblewrap's words go to the log, and it
// ends.
void RunnerProcess::find_inside(int info) {
  std::string text;
  char bytes[512];
  while (text.find('}') == std::string::npos) {
    pollfd words{info, POLLIN, 0};
    if (poll(&words, 1, 50) <= 0) {
      if (has_died()) return;
      continue;
    }
    const ssize_t n = read(info, bytes, sizeof bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    text.append(bytes, static_cast<size_t>(n));
  }
  const size_t at = text.find("\"child-pid\":");
  if (at == std::string::npos) return;
  first_inside_ = static_cast<pid_t>(std::strtol(text.c_str() + at + 12, nullptr, 10));
  inside_ = OwnedFd(static_cast<int>(syscall(SYS_pidfd_open, first_inside_, 0u)));
}

bool RunnerProcess::has_died() const {
  siginfo_t gone{};
  return waitid(P_PID, static_cast<id_t>(pid_), &gone, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         gone.si_pid == pid_;
}

// A watcher that is killed itself leaves what it watched. Until bubblewrap names the process in the
// sandbox that one is of the watcher's group, and from then on it is known. Before the watcher is
// waited for: as long as it is not, nobody else has its number.
void RunnerProcess::end_orphans() {
  if (!in_sandbox_) return;
  kill(-pid_, SIGKILL);
  if (inside_.get() >= 0) syscall(SYS_pidfd_send_signal, inside_.get(), SIGKILL, nullptr, 0u);
}

bool RunnerProcess::take_end(int& status) {
  if (!has_died()) return false;
  end_orphans();
  waitpid(pid_, &status, 0);
  pid_ = -1;
  return true;
}

// The program is the only child of the namespace's first process. Where it is not found the sandbox
// ends, and the program with it.
void RunnerProcess::ask_to_stop() {
  const std::string first = std::to_string(first_inside_);
  const auto children = read_file("/proc/" + first + "/task/" + first + "/children");
  const long inside = children.ok() ? std::strtol(children->c_str(), nullptr, 10) : 0;
  if (inside > 0)
    kill(static_cast<pid_t>(inside), SIGTERM);
  else if (in_sandbox_)
    end();
  else
    kill(pid_, SIGTERM);
}

RunnerProcess::~RunnerProcess() {
  if (pid_ <= 0) return;
  end();
  siginfo_t gone{};
  while (waitid(P_PID, static_cast<id_t>(pid_), &gone, WEXITED | WNOWAIT) < 0 && errno == EINTR) {
  }
  int status = 0;
  take_end(status);
}

// A watcher ends its sandbox, and itself, when its pipe is closed.
void RunnerProcess::end() {
  if (in_sandbox_)
    life_.reset();
  else
    kill(pid_, SIGKILL);
}

RunnerReport RunnerProcess::run(const RunnerRequest& request, const RunnerEvents& events) {
  // A runner that is gone already shows in its exit status.
  end_.reset();
  (void)LineWriter(request_.get()).write(to_line(request));
  listen(events, request.stays);
  const bool stayed = request.stays && end_ && !cancelled_ && hung_.empty();
  return stayed ? std::move(*end_) : collect();
}

bool RunnerProcess::waits() {
  int status = 0;
  return pid_ > 0 && !take_end(status);
}

void RunnerProcess::listen(const RunnerEvents& events, bool stays) {
  bool reports_open = true, outputs_open = true;
  while (reports_open && !(stays && end_ && !cancelled_)) {
    enforce_cancel(events);
    if (has_died()) end_orphans();
    pollfd fds[] = {{report_.get(), POLLIN, 0}, {outputs_open ? output_.get() : -1, POLLIN, 0}};
    if (poll(fds, 2, cancelled_ ? 100 : 200) <= 0)
      continue;  // a signal may have come with a wish to cancel
    if (fds[1].revents != 0) outputs_open = drain(output_.get(), outputs_, events.output);
    if (fds[0].revents != 0) {
      reports_open =
          drain(report_.get(), reports_, [&](const std::string& line) { handle(line, events); });
    }
  }
  drain(output_.get(), outputs_, events.output);
  if (reports_open) return;
  if (const std::string rest = outputs_.rest(); !rest.empty()) events.output(rest);
}

// Reads what there is; false when the other end is closed.
bool RunnerProcess::drain(int fd, LineBuffer& buffer,
                          const std::function<void(const std::string&)>& line) {
  while (true) {
    char bytes[65536];
    const ssize_t n = read(fd, bytes, sizeof bytes);
    if (n > 0) buffer.append({bytes, static_cast<size_t>(n)});
    while (auto next = buffer.next()) line(*next);
    if (buffer.waiting_bytes() > kMaxLineBytes) line(buffer.rest());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return n < 0 && errno == EAGAIN;
  }
}

void RunnerProcess::handle(const std::string& line, const RunnerEvents& events) {
  auto report = parse_report(line);
  if (!report.ok()) {
    events.output(report.error().message);
    return;
  }
  if (const auto* want = std::get_if<WantTimings>(&*report)) {
    (void)LineWriter(request_.get()).write(to_line(events.timings(*want)));
    return;
  }
  if (const auto* wish = std::get_if<WantProblem>(&*report)) {
    (void)LineWriter(request_.get()).write(to_line(events.take(*wish)));
    return;
  }
  const bool last = std::holds_alternative<RunnerEnd>(*report) ||
                    std::holds_alternative<DeviceDescription>(*report);
  if (last)
    end_ = std::move(*report);
  else
    events.report(*report);
}

void RunnerProcess::enforce_cancel(const RunnerEvents& events) {
  if (hung_.empty()) hung_ = events.hung();
  if (!hung_.empty()) {
    end();
  } else if (!cancelled_) {
    if (!events.cancelled()) return;
    cancelled_ = true;
    kill_at_ = clock_.monotonic() + kill_after_;
    ask_to_stop();
  } else if (clock_.monotonic() >= kill_at_) {
    end();
  }
}

RunnerReport RunnerProcess::collect() {
  int status = 0;
  // Its report pipe is closed: it is dead or about to be; one that lingers is ended.
  const auto patience = clock_.monotonic() + milliseconds(2000);
  while (!take_end(status)) {
    if (clock_.monotonic() > patience) end();
    const pollfd nothing{-1, 0, 0};
    poll(const_cast<pollfd*>(&nothing), 1, 5);
  }
  if (!hung_.empty()) {
    crashed_ = true;
    return ended(OutcomeKind::internal, hung_);
  }
  if (end_) return std::move(*end_);
  if (cancelled_) {
    Outcome out = ended(OutcomeKind::cancelled, "cancelled");
    out.fault.code = ErrorCode::cancelled;
    return out;
  }
  // Bubblewrap passes the signal on that ended the runner as a shell does.
  const bool passed_on = in_sandbox_ && WIFEXITED(status) && WEXITSTATUS(status) > 128;
  if (WIFEXITED(status) && !passed_on) {
    crashed_ = true;
    // A program that could not be started says nothing about the step.
    const bool started = WEXITSTATUS(status) != 126 && WEXITSTATUS(status) != 127;
    return ended(
        started ? OutcomeKind::crashed : OutcomeKind::internal,
        "the runner ended without a report, exit status " + std::to_string(WEXITSTATUS(status)));
  }
  const int signal = passed_on ? WEXITSTATUS(status) - 128 : WTERMSIG(status);
  const std::string message = std::string("the runner died of signal ") + std::to_string(signal) +
                              " (" + strsignal(signal) + ")";
  if (signal == SIGKILL && kernel_memory_kills() > kills_before_) {
    return ended(OutcomeKind::out_of_memory, message + ": the machine ran out of memory");
  }
  const bool killed =
      signal == SIGKILL || signal == SIGTERM || signal == SIGINT || signal == SIGHUP;
  crashed_ = !killed;
  return ended(killed ? OutcomeKind::worker_lost : OutcomeKind::crashed, message);
}

}  // namespace enginery
