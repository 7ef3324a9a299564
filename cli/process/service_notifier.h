// Tells systemd that this process is ready, and goes on telling that it is alive (sd_notify(3): a
// datagram to $NOTIFY_SOCKET). Elsewhere it does nothing.
//
// Where: `coordinator` and `worker`, from the thread whose standstill would be theirs. Threads:
// one.
#pragma once

#include <optional>
#include <string>

#include "engine/base/clock.h"

namespace enginery {

class ServiceNotifier {
 public:
  ServiceNotifier();   // reads $NOTIFY_SOCKET and $WATCHDOG_USEC
  ~ServiceNotifier();  // says STOPPING=1

  // The first call says READY=1; every later one WATCHDOG=1, where a watchdog waits for it and a
  // third of its time is over. Call it often.
  void beat();

 private:
  void say(const std::string& state) const;

  std::string socket_;
  std::optional<Nanoseconds> period_;
  SystemClock clock_;
  bool ready_ = false;
  Nanoseconds next_{};
};

}  // namespace enginery
