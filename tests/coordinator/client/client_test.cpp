// How a client connects, repeats itself and gives up, over a wire that loses messages.
#include "tests/coordinator/client/client_fixture.h"

namespace enginery {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

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

// --- connecting

struct ConnectTest : testing::Test {
  FakeWire wire;
  ClientOptions options;
  // Answers Hello itself, unlike FakeLink.
  std::function<std::optional<Message>(const Message&)> hello;

  class HelloLink final : public Link {
   public:
    explicit HelloLink(ConnectTest& test) : test_(test) {}
    Status send(const Message& message) override {
      test_.wire.sent.push_back(message);
      if (test_.hello) reply_ = test_.hello(message);
      if (reply_) reply_->envelope.request = message.envelope.request;
      return {};
    }
    Result<std::optional<Message>> receive(milliseconds timeout, int) override {
      if (!reply_) test_.wire.now += std::max(timeout, milliseconds(1));
      return std::exchange(reply_, std::nullopt);
    }

   private:
    ConnectTest& test_;
    std::optional<Message> reply_;
  };

  Result<std::unique_ptr<Client>> connect() {
    options.address = "ipc:///tmp/nowhere.sock";
    options.clock = &wire;
    return Client::connect(options, [this](const std::string&, size_t) {
      return Result<std::unique_ptr<Link>>(std::make_unique<HelloLink>(*this));
    });
  }
};

TEST_F(ConnectTest, SaysWhoItIsAndWhichVersionsItSpeaks) {
  hello = [](const Message&) { return FakeLink::body(Welcome{}); };
  options.name = "me@here";
  options.role = "worker";
  ASSERT_TRUE(connect().ok());
  const auto& said = std::get<Hello>(wire.sent.at(0).envelope.body);
  EXPECT_EQ(said.name, "me@here");
  EXPECT_EQ(said.role, "worker");
  EXPECT_EQ(said.least_version, kMinProtocolVersion);
  EXPECT_EQ(said.greatest_version, kProtocolVersion);
}

TEST_F(ConnectTest, HasTheNameOfItsUserWhereNoneIsGiven) {
  hello = [](const Message&) { return FakeLink::body(Welcome{}); };
  ASSERT_TRUE(connect().ok());
  EXPECT_NE(std::get<Hello>(wire.sent.at(0).envelope.body).name.find('@'), std::string::npos);
}

TEST_F(ConnectTest, GivesUpAfterItsOwnTime) {
  options.connect_timeout = seconds(3);
  const auto client = connect();
  ASSERT_FALSE(client.ok());
  EXPECT_EQ(client.error().code, ErrorCode::unavailable);
  EXPECT_NE(client.error().message.find("within 3 s"), std::string::npos);
  EXPECT_EQ(wire.sent.size(), 2u);  // at once and after two seconds
}

TEST_F(ConnectTest, HandsUpTheRefusalOfItsVersion) {
  hello = [](const Message&) {
    return FakeLink::body(ErrorReply{{ErrorCode::unsupported, "update the older of the two"}});
  };
  const auto client = connect();
  ASSERT_FALSE(client.ok());
  EXPECT_EQ(client.error().code, ErrorCode::unsupported);
}

TEST_F(ConnectTest, AnAddressThatCannotBeDialledIsTheDialsError) {
  options.address = "http://here";
  const auto client = Client::connect(options, [](const std::string&, size_t) {
    return Result<std::unique_ptr<Link>>(Error{ErrorCode::usage, "no such address"});
  });
  ASSERT_FALSE(client.ok());
  EXPECT_EQ(client.error().code, ErrorCode::usage);
}

// --- requests

TEST_F(ClientTest, EveryRequestHasItsOwnIdAndTheSessionsName) {
  wire_.answer = [](const Message&) { return FakeLink::body(SkuList{}); };
  ASSERT_TRUE(client_->skus().ok());
  ASSERT_TRUE(client_->skus().ok());
  ASSERT_EQ(wire_.sent.size(), 2u);
  const Envelope &first = wire_.sent[0].envelope, &second = wire_.sent[1].envelope;
  EXPECT_NE(first.request, second.request);
  EXPECT_EQ(first.session, second.session);
  EXPECT_LT(first.sequence, second.sequence);
}

TEST_F(ClientTest, ASubmitKeepsTheGivenIdAndNamesItsClient) {
  wire_.answer = [](const Message&) { return FakeLink::body(JobReply{}); };
  SubmitRequest request;
  ASSERT_TRUE(client_->submit(request, {7, 8}).ok());
  EXPECT_EQ(wire_.sent.at(0).envelope.request, (RequestId{7, 8}));
  EXPECT_EQ(std::get<SubmitRequest>(wire_.sent[0].envelope.body).client, "tester");
  request.client = "on behalf of";
  ASSERT_TRUE(client_->submit(request, {7, 9}).ok());
  EXPECT_EQ(std::get<SubmitRequest>(wire_.sent.at(1).envelope.body).client, "on behalf of");
}

// What a call does with an error that comes instead of each kind of answer.
TEST_F(ClientTest, EveryCallHandsUpTheCoordinatorsError) {
  wire_.answer = [](const Message&) {
    return FakeLink::body(ErrorReply{{ErrorCode::storage, "the disk is full"}});
  };
  const auto storage = [](const auto& result) {
    return !result.ok() && result.error().code == ErrorCode::storage;
  };
  EXPECT_TRUE(storage(client_->submit({}, {1, 1})));
  EXPECT_TRUE(storage(client_->jobs(1)));
  EXPECT_TRUE(storage(client_->wait("j1", 0, seconds(1), true)));
  EXPECT_TRUE(storage(client_->cancel("j1")));
  EXPECT_TRUE(storage(client_->explain("j1")));
  EXPECT_TRUE(storage(client_->find_engines({})));
  EXPECT_TRUE(storage(client_->why_miss("j1")));
  EXPECT_TRUE(storage(client_->workers()));
  EXPECT_TRUE(storage(client_->drain("w", true)));
  EXPECT_TRUE(storage(client_->sync({})));
  EXPECT_TRUE(storage(client_->has_blobs({sha256("x")})));
  EXPECT_TRUE(storage(client_->put_blob(as_bytes("x"))));
  EXPECT_TRUE(storage(client_->get_blob(sha256("x"))));
  EXPECT_TRUE(storage(client_->append_log({}, 0, "x")));
  EXPECT_TRUE(storage(client_->read_log("j1", 0, false, {})));
  EXPECT_TRUE(storage(client_->get_timings({}, {})));
  EXPECT_TRUE(storage(client_->put_timings({}, {})));
}

// Wherever between two looks at the clock the time runs out.
TEST_F(ClientTest, SaysWhatTheNetworkDidWhenTheTimeIsOver) {
  wire_.trouble = Error{ErrorCode::unavailable, "nobody listens there"};
  for (int ms = 0; ms < 60; ++ms) {
    wire_.tick = milliseconds(ms);
    const auto jobs = client_->jobs(1);
    ASSERT_FALSE(jobs.ok());
    EXPECT_EQ(jobs.error().message, "nobody listens there") << ms << " ms a look";
  }
}

}  // namespace
}  // namespace enginery
