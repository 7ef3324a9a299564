// A worker of the version before beside this coordinator: its frames, as they were recorded then,
// are understood, and what comes back is a frame.
#include <gtest/gtest.h>
#include <zmq.h>

#include <fstream>

#include "schemas/codec.h"
#include "tests/coordinator/farm_fixture.h"

namespace enginery {
namespace {

Bytes bytes_of_hex(const std::string& text) {
  Bytes out;
  for (size_t i = 0; i + 1 < text.size(); i += 2)
    out += static_cast<char>(std::stoi(text.substr(i, 2), nullptr, 16));
  return out;
}

// The recorded frames of one kind of message.
template <typename T>
std::vector<Bytes> recorded(const std::string& file_name) {
  std::vector<Bytes> frames;
  std::ifstream file(ENGINERY_SOURCE_DIR "/tests/schemas/" + file_name);
  for (std::string name, hex; file >> name >> hex;) {
    const Bytes frame = bytes_of_hex(hex);
    const Result<Envelope> envelope = decode(as_bytes(frame));
    if (envelope.ok() && std::holds_alternative<T>(envelope->body)) frames.push_back(frame);
  }
  return frames;
}

// A connection on which bytes are sent as they are.
class RawClient {
 public:
  explicit RawClient(const std::string& address)
      : context_(zmq_ctx_new(), [](void* c) { zmq_ctx_term(c); }),
        socket_(zmq_socket(context_.get(), ZMQ_DEALER), [](void* s) { zmq_close(s); }) {
    const int linger_ms = 0, patience_ms = 10'000;
    zmq_setsockopt(socket_.get(), ZMQ_LINGER, &linger_ms, sizeof linger_ms);
    zmq_setsockopt(socket_.get(), ZMQ_RCVTIMEO, &patience_ms, sizeof patience_ms);
    EXPECT_EQ(zmq_connect(socket_.get(), address.c_str()), 0);
  }
  Result<Envelope> ask(const Bytes& frame) {
    zmq_send(socket_.get(), frame.data(), frame.size(), 0);
    Bytes answer(size_t{1} << 20, '\0');
    const int size = zmq_recv(socket_.get(), answer.data(), answer.size(), 0);
    if (size < 0) return Error{ErrorCode::unavailable, "no answer"};
    answer.resize(static_cast<size_t>(size));
    return decode(as_bytes(answer));
  }

 private:
  std::shared_ptr<void> context_, socket_;
};

TEST(OldWorker, IsGreetedHeardAndListed) {
  const Farm farm;
  RawClient worker(farm.options().listen);
  const auto hellos = recorded<Hello>("frames_2.golden");
  ASSERT_FALSE(hellos.empty());
  const Result<Envelope> greeted = worker.ask(hellos[0]);
  ASSERT_TRUE(greeted.ok()) << greeted.error().message;
  EXPECT_FALSE(std::holds_alternative<std::monostate>(greeted->body));

  const auto syncs = recorded<SyncRequest>("frames_2.golden");
  ASSERT_GE(syncs.size(), 3u) << "idle, running, finished";
  const Result<Envelope> answer = worker.ask(syncs[0]);
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_TRUE(std::holds_alternative<SyncReply>(answer->body));
  const auto said = std::get<SyncRequest>(decode(as_bytes(syncs[0]))->body);
  const auto listed = must(farm.client()->workers());
  ASSERT_EQ(listed.size(), 1u);
  EXPECT_EQ(listed[0].id, said.worker);
  EXPECT_EQ(listed[0].sku, said.sku);
  EXPECT_EQ(listed[0].reading, DeviceReading()) << "it has never heard of readings";
}

// A worker that reports a lease that nobody gave it stops, as one of today does.
TEST(OldWorker, IsToldToStopWhatNobodyGaveIt) {
  const Farm farm;
  RawClient worker(farm.options().listen);
  for (const Bytes& frame : recorded<SyncRequest>("frames_2.golden")) {
    const auto sync = std::get<SyncRequest>(decode(as_bytes(frame))->body);
    if (!std::holds_alternative<Running>(sync.state)) continue;
    const Result<Envelope> answer = worker.ask(frame);
    ASSERT_TRUE(answer.ok()) << answer.error().message;
    const auto* reply = std::get_if<SyncReply>(&answer->body);
    ASSERT_NE(reply, nullptr);
    EXPECT_FALSE(std::holds_alternative<Keep>(reply->desired));
    return;
  }
  FAIL() << "no recorded worker runs anything";
}

}  // namespace
}  // namespace enginery
