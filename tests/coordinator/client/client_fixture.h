// A client over a wire that loses what it is told to lose, on a clock that the wire moves.
#pragma once

#include <gtest/gtest.h>

#include <deque>

#include "coordinator/client/client.h"

namespace enginery {

struct FakeWire final : Clock {
  mutable Nanoseconds now = std::chrono::seconds(1000);
  Nanoseconds tick = {};         // passes at each look at the clock
  std::optional<Error> trouble;  // what the network did
  std::vector<Message> sent;
  std::vector<Nanoseconds> sent_at;
  std::deque<Message> replies;
  // What the coordinator answers to a request; nothing: the request or its reply is lost.
  std::function<std::optional<Message>(const Message&)> answer;
  int refused_sends = 0;  // so many more sends find nobody connected

  Nanoseconds monotonic() const override { return now += tick; }
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

  Result<std::optional<Message>> receive(std::chrono::milliseconds timeout, int) override {
    if (wire_.replies.empty()) {
      wire_.now += std::max(timeout, std::chrono::milliseconds(1));
      return std::optional<Message>();
    }
    std::optional<Message> reply = std::move(wire_.replies.front());
    wire_.replies.pop_front();
    return reply;
  }

  std::optional<Error> trouble() override { return wire_.trouble; }

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
  std::chrono::milliseconds sent_after(size_t number) const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(wire_.sent_at.at(number) -
                                                                 std::chrono::seconds(1000));
  }

  FakeWire wire_;
  std::unique_ptr<Client> client_;
};

}  // namespace enginery
