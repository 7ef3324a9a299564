// A coordinator on the network over loopback, with CURVE as between hosts, and keys for it.
#pragma once

#include <gtest/gtest.h>

#include "tests/coordinator/farm_fixture.h"

namespace enginery {

struct NetworkTest : testing::Test {
  TemporaryFolder folder;
  std::unique_ptr<Coordinator> coordinator;
  Principals principals{folder.path / "data" / "keys"};
  CurveKey own = must(CurveKey::load_or_create(principals.folder() / kCoordinatorKeyFile));

  CoordinatorOptions options() const {
    CoordinatorOptions out{folder.path / "data", "ipc://" + (folder.path / "c.sock").string(),
                           "ipc://" + (folder.path / "b.sock").string(),
                           std::chrono::milliseconds(200), accept_engine};
    out.network = "tcp://127.0.0.1:*";
    out.network_bulk = out.network;  // the port behind may be somebody's
    return out;
  }
  void SetUp() override { coordinator = must(Coordinator::start(options())); }

  FarmIdentity identity(const std::string& name) const {
    return {name, CurveKey::generate(), own.public_key, coordinator->network_address()};
  }
  FarmIdentity allowed(const std::string& name, Roles roles, const std::string& tenant = "") const {
    const FarmIdentity made = identity(name);
    EXPECT_TRUE(principals.allow({made.own.public_key, name, roles, tenant, 0, 0, {}}).ok());
    return made;
  }
  Result<std::unique_ptr<Client>> dial(const FarmIdentity& who, const std::string& role = "cli",
                                       const std::string& says = "") const {
    ClientOptions client;
    client.address = coordinator->network_address();
    client.name = says.empty() ? "me@here" : says;
    client.role = role;
    client.connect_timeout = std::chrono::milliseconds(3000);
    client.repeat_after = std::chrono::milliseconds(300);
    return Client::connect(client, make_zmq_dial({who, false}));
  }
  std::unique_ptr<Client> connected(const FarmIdentity& who) const { return must(dial(who)); }
  static void expect_refused(const Status& status, std::initializer_list<std::string> words) {
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().code, ErrorCode::untrusted) << status.error().message;
    for (const std::string& word : words)
      EXPECT_NE(status.error().message.find(word), std::string::npos)
          << word << " in: " << status.error().message;
  }
  template <typename T>
  static Status status_of(const Result<T>& result) {
    return result.ok() ? Status() : Status(result.error());
  }
};

}  // namespace enginery
