#include "cli/process/termination.h"

#include <pthread.h>
#include <unistd.h>

#include <csignal>

namespace enginery {
namespace {

// SIGUSR2 is the destructor's word to the watcher.
sigset_t watched_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR2}) sigaddset(&set, signal);
  return set;
}

void watch(const std::function<void()>& stop) {
  const sigset_t set = watched_signals();
  bool stopping = false;
  while (true) {
    int signal = 0;
    if (sigwait(&set, &signal) != 0) continue;
    if (signal == SIGUSR2) return;
    if (stopping) _exit(128 + signal);
    stopping = true;
    stop();
  }
}

}  // namespace

void block_termination_signals() {
  const sigset_t set = watched_signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

Termination::Termination(std::function<void()> stop)
    : watcher_([stop = std::move(stop)] { watch(stop); }) {}

Termination::~Termination() {
  pthread_kill(watcher_.native_handle(), SIGUSR2);
  watcher_.join();
}

}  // namespace enginery
