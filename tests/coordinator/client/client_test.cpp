// The client over a wire that loses what it is told to lose, on a clock that the wire moves.
#include "coordinator/client/client.h"

#include <gtest/gtest.h>

#include <deque>

namespace enginery {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

struct FakeWire final : Clock {
  Nanoseconds now = seconds(1000);
  std::vector<Message> sent;
  std::vector<Nanoseconds> sent_at;
  std::deque<Message> replies;
  // What the coordinator answers to a request; nothing: the request or its reply is lost.
  std::function<std::optional<Message>(const Message&)> answer;
  int refused_sends = 0;  // so many more sends find nobody connected

  Nanoseconds monotonic() const override { return now; }
  Nanoseconds wall_time() const override { return now; }
};

class FakeLink final : public Link {
 public:
  explicit FakeLink(FakeWire& wire) : wire_(wire) {}

  Status send(const Message& message) override {
    if (wire_.refused_sends > 0) {
      --wire_.refused_sends;
      return Error{ErrorCode::unavailable, "nobody is connected"};
    }
    wire_.sent.push_back(message);
    wire_.sent_at.push_back(wire_.now);
    std::optional<Message> reply;
    if (std::holds_alternative<Hello>(message.envelope.body))
      reply = body(Welcome{});
    else if (wire_.answer)
      reply = wire_.answer(message);
    if (!reply) return {};
    if (reply->envelope.request == RequestId{}) reply->envelope.request = message.envelope.request;
    wire_.replies.push_back(std::move(*reply));
    return {};
  }

  Result<std::optional<Message>> receive(milliseconds timeout, int) override {
    if (wire_.replies.empty()) {
      wire_.now += std::max(timeout, milliseconds(1));
      return std::optional<Message>();
    }
    std::optional<Message> reply = std::move(wire_.replies.front());
    wire_.replies.pop_front();
    return reply;
  }

  static Message body(Body body, Bytes chunk = {}) {
    Message message;
    message.envelope.body = std::move(body);
    message.chunk = std::move(chunk);
    return message;
  }

 private:
  FakeWire& wire_;
};

class ClientTest : public testing::Test {
 protected:
  void SetUp() override {
    ClientOptions options;
    options.address = "ipc:///tmp/nowhere.sock";
    options.name = "tester";
    options.clock = &wire_;
    auto client = Client::connect(options, [this](const std::string&, size_t) {
      return Result<std::unique_ptr<Link>>(std::make_unique<FakeLink>(wire_));
    });
    ASSERT_TRUE(client.ok()) << client.error().message;
    client_ = std::move(*client);
    wire_.sent.clear();
    wire_.sent_at.clear();
  }
  milliseconds sent_after(size_t number) const {
    return std::chrono::duration_cast<milliseconds>(wire_.sent_at.at(number) - seconds(1000));
  }

