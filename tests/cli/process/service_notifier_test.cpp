// What systemd hears: READY once, WATCHDOG often enough, and nothing where it does not listen.
#include "cli/process/service_notifier.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "tests/cli/temporary_home.h"

namespace enginery {
namespace {

class ServiceNotifierTest : public testing::Test {
 protected:
  ServiceNotifierTest() : socket_(socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = home_.file("notify");
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(bind(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    setenv("NOTIFY_SOCKET", path.c_str(), 1);
  }
  ~ServiceNotifierTest() override {
    for (const char* name : {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"}) unsetenv(name);
    close(socket_);
  }
  std::vector<std::string> heard() const {
    std::vector<std::string> all;
    char text[64];
    for (ssize_t size; (size = recv(socket_, text, sizeof text, 0)) > 0;)
      all.emplace_back(text, static_cast<size_t>(size));
    return all;
  }

  TemporaryHome home_;
  int socket_;
};

using Said = std::vector<std::string>;

TEST_F(ServiceNotifierTest, SaysReadyWithTheFirstBeatAndStoppingAtTheEnd) {
  {
    ServiceNotifier notifier;
    EXPECT_EQ(heard(), Said{});
    notifier.beat();
    notifier.beat();
    EXPECT_EQ(heard(), Said{"READY=1"});
  }
  EXPECT_EQ(heard(), Said{"STOPPING=1"});
}

TEST_F(ServiceNotifierTest, BeatsThreeTimesWithinTheWatchdogsTime) {
  setenv("WATCHDOG_USEC", "30000", 1);
  ServiceNotifier notifier;
  notifier.beat();
  notifier.beat();
  EXPECT_EQ(heard(), (Said{"READY=1", "WATCHDOG=1"}));
  std::this_thread::sleep_for(std::chrono::milliseconds(11));
  notifier.beat();
  EXPECT_EQ(heard(), Said{"WATCHDOG=1"});
}

TEST_F(ServiceNotifierTest, TheWatchdogOfAnotherProcessIsNotOurs) {
  setenv("WATCHDOG_USEC", "1", 1);
  setenv("WATCHDOG_PID", "1", 1);
  ServiceNotifier notifier;
  notifier.beat();
  EXPECT_EQ(heard(), Said{"READY=1"});
}

TEST_F(ServiceNotifierTest, SaysNothingWhereNobodyListens) {
  unsetenv("NOTIFY_SOCKET");
  ServiceNotifier notifier;
  notifier.beat();
  EXPECT_EQ(heard(), Said{});
}

}  // namespace
}  // namespace enginery
