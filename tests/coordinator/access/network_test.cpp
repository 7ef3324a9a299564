// A coordinator on the network, as keys see it: who is let in, what each role may say, and what a
// refusal tells. Over loopback, with CURVE as between hosts.
#include <gtest/gtest.h>
#include <zmq.h>

#include "coordinator/access/zap.h"
#include "coordinator/client/zmq_socket.h"
#include "coordinator/server/server_socket.h"
#include "engine/base/file.h"
#include "tests/coordinator/access/network_fixture.h"

namespace enginery {
namespace {

using std::chrono::milliseconds;

TEST(Curve, IsPartOfTheLibrary) {
  EXPECT_EQ(zmq_has("curve"), 1);
}

// What libzmq does without a handler is why the handler is started first.
TEST(Curve, AnUnknownKeyIsLetInWithoutAHandlerAndNotWithOne) {
  for (const bool with_handler : {false, true}) {
    const TemporaryFolder folder;
    const SystemClock clock;
    KeyRing keys(folder.path, clock);
    const auto context = make_zmq_context();
    std::unique_ptr<ZapHandler> handler;
    if (with_handler) handler = must(ZapHandler::start(context, keys));
    const CurveKey own = CurveKey::generate();
    const auto server =
        must(ServerSocket::bind(context, "ipc://" + (folder.path / "s.sock").string(), 1 << 20));
    ASSERT_TRUE(server->bind_network("tcp://127.0.0.1:*", &own).ok());
    const FarmIdentity unknown{"", CurveKey::generate(), own.public_key, ""};
    const auto link =
        must(make_zmq_dial({unknown, false})(server->network_address(), kMaxControlBytes));
    Message hello;
    hello.envelope.body = Hello{};
    const Wake wake;
    std::optional<Incoming> in;
    for (int tries = 0; tries < (with_handler ? 10 : 60) && !in; ++tries) {
      (void)link->send(hello);
      server->wait(milliseconds(50), wake);
      in = server->receive();
      (void)link->receive(milliseconds(1), -1);
    }
    EXPECT_EQ(in.has_value(), !with_handler);
    if (with_handler) {
      ASSERT_TRUE(link->trouble());
      EXPECT_EQ(link->trouble()->code, ErrorCode::untrusted);
    }
  }
}

// Should the handler ever be gone, nobody becomes the owner for it.
TEST(KeyRingTest, AMessageOfTheNetworkThatNobodyVouchedForIsRefused) {
  const TemporaryFolder folder;
  const SystemClock clock;
  KeyRing careful(folder.path, clock), insecure(folder.path, clock, KeyRing::Keyless::owner);
  const Caller network{true, std::nullopt, "10.0.0.9"}, own;
  EXPECT_FALSE(careful.admit(network, ListJobs{}).ok());
  EXPECT_EQ(must(careful.admit(own, ListJobs{})).roles, kEveryRole);
  EXPECT_TRUE(insecure.admit(network, ListJobs{}).ok());
}

TEST_F(NetworkTest, AnAllowedKeyWorksAndTheOwnersSocketNeedsNone) {
  const auto client = connected(allowed("alice", Role::submit | Role::fetch));
  EXPECT_TRUE(client->jobs(10).ok());
  const Bytes blob(3'000'000, 'x');
  const Digest digest = must(client->put_blob(as_bytes(blob)));
  EXPECT_EQ(must(client->get_blob(digest)), blob);
  const auto owner = connect_to(options().listen, "owner@here");
  ASSERT_NE(owner, nullptr);
  EXPECT_TRUE(owner->jobs(10).ok());
}

TEST_F(NetworkTest, AnUnknownKeyIsRefusedAtTheDoorAndHearsItsNumber) {
  const FarmIdentity stranger = identity("mallory");
  expect_refused(status_of(dial(stranger)),
                 {key_id(stranger.own.public_key),
                  "enginery keys allow " + key_text(stranger.own.public_key)});
}

TEST_F(NetworkTest, AnotherCoordinatorIsNotSpokenTo) {
  FarmIdentity alice = allowed("alice", Role::submit);
  alice.coordinator = CurveKey::generate().public_key;
  const auto wrong = dial(alice);
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().code, ErrorCode::unavailable);
  EXPECT_NE(wrong.error().message.find("does not hold the key " + key_id(alice.coordinator)),
            std::string::npos)
      << wrong.error().message;
}

TEST_F(NetworkTest, WithoutAKeyNobodyIsServed) {
  ClientOptions plain;
  plain.address = coordinator->network_address();
  plain.connect_timeout = milliseconds(1500);
  const auto client = Client::connect(plain, make_zmq_dial());
  ASSERT_FALSE(client.ok());
  EXPECT_NE(client.error().message.find("asks for a key"), std::string::npos)
      << client.error().message;
}

// On a connection that is open, too.
TEST_F(NetworkTest, ARevokedKeyIsRefusedWithItsNextWordAndNotLetInAgain) {
  const FarmIdentity alice = allowed("alice", Role::submit | Role::fetch);
  const auto client = connected(alice);
  ASSERT_TRUE(client->jobs(1).ok());
  ASSERT_TRUE(client->has_blobs({Digest{}}).ok());
  ASSERT_TRUE(principals.revoke("alice", 5).ok());
  expect_refused(status_of(client->jobs(1)),
                 {key_id(alice.own.public_key), "'alice'", "has been revoked", "keys allow"});
  expect_refused(status_of(client->has_blobs({Digest{}})), {"has been revoked"});
  expect_refused(status_of(dial(alice)), {key_id(alice.own.public_key)});
  ASSERT_TRUE(principals.allow({alice.own.public_key, "alice", Role::fetch, "", 0, 0, {}}).ok());
  EXPECT_TRUE(client->jobs(1).ok()) << "allowed again";
}

TEST_F(NetworkTest, EachRoleMayDoItsOwnAndNoOthers) {
  const auto submitter = connected(allowed("alice", Role::submit));
  const auto worker = connected(allowed("lab", Role::work));
  const auto reader = connected(allowed("bob", Role::fetch));
  SyncRequest sync;
  sync.worker = "alice/cpu";
  sync.sku = "a";
  sync.incarnation = 1;
  sync.sequence = 1;
  expect_refused(status_of(submitter->sync(sync)),
                 {"'alice' (role submit)", "may not send Sync", "needs the role work",
                  "--name alice --role submit,work"});
  expect_refused(status_of(worker->submit(make_submit("m", {"a"}), make_request_id())),
                 {"'lab' (role work)", "may not send Submit", "needs the role submit"});
  expect_refused(status_of(reader->submit(make_submit("m", {"a"}), make_request_id())),
                 {"'bob' (role fetch)", "needs the role submit"});
  expect_refused(reader->drain("w", false), {"needs the role admin"});
  expect_refused(status_of(reader->put_blob(as_bytes("x"))), {"HasBlobs", "submit or work"});
  expect_refused(status_of(submitter->put_timings({}, {})), {"PutTimings", "needs the role work"});
  EXPECT_TRUE(reader->jobs(1).ok());
  EXPECT_TRUE(worker->workers().ok());
}

TEST_F(NetworkTest, AWorkersNameIsItsKeys) {
  const FarmIdentity lab = allowed("lab", Role::work);
  const auto client = connected(lab);
  SyncRequest sync;
  sync.sku = "a";
  sync.kind = "cpu";
  sync.toolchain = "tool 1";
  sync.device = sync.host = "h";
  sync.incarnation = 1;
  for (const auto& [name, allowed_name] : std::vector<std::pair<std::string, bool>>{
           {"lab/a", true}, {"lab", true}, {"lab2/a", false}, {"other/a", false}}) {
    sync.worker = name;
    ++sync.sequence;
    const auto reply = client->sync(sync);
    EXPECT_EQ(reply.ok(), allowed_name) << name;
    if (!reply.ok()) expect_refused(status_of(reply), {"is called 'lab'", name});
  }
  expect_refused(status_of(dial(lab, "worker", "other/a")), {"is called 'lab'"});
}

// Timings are believed of the device that the session's worker offers: it must be the key's own.
TEST_F(NetworkTest, NobodySpeaksForAnothersWorker) {
  SyncRequest sync;
  sync.worker = "other";
  sync.sku = "a";
  sync.kind = "cpu";
  sync.toolchain = "tool 1";
  sync.device = sync.host = "h";
  sync.incarnation = sync.sequence = 1;
  ASSERT_TRUE(connected(allowed("other", Role::work))->sync(sync).ok());
  const auto liar = must(dial(allowed("lab", Role::work), "cli", "other"));
  const auto stored = liar->put_timings({}, {});
  ASSERT_FALSE(stored.ok());
  EXPECT_NE(stored.error().message.find("'lab'"), std::string::npos) << stored.error().message;
}

// The coordinator knows whose a job is by its key; what the client says of itself does not count.
TEST_F(NetworkTest, TheShareAndTheRequestsOfAKeyAreItsOwn) {
  const auto alice = connected(allowed("alice", Role::submit | Role::fetch));
  const auto bob = connected(allowed("bob", Role::submit | Role::fetch));
  for (const auto& client : {alice.get(), bob.get()})
    ASSERT_TRUE(client->put_blob(as_bytes("m")).ok());
  SubmitRequest submit = make_submit("m", {"a"});
  submit.wait_for_workers = true;
  submit.client = "somebody else";
  const RequestId id = make_request_id();
  const JobView first = must(alice->submit(submit, id));
  EXPECT_EQ(first.client, "alice");
  EXPECT_EQ(must(alice->submit(submit, id)).id, first.id) << "a repetition";
  const JobView other = must(bob->submit(submit, id));
  EXPECT_NE(other.id, first.id) << "bob's request of the same number is bob's";
  EXPECT_EQ(other.client, "bob");
}

TEST_F(NetworkTest, ATokenIsGoodForOneKeyAndForNothingElse) {
  FarmIdentity token = identity("token");
  ASSERT_TRUE(principals.allow({token.own.public_key, "token", Role::join, "", 0, 0, {}}).ok());
  const auto holder = connected(token);
  expect_refused(status_of(holder->jobs(1)), {"ListJobs"});
  expect_refused(status_of(holder->workers()), {"ListWorkers"});
  const FarmIdentity mine = identity("lab");
  expect_refused(status_of(dial(mine)), {"not known"});
  EXPECT_EQ(must(holder->join(mine.own.public_key, "lab")), "lab");
  EXPECT_EQ(must(holder->join(mine.own.public_key, "lab")), "lab") << "a repetition";
  EXPECT_TRUE(connected(mine)->workers().ok());
  expect_refused(status_of(holder->join(CurveKey::generate().public_key, "lab")),
                 {"has been used"});
}

TEST_F(NetworkTest, AListThatCannotBeReadLetsNobodyIn) {
  const auto client = connected(allowed("alice", Role::fetch));
  ASSERT_TRUE(write_file(principals.file(), "?", 0600).ok());
  expect_refused(status_of(client->jobs(1)), {"cannot read its list of keys"});
}

TEST_F(NetworkTest, DoesNotStartWithoutAKeyUnlessItMayBeInsecure) {
  coordinator.reset();
  std::filesystem::remove(principals.folder() / kCoordinatorKeyFile);
  const auto refused = Coordinator::start(options());
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::usage);
  EXPECT_NE(refused.error().message.find("keys coordinator new"), std::string::npos);
  CoordinatorOptions open = options();
  open.insecure = true;
  coordinator = must(Coordinator::start(open));
  EXPECT_TRUE(connect_to(coordinator->network_address(), "me@here")->jobs(1).ok());
}

