#include "coordinator/server/desk.h"

namespace enginery {

Result<Body> Desk::ask(Body request, std::chrono::milliseconds timeout) {
  const RequestId id = make_request_id();
  Incoming in;
  in.message.envelope.request = id;
  in.message.envelope.body = std::move(request);
  std::unique_lock lock(mutex_);
  asked_.push_back(std::move(in));
  const auto place = waiting_.try_emplace(id).first;
  ring_();
  answered_.wait_for(lock, timeout, [&] { return place->second.has_value(); });
  const std::optional<Body> body = std::move(place->second);
  waiting_.erase(place);
  if (!body) return Error{ErrorCode::unavailable, "the queue does not answer; it is busy or stuck"};
  if (const auto* error = std::get_if<ErrorReply>(&*body))
    return Error{error->fault.code, error->fault.message};
  return *body;
}

std::vector<Incoming> Desk::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(asked_, {});
}

void Desk::answer(const RequestId& request, Body body) {
  {
    const std::lock_guard lock(mutex_);
    const auto place = waiting_.find(request);
    if (place == waiting_.end()) return;
    place->second = std::move(body);
  }
  answered_.notify_all();
}

}  // namespace enginery
