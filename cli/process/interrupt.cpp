#include "cli/process/interrupt.h"

#include <csignal>

namespace enginery {
namespace {

// The one thing that a signal handler may touch; an Interrupt resets it.
volatile std::sig_atomic_t interrupted = 0;

void on_signal(int signal) {
  interrupted = 1;
  std::signal(signal, SIG_DFL);
}

}  // namespace

Interrupt::Interrupt() {
  interrupted = 0;
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
}

Interrupt::~Interrupt() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

bool Interrupt::requested() const {
  return interrupted != 0;
}

}  // namespace enginery
