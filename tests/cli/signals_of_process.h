// Signals in tests: one that is raised although it may be blocked; and the mask and the handlers as
// they were before the test.
#pragma once

#include <pthread.h>

#include <csignal>

namespace enginery {

// Raises it on the calling thread, also where the signal was blocked when the thread began.
inline void raise_unblocked(int signal) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal);
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  std::raise(signal);
}

class SignalsOfTheProcess {
 public:
  SignalsOfTheProcess() {
    pthread_sigmask(SIG_SETMASK, nullptr, &mask_);
    interrupt_ = std::signal(SIGINT, SIG_DFL);
    terminate_ = std::signal(SIGTERM, SIG_DFL);
  }
  ~SignalsOfTheProcess() {
    std::signal(SIGINT, interrupt_);
    std::signal(SIGTERM, terminate_);
    pthread_sigmask(SIG_SETMASK, &mask_, nullptr);
  }
  SignalsOfTheProcess(const SignalsOfTheProcess&) = delete;

 private:
  sigset_t mask_{};
  void (*interrupt_)(int) = nullptr;
  void (*terminate_)(int) = nullptr;
};

}  // namespace enginery
