#include "cli/process/service_notifier.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace enginery {

ServiceNotifier::ServiceNotifier() {
  if (const char* path = std::getenv("NOTIFY_SOCKET")) socket_ = path;
  const char* time_us = std::getenv("WATCHDOG_USEC");
  const char* pid = std::getenv("WATCHDOG_PID");
  if (time_us == nullptr || (pid != nullptr && std::atol(pid) != getpid())) return;
  period_ = std::chrono::microseconds(std::atoll(time_us)) / 3;
}

ServiceNotifier::~ServiceNotifier() {
  if (ready_) say("STOPPING=1");
}

void ServiceNotifier::beat() {
  if (socket_.empty()) return;
  const Nanoseconds now = clock_.monotonic();
  if (!ready_) say("READY=1");
  if (period_ && (!ready_ || now >= next_)) {
    say("WATCHDOG=1");
    next_ = now + *period_;
  }
  ready_ = true;
}

// A name that begins with @ is an abstract one: its first byte is zero.
void ServiceNotifier::say(const std::string& state) const {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket_.size() >= sizeof address.sun_path) return;
  std::memcpy(address.sun_path, socket_.data(), socket_.size());
  if (socket_[0] == '@') address.sun_path[0] = '\0';
  const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return;
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_.size());
  (void)!sendto(fd, state.data(), state.size(), MSG_NOSIGNAL | MSG_DONTWAIT,
                reinterpret_cast<const sockaddr*>(&address), size);
  close(fd);
}

}  // namespace enginery
