// A coordinator in this process: answers each request by a function, at once.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <thread>

#include "coordinator/client/client.h"

namespace enginery {

using Answer = std::function<Body(const Body& request)>;

class FakeLink final : public Link {
 public:
  explicit FakeLink(Answer answer) : answer_(std::move(answer)) {}

  Status send(const Message& message) override {
    Message reply;
    reply.envelope.request = message.envelope.request;
    const bool is_hello = std::holds_alternative<Hello>(message.envelope.body);
    reply.envelope.body = is_hello ? Body(Welcome{}) : answer_(message.envelope.body);
    replies_.push_back(std::move(reply));
    return {};
  }
  Result<std::optional<Message>> receive(std::chrono::milliseconds timeout, int) override {
    if (replies_.empty()) {
      std::this_thread::sleep_for(std::min(timeout, std::chrono::milliseconds(1)));
      return std::optional<Message>();
    }
    std::optional<Message> first(std::move(replies_.front()));
    replies_.pop_front();
    return first;
  }

 private:
  Answer answer_;
  std::deque<Message> replies_;
};

// Every link that it makes is answered by `answer`.
inline Dial dial_of(const Answer& answer) {
  return [answer](const std::string&, size_t) -> Result<std::unique_ptr<Link>> {
    return std::unique_ptr<Link>(std::make_unique<FakeLink>(answer));
  };
}

// A client whose every call is answered by `answer`.
inline std::unique_ptr<Client> client_of(const Answer& answer) {
  ClientOptions options;
  options.address = "fake";
  auto client = Client::connect(options, dial_of(answer));
  return std::move(*client);
}

}  // namespace enginery
