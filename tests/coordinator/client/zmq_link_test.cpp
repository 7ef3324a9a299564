// A link over ZeroMQ against a bound socket: what is sent at all, what ends a wait, and frames that
// nobody should send.
#include <sys/eventfd.h>
#include <unistd.h>
#include <zmq.h>

#include <gtest/gtest.h>

#include "coordinator/client/link.h"
#include "coordinator/client/zmq_socket.h"
#include "coordinator/server/server_socket.h"
#include "schemas/codec.h"
#include "tests/coordinator/farm_fixture.h"

namespace enginery {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

Message message_of(Body body, Bytes chunk = {}) {
  Message message;
  message.envelope.request = {1, 2};
  message.envelope.body = std::move(body);
  message.chunk = std::move(chunk);
  return message;
}

struct ZmqLinkTest : testing::Test {
  static constexpr size_t kLimit = 4096;
  TemporaryFolder folder;
  std::string address = "ipc://" + (folder.path / "s.sock").string();
  std::unique_ptr<ServerSocket> server =
      must(ServerSocket::bind(make_zmq_context(), address, kLimit));
  std::unique_ptr<Link> link = must(make_zmq_dial()(address, kLimit));

  // The next message that reaches the server, and the route back.
  std::optional<Incoming> arrive() {
    const Wake wake;
    for (int tries = 0; tries < 100; ++tries) {
      if (std::optional<Incoming> in = server->receive()) return in;
      server->wait(milliseconds(50), wake);
    }
    return std::nullopt;
  }
  // Sends until the connection is there.
  void send(const Message& message) {
    for (int tries = 0; tries < 200; ++tries) {
      if (link->send(message).ok()) return;
      std::this_thread::sleep_for(milliseconds(10));
    }
    FAIL() << "nobody takes the message";
  }
};

TEST_F(ZmqLinkTest, CarriesTheEnvelopeAndTheChunkBothWays) {
  send(message_of(PutBlob{sha256("b"), 3, 0, sha256("abc")}, "abc"));
  const auto in = arrive();
  ASSERT_TRUE(in);
  EXPECT_EQ(in->message.chunk, "abc");
  server->send(in->route, message_of(BlobChunk{}, "reply"));
  const auto reply = link->receive(milliseconds(3000), -1);
  ASSERT_TRUE(reply.ok());
  ASSERT_TRUE(*reply);
  EXPECT_EQ((*reply)->chunk, "reply");
  EXPECT_EQ((*reply)->envelope.request, (RequestId{1, 2}));
}

TEST_F(ZmqLinkTest, NeverSendsWhatTheSocketWouldLose) {
  const Message long_text = message_of(ShowJob{std::string(kLimit, 'j')});
  const Message long_chunk = message_of(PutBlob{}, Bytes(kLimit + 1, 'c'));
  for (const Message& message : {long_text, long_chunk}) {
    const Status sent = link->send(message);
    ASSERT_FALSE(sent.ok());
    EXPECT_EQ(sent.error().code, ErrorCode::invalid_argument);
  }
  send(message_of(ListJobs{}));  // the link is whole
  ASSERT_TRUE(arrive());
}

TEST_F(ZmqLinkTest, AWaitEndsWithoutAMessageWhenItsTimeIsOver) {
  const auto begin = steady_clock::now();
  const auto nothing = link->receive(milliseconds(30), -1);
  ASSERT_TRUE(nothing.ok());
  EXPECT_FALSE(*nothing);
  EXPECT_GE(steady_clock::now() - begin, milliseconds(25));
}

TEST_F(ZmqLinkTest, AFileThatCanBeReadEndsTheWait) {
  const int fd = eventfd(1, EFD_NONBLOCK | EFD_CLOEXEC);
  const auto begin = steady_clock::now();
  const auto nothing = link->receive(milliseconds(20'000), fd);
  ASSERT_TRUE(nothing.ok());
  EXPECT_FALSE(*nothing);
  EXPECT_LT(steady_clock::now() - begin, milliseconds(10'000));
  close(fd);
}

TEST_F(ZmqLinkTest, AMessageComesBeforeTheWake) {
  send(message_of(ListJobs{}));
  const auto in = arrive();
  ASSERT_TRUE(in);
  server->send(in->route, message_of(JobList{}));
  const auto reply = link->receive(milliseconds(3000), -1);
  ASSERT_TRUE(reply.ok() && *reply);
  EXPECT_TRUE(std::holds_alternative<JobList>((*reply)->envelope.body));
}

TEST_F(ZmqLinkTest, IsUnavailableWhereNobodyListens) {
  const auto none = make_zmq_dial()("ipc://" + (folder.path / "none.sock").string(), kLimit);
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code, ErrorCode::unavailable);
  const auto beyond = make_zmq_dial()("tcp://example.com:1", kLimit);
  ASSERT_FALSE(beyond.ok());
  EXPECT_EQ(beyond.error().code, ErrorCode::untrusted);
}

// A connection takes a millisecond; nobody sleeps a fixed time for it.
TEST_F(ZmqLinkTest, AWaitEndsWhenWhatWasRefusedCanGoOut) {
  std::vector<std::unique_ptr<Link>> links;
  int refused = 0;
  for (int i = 0; i < 10; ++i) {
    links.push_back(must(make_zmq_dial()(address, kLimit)));
    if (links.back()->send(message_of(ListJobs{})).ok()) continue;
    ++refused;
    const auto begin = steady_clock::now();
    const auto nothing = links.back()->receive(milliseconds(20'000), -1);
    ASSERT_TRUE(nothing.ok());
    EXPECT_FALSE(*nothing);
    EXPECT_LT(steady_clock::now() - begin, milliseconds(10'000));
    EXPECT_TRUE(links.back()->send(message_of(ListJobs{})).ok());
  }
  EXPECT_GT(refused, 0) << "every connection was there at once";
}

// A tcp port is only found to be dead by asking it: sending says so at once.
TEST_F(ZmqLinkTest, ASendWithoutAConnectionIsRefusedAtOnce) {
  const auto dead = make_zmq_dial()("tcp://127.0.0.1:1", kLimit);
  ASSERT_TRUE(dead.ok());
  const Status sent = (*dead)->send(message_of(ListJobs{}));
  ASSERT_FALSE(sent.ok());
  EXPECT_EQ(sent.error().code, ErrorCode::unavailable);
}

// A coordinator's answers as they should not be: the link passes over them.
struct RawServerTest : testing::Test {
  TemporaryFolder folder;
  std::string address = "ipc://" + (folder.path / "raw.sock").string();
  std::shared_ptr<void> context = make_zmq_context();
  void* router = zmq_socket(context.get(), ZMQ_ROUTER);
  std::unique_ptr<Link> link;

  void SetUp() override {
    const int linger_ms = 0;
    zmq_setsockopt(router, ZMQ_LINGER, &linger_ms, sizeof linger_ms);
    ASSERT_EQ(zmq_bind(router, address.c_str()), 0);
    link = must(make_zmq_dial()(address, kMaxControlBytes));
  }
  ~RawServerTest() override { zmq_close(router); }

  // The route of the client, once it has said something.
  Bytes route() {
    while (!link->send(message_of(ListJobs{})).ok()) std::this_thread::sleep_for(milliseconds(10));
    char id[256];
    const int size = zmq_recv(router, id, sizeof id, 0);
    char rest[4096];
    zmq_recv(router, rest, sizeof rest, 0);
    return {id, static_cast<size_t>(std::max(0, size))};
  }
  void answer(const Bytes& to, const std::vector<Bytes>& frames) {
    zmq_send(router, to.data(), to.size(), ZMQ_SNDMORE);
    for (size_t i = 0; i < frames.size(); ++i)
      zmq_send(router, frames[i].data(), frames[i].size(), i + 1 < frames.size() ? ZMQ_SNDMORE : 0);
  }
};

TEST_F(RawServerTest, DropsFramesThatAreNoMessageAndTakesTheNext) {
  const Bytes client = route();
  const Bytes right = *encode(message_of(JobList{}).envelope);
  answer(client, {"noise"});
  answer(client, {Bytes(64, '\xff')});
  answer(client, {right, "chunk", "one too many"});
  answer(client, {right});
  int dropped = 0;
  for (; dropped < 10; ++dropped) {
    const auto reply = link->receive(milliseconds(3000), -1);
    ASSERT_TRUE(reply.ok());
    if (*reply) break;
  }
  EXPECT_EQ(dropped, 3);
}

}  // namespace
}  // namespace enginery
