// The bound socket by itself: who may bind where, which frames come in as requests, and answers
// that cannot be delivered.
#include "coordinator/server/server_socket.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <zmq.h>

#include <gtest/gtest.h>

#include "coordinator/client/zmq_socket.h"
#include "schemas/codec.h"
#include "tests/coordinator/farm_fixture.h"

namespace enginery {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

struct ServerSocketTest : testing::Test {
  static constexpr size_t kLimit = 2048;
  TemporaryFolder folder;
  std::shared_ptr<void> context = make_zmq_context();
  std::string address = "ipc://" + (folder.path / "deep" / "s.sock").string();
  std::unique_ptr<ServerSocket> server = must(ServerSocket::bind(context, address, kLimit));
  void* peer = zmq_socket(context.get(), ZMQ_DEALER);

  void SetUp() override {
    const int linger_ms = 0;
    zmq_setsockopt(peer, ZMQ_LINGER, &linger_ms, sizeof linger_ms);
    ASSERT_EQ(zmq_connect(peer, server->address().c_str()), 0);
  }
  ~ServerSocketTest() override { zmq_close(peer); }

  void send(const std::vector<Bytes>& frames) {
    for (size_t i = 0; i < frames.size(); ++i)
      zmq_send(peer, frames[i].data(), frames[i].size(), i + 1 < frames.size() ? ZMQ_SNDMORE : 0);
  }
  std::optional<Incoming> arrive() {
    const Wake wake;
    for (int tries = 0; tries < 100; ++tries) {
      if (std::optional<Incoming> in = server->receive()) return in;
      server->wait(milliseconds(50), wake);
    }
    return std::nullopt;
  }
  // The peer's next message, as a body; nothing within three seconds.
  std::optional<Body> heard() {
    const int wait_ms = 3000;
    zmq_setsockopt(peer, ZMQ_RCVTIMEO, &wait_ms, sizeof wait_ms);
    char frame[4 * kLimit];
    const int size = zmq_recv(peer, frame, sizeof frame, 0);
    if (size < 0) return std::nullopt;
    const auto envelope = decode(as_bytes(std::string_view(frame, static_cast<size_t>(size))));
    return envelope.ok() ? std::optional(envelope->body) : std::nullopt;
  }
  static Bytes request(Body body) {
    Envelope envelope;
    envelope.request = {3, 4};
    envelope.body = std::move(body);
    return *encode(envelope);
  }
};

TEST_F(ServerSocketTest, TakesRequestsInOrderAndPassesOverTheRest) {
  send({request(ShowJob{"j1"})});
  send({"no message"});
  send({request(ListJobs{}), "chunk", "one frame too many"});
  send({""});
  send({request(ShowJob{"j2"}), "chunk"});
  for (const char* job : {"j1", "j2"}) {
    const auto in = arrive();
    ASSERT_TRUE(in);
    const auto* show = std::get_if<ShowJob>(&in->message.envelope.body);
    ASSERT_NE(show, nullptr);
    EXPECT_EQ(show->job, job);
  }
  EXPECT_FALSE(server->receive());
}

// ZeroMQ ends the connection of a peer that sends more than the limit; others are served on.
TEST_F(ServerSocketTest, AFrameBeyondTheLimitNeverArrives) {
  send({Bytes(kLimit + 8, '\0')});
  void* other = zmq_socket(context.get(), ZMQ_DEALER);
  const int linger_ms = 0;
  zmq_setsockopt(other, ZMQ_LINGER, &linger_ms, sizeof linger_ms);
  ASSERT_EQ(zmq_connect(other, server->address().c_str()), 0);
  const Bytes right = request(ListJobs{});
  zmq_send(other, right.data(), right.size(), 0);
  const auto in = arrive();
  EXPECT_TRUE(in && std::holds_alternative<ListJobs>(in->message.envelope.body));
  EXPECT_FALSE(server->receive());
  zmq_close(other);
}

TEST_F(ServerSocketTest, AnAnswerThatIsTooLargeBecomesAnErrorThatSaysSo) {
  send({request(ListJobs{})});
  const auto in = arrive();
  ASSERT_TRUE(in);
  Message answer;
  answer.envelope.body = JobReply{};
  std::get<JobReply>(answer.envelope.body).job.options.assign(kLimit, 'o');
  server->send(in->route, answer);
  const auto body = heard();
  ASSERT_TRUE(body);
  const auto* error = std::get_if<ErrorReply>(&*body);
  ASSERT_NE(error, nullptr);
  EXPECT_EQ(error->fault.code, ErrorCode::internal);
  EXPECT_NE(error->fault.message.find("too large"), std::string::npos);
}

TEST_F(ServerSocketTest, AnAnswerToNobodyIsDropped) {
  Message answer;
  answer.envelope.body = Done{};
  server->send("nobody", answer);
  server->send("", answer);
  send({request(ListJobs{})});
  const auto in = arrive();
  ASSERT_TRUE(in);
  server->send(in->route, answer);
  EXPECT_TRUE(heard());
}

TEST_F(ServerSocketTest, AWakeEndsTheWaitUntilItIsCleared) {
  Wake wake;
  wake.ring();
  wake.ring();
  const auto begin = steady_clock::now();
  server->wait(milliseconds(20'000), wake);
  EXPECT_LT(steady_clock::now() - begin, milliseconds(10'000));
  wake.clear();
  const auto again = steady_clock::now();
  server->wait(milliseconds(30), wake);
  EXPECT_GE(steady_clock::now() - again, milliseconds(25));
}

TEST_F(ServerSocketTest, ASocketThatIsServedIsNotTakenAway) {
  const auto second = ServerSocket::bind(context, address, kLimit);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, ErrorCode::unavailable);
  EXPECT_NE(second.error().message.find("--listen"), std::string::npos);
  send({request(ListJobs{})});
  EXPECT_TRUE(arrive());
}

TEST_F(ServerSocketTest, AFileThatADeadProcessLeftIsTakenOver) {
  const std::string left = (folder.path / "left.sock").string();
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  left.copy(name.sun_path, sizeof name.sun_path - 1);
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_EQ(::bind(fd, reinterpret_cast<const sockaddr*>(&name), sizeof name), 0);
  close(fd);  // the file stays
  ASSERT_TRUE(std::filesystem::exists(left));
  EXPECT_TRUE(ServerSocket::bind(context, "ipc://" + left, kLimit).ok());
}

TEST_F(ServerSocketTest, AnyPortIsResolved) {
  const auto tcp = ServerSocket::bind(context, "tcp://127.0.0.1:*", kLimit);
  ASSERT_TRUE(tcp.ok()) << tcp.error().message;
  EXPECT_TRUE((*tcp)->address().starts_with("tcp://127.0.0.1:"));
  EXPECT_EQ((*tcp)->address().find('*'), std::string::npos);
}

}  // namespace
}  // namespace enginery