TEST(Dialling, BeyondThisHostNeedsAKey) {
  const auto none = make_zmq_dial()("tcp://192.0.2.1:7701", kMaxControlBytes);
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code, ErrorCode::untrusted);
  EXPECT_NE(none.error().message.find("--key"), std::string::npos);
  EXPECT_TRUE(make_zmq_dial({std::nullopt, true})("tcp://192.0.2.1:7701", kMaxControlBytes).ok());
}

TEST(Dialling, SaysWhatTheNetworkDid) {
  ClientOptions client;
  client.connect_timeout = milliseconds(1200);
  client.address = "tcp://127.0.0.1:1";
  const auto closed = Client::connect(client, make_zmq_dial());
  ASSERT_FALSE(closed.ok());
  EXPECT_NE(closed.error().message.find("nobody listens there"), std::string::npos)
      << closed.error().message;
}

// A worker writes what its own leases do, and nothing into the logs of others' steps.
TEST_F(NetworkTest, AKeyWritesToTheLogsOfItsOwnWorkersSteps) {
  const auto owner = connect_to(options().listen, "owner@here");
  must(owner->put_blob(as_bytes(std::string_view("m"))));
  SubmitRequest submit = make_submit("m", {"a"});
  submit.wait_for_workers = true;
  const std::string job = must(owner->submit(submit, make_request_id())).id;
  const auto lab = connected(allowed("lab", Role::work)),
             other = connected(allowed("other", Role::work));
  SyncRequest sync;
  sync.worker = "lab/a";
  sync.sku = "a";
  sync.kind = "cpu";
  sync.toolchain = "tool 1";
  sync.device = sync.host = "h";
  sync.incarnation = sync.sequence = 1;
  const SyncReply reply = must(lab->sync(sync));
  const auto* run = std::get_if<RunStep>(&reply.desired);
  ASSERT_NE(run, nullptr);
  expect_refused(status_of(other->append_log(run->ref, 0, "forged\n")),
                 {"is called 'other'", "'lab/a' is another's"});
  EXPECT_EQ(must(lab->append_log(run->ref, 0, "mine\n")), 5u);
  EXPECT_EQ(must(owner->read_log(job, 0, false, milliseconds(0))).text.find("forged"),
            std::string::npos);
}

}  // namespace
}  // namespace enginery
