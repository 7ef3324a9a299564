#include "worker/runner/sandbox_watch.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>

namespace enginery {
namespace {

constexpr int kLifeFd = 0;
constexpr int kMaxFd = 1 << 16;  // where the kernel cannot close all files at once

void close_from(int first) {
  if (syscall(SYS_close_range, static_cast<unsigned>(first), ~0u, 0u) == 0) return;
  for (int fd = first; fd < kMaxFd; ++fd) close(fd);
}

// Sends SIGKILL to every child, the adopted ones too. False: they cannot be listed here.
bool kill_children() {
  const int list = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
  if (list < 0) return false;
  char text[4096];
  const ssize_t size = read(list, text, sizeof text - 1);
  close(list);
  text[std::max<ssize_t>(size, 0)] = '\0';
  for (char *at = text, *end = nullptr;; at = end) {
    const long child = std::strtol(at, &end, 10);
    if (child <= 0) return true;
    kill(static_cast<pid_t>(child), SIGKILL);
  }
}

// Whether the sandbox has ended; takes the orphans that ended too.
bool has_ended(pid_t sandbox, int& status) {
  int ended = 0;
  while (const pid_t child = waitpid(-1, &ended, WNOHANG)) {
    if (child < 0) return true;
    if (child != sandbox) continue;
    status = ended;
    return true;
  }
  return false;
}

[[noreturn]] void end_as(int status) {
  if (!WIFSIGNALED(status)) _exit(WEXITSTATUS(status));
  const int number = WTERMSIG(status);
  signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  kill(getpid(), number);
  _exit(128 + number);
}

}  // namespace

void become_watcher() {
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  sigset_t every;
  sigfillset(&every);
  sigprocmask(SIG_SETMASK, &every, nullptr);
  setpgid(0, 0);
  prctl(PR_SET_NAME, "runner-watcher");
  if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0) _exit(127);
}

void watch_sandbox(pid_t sandbox, int life) {
  dup2(life, kLifeFd);
  close_from(kLifeFd + 1);
  sigset_t child_ends;
  sigemptyset(&child_ends);
  sigaddset(&child_ends, SIGCHLD);
  const int ends = signalfd(-1, &child_ends, SFD_CLOEXEC | SFD_NONBLOCK);
  int status = 127 << 8;
  bool ended = false;
  while (!(ended = has_ended(sandbox, status))) {
    pollfd fds[] = {{kLifeFd, POLLIN, 0}, {ends, POLLIN, 0}};
    poll(fds, 2, ends < 0 ? 50 : -1);
    signalfd_siginfo seen;
    (void)!read(ends, &seen, sizeof seen);
    if (fds[0].revents != 0) break;
  }
  if (!ended) {
    kill(sandbox, SIGKILL);
    waitpid(sandbox, &status, 0);
  }
  // What it leaves has become a child of this process, and so on, until there is none.
  while (waitpid(-1, nullptr, WNOHANG) >= 0) {
    if (!kill_children()) break;
    waitpid(-1, nullptr, 0);
  }
  end_as(status);
}

}  // namespace enginery
