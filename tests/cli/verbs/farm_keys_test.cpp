// The keys of a farm on the network, as people handle them: made, listed, revoked, and what a wrong
// one says. The network is loopback, with CURVE as between hosts.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <nlohmann/json.hpp>

#include "cli/local/farm_keys.h"
#include "coordinator/server/server.h"
#include "engine/base/file.h"
#include "tests/cli/signals_of_process.h"
#include "tests/cli/temporary_home.h"
#include "tests/cli/verbs/ask.h"
#include "worker/engine_check.h"

namespace enginery {
namespace {

class FarmKeys : public testing::Test {
 protected:
  std::string file(const std::string& name) const { return home_.file(name); }
  static Json row(const Printed& printed) { return printed.json()["principals"].at(0); }

  TemporaryHome home_;
};

TEST_F(FarmKeys, AreMadeListedRevokedAndAllowedAgain) {
  ASSERT_EQ(ask({"keys", "coordinator", "new"}).out.size(), 65u);
  const Printed made = ask({"keys", "client", "new", "alice", "--tenant", "blue", "--address",
                            "tcp://lab:7701", "-o", file("alice.key"), "--json"});
  ASSERT_EQ(made.code, ExitCode::ok) << made.err;
  expect_fields(row(made), {"id", "name", "roles", "tenant", "public", "expires_s", "revoked_s"});
  EXPECT_EQ(row(made)["roles"], "submit,fetch");
  struct stat info {};
  ASSERT_EQ(stat(file("alice.key").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  const auto identity = read_identity(file("alice.key"));
  ASSERT_TRUE(identity.ok());
  EXPECT_EQ(identity->address, "tcp://lab:7701");
  ASSERT_EQ(ask({"keys", "worker", "new", "lab2", "-o", file("lab2.key")}).code, ExitCode::ok);

  EXPECT_NE(ask({"keys", "list"}).out.find("blue"), std::string::npos);
  ASSERT_EQ(ask({"keys", "revoke", "alice"}).code, ExitCode::ok);
  EXPECT_NE(ask({"keys", "list"}).out.find("revoked"), std::string::npos);
  const Json rows = ask({"keys", "list", "--json"}).json()["principals"];
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_TRUE(rows[0]["revoked_s"].is_number());
  const std::string hex = row(made)["public"];
  ASSERT_EQ(ask({"keys", "allow", hex, "--name", "alice", "--role", "fetch"}).code, ExitCode::ok);
  EXPECT_EQ(ask({"keys", "list"}).out.find("revoked"), std::string::npos);
}

TEST_F(FarmKeys, WhatIsMissingIsSaid) {
  expect_refused({{"keys", "client", "new", "alice", "-o", file("a.key")},
                  ExitCode::not_found,
                  "enginery keys coordinator new"});
  ASSERT_EQ(ask({"keys", "coordinator", "new"}).code, ExitCode::ok);
  expect_refused({{"keys", "client", "new"}, ExitCode::usage, "needs a name"});
  expect_refused({{"keys", "client", "old", "a"}, ExitCode::usage, "takes: new"});
  expect_refused(
      {{"keys", "allow", "abc", "--name", "a", "--role", "work"}, ExitCode::usage, "64"});
  expect_refused(
      {{"keys", "allow", std::string(64, 'a'), "--name", "a"}, ExitCode::usage, "--role"});
  expect_refused({{"keys", "allow", std::string(64, 'a'), "--name", "a", "--role", "boss"},
                  ExitCode::usage,
                  "submit, fetch, work, admin"});
  expect_refused({{"keys", "revoke", "nobody"}, ExitCode::not_found, "enginery keys list"});
  expect_refused({{"keys", "token"}, ExitCode::usage, "--address"});
  expect_refused({{"keys", "forge"}, ExitCode::usage, "there are: show, new"});
}

// Everything that a second host does and may get wrong, against a coordinator that runs.
TEST_F(FarmKeys, OpenTheNetworkToThoseWhoHaveOne) {
  ASSERT_EQ(ask({"keys", "coordinator", "new"}).code, ExitCode::ok);
  CoordinatorOptions options;
  options.data = data_folder();
  options.check_engine = check_engine;
  options.network = "tcp://127.0.0.1:*";
  const auto coordinator = Coordinator::start(options);
  ASSERT_TRUE(coordinator.ok()) << coordinator.error().message;
  const std::string address = (*coordinator)->network_address();
  const auto key = [&](const std::string& kind, const std::string& name) {
    const std::string path = file(name + ".key");
    EXPECT_EQ(ask({"keys", kind, "new", name, "--address", address, "-o", path}).code,
              ExitCode::ok);
    return path;
  };
  const std::string alice = key("client", "alice"), lab = key("worker", "lab");
  EXPECT_EQ(ask({"jobs", "--key", alice}).code, ExitCode::ok);
  expect_refused({{"jobs", "--key", lab}, ExitCode::untrusted, "needs the role submit"});
  expect_refused({{"drain", "w", "--key", alice}, ExitCode::untrusted, "needs the role admin"});
  ASSERT_EQ(ask({"keys", "revoke", "alice"}).code, ExitCode::ok);
  expect_refused({{"jobs", "--key", alice}, ExitCode::untrusted, "keys allow"});
  expect_refused({{"jobs", "--key", file("none.key")}, ExitCode::not_found, "none.key"});
  expect_refused({{"jobs", "--coordinator", "tcp://192.0.2.1:7701"}, ExitCode::untrusted, "--key"});

  const std::string token = ask({"keys", "token", "--address", address}).out.substr(5);
  const std::string whole = token.substr(0, token.size() - 1);
  expect_refused({{"join", whole.substr(0, 60)}, ExitCode::usage, "copy the whole line"});
  expect_refused({{"join", "hello"}, ExitCode::usage, "no token"});
  const auto joined = redeem_token(whole, "host two");
  ASSERT_TRUE(joined.ok()) << joined.error().message;
  EXPECT_EQ(read_identity(*joined)->name, "host-two");
  EXPECT_TRUE(redeem_token(whole, "host two").ok()) << "the same host again";
  const std::string other = ask({"keys", "token", "--address", address}).out.substr(5);
  const std::string id =
      key_id(parse_join_token(other.substr(0, other.size() - 1))->own.public_key);
  ASSERT_EQ(ask({"keys", "revoke", id}).code, ExitCode::ok);
  expect_refused(
      {{"join", other.substr(0, other.size() - 1)}, ExitCode::untrusted, "enginery keys token"});
}

TEST_F(FarmKeys, ACoordinatorOnTheNetworkNeedsOne) {
  const SignalsOfTheProcess restore;  // the service blocks its own
  expect_refused({{"coordinator", "--listen", "tcp://0.0.0.0:0"},
                  ExitCode::usage,
                  "enginery keys coordinator new"});
  expect_refused({{"join"}, ExitCode::not_found, "enginery join TOKEN"});
}

}  // namespace
}  // namespace enginery
