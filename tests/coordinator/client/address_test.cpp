// Addresses: their form, which lead beyond this host, the defaults, and sockets that nobody serves.
#include <gtest/gtest.h>

#include <cstdlib>

#include "coordinator/client/link.h"
#include "tests/coordinator/farm_fixture.h"

namespace enginery {
namespace {

ErrorCode refused(const std::string& address) {
  const Status status = check_address(address);
  EXPECT_FALSE(status.ok()) << address;
  if (status.ok()) return ErrorCode::internal;
  EXPECT_NE(status.error().message.find(address), std::string::npos);
  return status.error().code;
}

TEST(Address, SocketFilesAndLoopbackAreThisHosts) {
  for (const char* address : {"ipc:///run/e.sock", "tcp://127.0.0.1:7700", "tcp://127.8.9.10:1",
                              "tcp://localhost:7700", "tcp://[::1]:7700", "tcp://127.0.0.1:*"})
    EXPECT_TRUE(check_address(address).ok() && !is_beyond_this_host(address)) << address;
}

TEST(Address, EverythingElseLeadsBeyondIt) {
  for (const char* address :
       {"tcp://0.0.0.0:7700", "tcp://*:7700", "tcp://10.0.0.1:7700", "tcp://example.com:7700",
        "tcp://[fe80::1]:7700", "tcp://128.0.0.1:7700", "tcp://1.127.0.1:7700"})
    EXPECT_TRUE(check_address(address).ok() && is_beyond_this_host(address)) << address;
}

// Only a number that begins with 127 is loopback: a name may be anybody's.
TEST(Address, ANameThatBeginsAsALoopbackNumberIsNone) {
  for (const char* address : {"tcp://127.example.com:7700", "tcp://127.0.0.1.example.com:7700",
                              "tcp://127.:7700", "tcp://localhost.example.com:7700"})
    EXPECT_TRUE(is_beyond_this_host(address)) << address;
}

TEST(Address, OfTheBulkSocketIsThePortBehindAndTheHostThatWasReached) {
  EXPECT_EQ(next_port("tcp://10.0.0.1:7701"), "tcp://10.0.0.1:7702");
  EXPECT_EQ(next_port("tcp://*:*"), "tcp://*:*");
  EXPECT_EQ(with_host_of("tcp://0.0.0.0:7702", "tcp://lab:7701"), "tcp://lab:7702");
  EXPECT_EQ(with_host_of("tcp://10.0.0.1:7702", "tcp://lab:7701"), "tcp://10.0.0.1:7702");
  EXPECT_EQ(with_host_of("ipc:///run/b.sock", "ipc:///run/c.sock"), "ipc:///run/b.sock");
}

TEST(Address, RefusesWhatIsNoAddress) {
  for (const char* address : {"", "/run/e.sock", "ipc://", "http://127.0.0.1:80", "tcp://127.0.0.1",
                              "tcp://127.0.0.1:", "tcp://:7700", "IPC:///run/e.sock"})
    EXPECT_EQ(refused(address), ErrorCode::usage) << address;
}

TEST(Address, APathLongerThanASocketsIsRefused) {
  EXPECT_TRUE(check_address("ipc://" + std::string(107, 'p')).ok());
  EXPECT_EQ(refused("ipc://" + std::string(108, 'p')), ErrorCode::storage);
}

// The runtime folder that the defaults are in.
struct RuntimeFolder {
  explicit RuntimeFolder(const std::string& home) {
    if (const char* had = std::getenv("ENGINERY_HOME")) before_ = had;
    setenv("ENGINERY_HOME", home.c_str(), 1);
  }
  ~RuntimeFolder() {
    if (before_)
      setenv("ENGINERY_HOME", before_->c_str(), 1);
    else
      unsetenv("ENGINERY_HOME");
  }
  std::optional<std::string> before_;
};

TEST(Address, TheDefaultsAreTwoSocketsOfTheRuntimeFolder) {
  const RuntimeFolder home("/tmp/h");
  EXPECT_EQ(must(default_control_address()), "ipc:///tmp/h/run/control.sock");
  EXPECT_EQ(must(default_bulk_address()), "ipc:///tmp/h/run/bulk.sock");
}

TEST(Address, ARuntimeFolderThatIsTooDeepSaysHowToSolveThat) {
  const RuntimeFolder home("/tmp/" + std::string(100, 'd'));
  const auto address = default_control_address();
  ASSERT_FALSE(address.ok());
  EXPECT_EQ(address.error().code, ErrorCode::storage);
  EXPECT_NE(address.error().message.find("XDG_RUNTIME_DIR"), std::string::npos);
}

TEST(Listening, NobodyListensWhereNoFileIsOrNoProcess) {
  const TemporaryFolder folder;
  const std::string none = (folder.path / "none.sock").string();
  const Status status = check_listening(none);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::unavailable);
  EXPECT_NE(status.error().message.find("enginery up"), std::string::npos);
}

TEST(Listening, APathThatNoSocketCanHaveIsUnavailable) {
  for (const size_t bytes : {108, 5000}) {
    const Status status = check_listening("/" + std::string(bytes, 'p'));
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().code, ErrorCode::unavailable);
  }
}

TEST(Listening, ACoordinatorListensOnItsSocket) {
  const Farm farm;
  EXPECT_TRUE(check_listening((farm.folder() / "c.sock").string()).ok());
}

}  // namespace
}  // namespace enginery
