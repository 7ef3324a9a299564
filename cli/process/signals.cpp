#include "cli/process/signals.h"

#include <pthread.h>
#include <unistd.h>

#include <csignal>

namespace enginery {
namespace {

// The one mutable global of the command line: a signal handler has no argument, and POSIX lets it
// write nothing but an object of this type. Only the handler sets it, only Interrupt's constructor
// clears it, and at most one Interrupt exists at a time.
volatile std::sig_atomic_t interrupt_flag = 0;

void note_interrupt(int signal) {
  interrupt_flag = 1;
  std::signal(signal, SIG_DFL);
}

// SIGUSR2 is how the destructor wakes the watching thread.
sigset_t termination_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR2}) sigaddset(&set, signal);
  return set;
}

void watch(const std::function<void()>& stop) {
  const sigset_t set = termination_signals();
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

Interrupt::Interrupt() {
  interrupt_flag = 0;
  std::signal(SIGINT, note_interrupt);
  std::signal(SIGTERM, note_interrupt);
}

Interrupt::~Interrupt() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

bool Interrupt::requested() const {
  return interrupt_flag != 0;
}

void block_termination_signals() {
  const sigset_t set = termination_signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

Termination::Termination(std::function<void()> stop)
    : watcher_([stop = std::move(stop)] { watch(stop); }) {}

Termination::~Termination() {
  pthread_kill(watcher_.native_handle(), SIGUSR2);
  watcher_.join();
}

}  // namespace enginery