  FakeWire wire_;
  std::unique_ptr<Client> client_;
};

TEST_F(ClientTest, RepeatsARequestWithTheSameIdUntilItIsAnswered) {
  wire_.answer = [&](const Message&) -> std::optional<Message> {
    if (wire_.sent.size() < 3) return std::nullopt;
    return FakeLink::body(SkuList{{{"p4", "cuda", "tool", 1, 1, 0}}});
  };
  const auto skus = client_->skus();
  ASSERT_TRUE(skus.ok()) << skus.error().message;
  EXPECT_EQ(skus->size(), 1u);
  ASSERT_EQ(wire_.sent.size(), 3u);
  for (const Message& message : wire_.sent) EXPECT_TRUE(message.envelope == wire_.sent[0].envelope);
  EXPECT_EQ(sent_after(0), milliseconds(0));
  EXPECT_NEAR(static_cast<double>(sent_after(1).count()), 2000, 5);
  EXPECT_NEAR(static_cast<double>(sent_after(2).count()), 4000, 10);
}

TEST_F(ClientTest, GivesUpWhenTheReplyTimeoutIsOver) {
  const auto skus = client_->skus();
  ASSERT_FALSE(skus.ok());
  EXPECT_EQ(skus.error().code, ErrorCode::unavailable);
  EXPECT_NE(skus.error().message.find("ipc:///tmp/nowhere.sock"), std::string::npos);
  EXPECT_NEAR(to_seconds(wire_.now - seconds(1000)), 20, 0.1);
  EXPECT_EQ(wire_.sent.size(), 10u);
}

TEST_F(ClientTest, ALongPollHasItsOwnTimeOnTop) {
  EXPECT_FALSE(client_->wait("j1", 0, seconds(30), false).ok());
  EXPECT_NEAR(to_seconds(wire_.now - seconds(1000)), 50, 0.1);
}

TEST_F(ClientTest, SendsAgainSoonWhileTheLinkCannotSend) {
  wire_.refused_sends = 4;
  wire_.answer = [](const Message&) { return FakeLink::body(WorkerList{}); };
  EXPECT_TRUE(client_->workers().ok());
  EXPECT_NEAR(static_cast<double>(sent_after(0).count()), 4 * 50, 10);
}

TEST_F(ClientTest, PassesOverAnswersToOtherRequests) {
  wire_.answer = [&](const Message& request) {
    Message stale = FakeLink::body(SkuList{});
    stale.envelope.request = {1, 2};
    wire_.replies.push_back(stale);
    Message reply = FakeLink::body(SkuList{{{"p4"}}});
    reply.envelope.request = request.envelope.request;
    return reply;
  };
  const auto skus = client_->skus();
  ASSERT_TRUE(skus.ok());
  EXPECT_EQ(skus->size(), 1u);
}

TEST_F(ClientTest, SaysWhatTheCoordinatorRefused) {
  wire_.answer = [](const Message&) {
    return FakeLink::body(ErrorReply{{ErrorCode::not_found, "show: no job 'j9'"}});
  };
  const auto job = client_->show("j9");
  ASSERT_FALSE(job.ok());
  EXPECT_EQ(job.error().code, ErrorCode::not_found);
  EXPECT_EQ(job.error().message, "show: no job 'j9'");
}

TEST_F(ClientTest, AnAnswerOfAnotherKindIsAnInternalError) {
  wire_.answer = [](const Message&) { return FakeLink::body(SkuList{}); };
  const auto job = client_->show("j1");
  ASSERT_FALSE(job.ok());
  EXPECT_EQ(job.error().code, ErrorCode::internal);
}

TEST_F(ClientTest, AnUploadGoesOnWhereAnEarlierOneStopped) {
  const Bytes bytes(kChunkBytes + 1000, 'x');
  wire_.answer = [&](const Message& request) {
    if (std::holds_alternative<HasBlobs>(request.envelope.body))
      return FakeLink::body(BlobStates{{{sha256(bytes), false, 5000, 0}}});
    const auto& put = std::get<PutBlob>(request.envelope.body);
    const uint64_t end = put.offset + request.chunk.size();
    return FakeLink::body(PutReply{end, end == bytes.size()});
  };
  const auto stored = client_->put_blob(as_bytes(bytes));
  ASSERT_TRUE(stored.ok()) << stored.error().message;
  ASSERT_EQ(wire_.sent.size(), 2u);
  EXPECT_EQ(std::get<PutBlob>(wire_.sent[1].envelope.body).offset, 5000u);
  EXPECT_EQ(wire_.sent[1].chunk.size(), bytes.size() - 5000);
}

TEST_F(ClientTest, RefusesADownloadWhoseChunkOrWholeIsDamaged) {
  const Bytes right(1000, 'x'), wrong(1000, 'y');
  const auto download = [&](const Bytes& sent, const Digest& chunk) {
    wire_.answer = [&, chunk](const Message&) {
      return FakeLink::body(BlobChunk{sha256(right), 0, sent.size(), chunk}, sent);
    };
    return client_->get_blob(sha256(right));
  };
  EXPECT_TRUE(download(right, sha256(right)).ok());
  EXPECT_FALSE(download(right, sha256(wrong)).ok());  // damaged on the way
  EXPECT_FALSE(download(wrong, sha256(wrong)).ok());  // another blob altogether
}

}  // namespace
}  // namespace enginery
