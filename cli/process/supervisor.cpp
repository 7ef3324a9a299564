#include "cli/process/supervisor.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>

#include "cli/output/table.h"

namespace enginery {
namespace {

using std::chrono::milliseconds;

constexpr auto kMaxQuickLife = std::chrono::seconds(1);
constexpr auto kMaxDelay = std::chrono::seconds(30);
constexpr auto kTerminationTimeout = std::chrono::seconds(10);

sigset_t supervised_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGCHLD, SIGTERM, SIGINT, SIGHUP}) sigaddset(&set, signal);
  return set;
}

// In the child, between fork and exec: only what is safe there. Never returns.
[[noreturn]] void become(const char* program, char* const* arguments, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  setpgid(0, 0);  // Ctrl-C is for `up` alone, which then ends its children in order
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  const int null = open("/dev/null", O_RDONLY);
  if (null >= 0) dup2(null, STDIN_FILENO);
  dup2(STDERR_FILENO, STDOUT_FILENO);  // stdout is `up`'s own: its lines are a contract
  execv(program, arguments);
  _exit(127);
}

int exit_code_of(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::string end_of(int status) {
  if (WIFEXITED(status)) return fmt::format("ended with exit code {}", WEXITSTATUS(status));
  return fmt::format("was ended by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
}

}  // namespace

Nanoseconds restart_delay(int quick_deaths) {
  const int doublings = std::clamp(quick_deaths, 0, 10);
  return std::min<Nanoseconds>(milliseconds(200) * (1 << doublings), kMaxDelay);
}

void block_supervisor_signals() {
  const sigset_t set = supervised_signals();
  sigprocmask(SIG_BLOCK, &set, nullptr);
}

Status Supervisor::add(ChildSpec spec) {
  Child child{std::move(spec)};
  CHECK_OK(start(child));
  children_.push_back(std::move(child));
  return {};
}

Status Supervisor::start(Child& child) {
  std::error_code failed;
  const std::string program = std::filesystem::read_symlink("/proc/self/exe", failed).string();
  std::vector<std::string> words{"enginery"};
  words.insert(words.end(), child.spec.arguments.begin(), child.spec.arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  (void)console_.flush();
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0)
    return Error{ErrorCode::internal,
                 "start " + child.spec.name + ": fork: " + std::strerror(errno)};
  if (pid == 0) become(program.c_str(), pointers.data(), parent);
  child.pid = pid;
  child.started = clock_.monotonic();
  return {};
}

void Supervisor::collect() {
  for (Child& child : children_) {
    int status = 0;
    if (child.pid == 0 || waitpid(child.pid, &status, WNOHANG) != child.pid) continue;
    const Nanoseconds now = clock_.monotonic();
    ++child.deaths;
    child.quick_deaths = now - child.started < kMaxQuickLife ? child.quick_deaths + 1 : 0;
    child.exit_code = exit_code_of(status);
    child.restart_at = now + restart_delay(child.quick_deaths);
    console_.note(fmt::format("{} (pid {}) {}; restarting it in {}", child.spec.name, child.pid,
                              end_of(status), human_seconds(to_seconds(child.restart_at - now))));
    child.pid = 0;
  }
}

bool Supervisor::supervise(milliseconds timeout) {
  Nanoseconds wake = clock_.monotonic() + timeout;
  for (const Child& child : children_) {
    if (child.pid == 0) wake = std::min(wake, child.restart_at);
  }
  const auto pause = std::max(wake - clock_.monotonic(), Nanoseconds(0));
  const timespec limit{static_cast<time_t>(pause.count() / 1'000'000'000),
                       static_cast<long>(pause.count() % 1'000'000'000)};
  const sigset_t set = supervised_signals();
  const int signal = sigtimedwait(&set, nullptr, &limit);
  if (signal > 0 && signal != SIGCHLD) return true;
  collect();
  for (Child& child : children_) {
    if (child.pid != 0 || clock_.monotonic() < child.restart_at) continue;
    if (const Status started = start(child); !started.ok()) {
      console_.warn(started.error().message);
      child.restart_at = clock_.monotonic() + kMaxDelay;
      continue;
    }
    console_.print_line(fmt::format("{} pid {}", child.spec.name, child.pid));
    (void)console_.flush();
  }
  return false;
}

void Supervisor::end(Child& child) {
  if (child.pid == 0) return;
  kill(child.pid, SIGTERM);
  const Nanoseconds deadline = clock_.monotonic() + kTerminationTimeout;
  int status = 0;
  while (waitpid(child.pid, &status, WNOHANG) == 0) {
    if (clock_.monotonic() > deadline) {
      kill(child.pid, SIGKILL);
      waitpid(child.pid, &status, 0);
      break;
    }
    usleep(10'000);
  }
  child.exit_code = exit_code_of(status);
  child.pid = 0;
}

void Supervisor::stop() {
  // Workers are told at the same time, so that only the slowest decides how long this takes.
  for (Child& child : children_) {
    if (child.pid != 0 && child.spec.name != "coordinator") kill(child.pid, SIGTERM);
  }
  for (auto child = children_.rbegin(); child != children_.rend(); ++child) end(*child);
}

}  // namespace enginery
