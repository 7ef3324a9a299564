#include "coordinator/client/chunk_window.h"

#include <algorithm>

namespace enginery {
namespace {

using std::chrono::milliseconds;

constexpr size_t kWindow = 16;

}  // namespace

ChunkWindow::ChunkWindow(Link& link, const Clock& clock, WindowOptions options)
    : link_(link), clock_(clock), options_(std::move(options)) {}

bool ChunkWindow::full() const {
  return waiting_.size() >= kWindow;
}

Status ChunkWindow::send(Body body, Bytes chunk) {
  Waiting waiting;
  waiting.request.envelope.request = make_request_id();
  waiting.request.envelope.session = options_.session;
  waiting.request.envelope.body = std::move(body);
  waiting.request.chunk = std::move(chunk);
  waiting.send_at = clock_.monotonic();
  waiting_.push_back(std::move(waiting));
  return send_what_is_due();
}

Status ChunkWindow::send_what_is_due() {
  const Nanoseconds now = clock_.monotonic();
  for (Waiting& waiting : waiting_) {
    if (waiting.send_at > now) continue;
    waiting.request.envelope.sequence = ++sequence_;
    const Status sent = link_.send(waiting.request);
    if (!sent.ok() && sent.error().code != ErrorCode::unavailable) return sent.error();
    refused_ = !sent.ok();
    if (refused_) return {};  // the others behind it, in their order
    waiting.send_at = now + options_.repeat_after;
  }
  return {};
}

Nanoseconds ChunkWindow::next_send() const {
  Nanoseconds next = Nanoseconds::max();
  for (const Waiting& waiting : waiting_) next = std::min(next, waiting.send_at);
  return refused_ ? clock_.monotonic() + kSendAgainAfter : next;
}

Result<ChunkWindow::Answered> ChunkWindow::receive() {
  const Nanoseconds end = clock_.monotonic() + options_.reply_timeout;
  while (true) {
    const Nanoseconds left = std::min(end, next_send() + milliseconds(1)) - clock_.monotonic();
    const auto wait = std::max(milliseconds(0), std::chrono::duration_cast<milliseconds>(left));
    TRY(std::optional<Message> reply, link_.receive(wait, -1));
    for (auto w = waiting_.begin(); reply && w != waiting_.end(); ++w) {
      if (w->request.envelope.request != reply->envelope.request) continue;
      Answered answered{std::move(w->request.envelope.body), std::move(*reply)};
      waiting_.erase(w);
      if (const auto* error = std::get_if<ErrorReply>(&answered.reply.envelope.body))
        return Error{error->fault.code, error->fault.message};
      return answered;
    }
    if (clock_.monotonic() >= end)
      return Error{ErrorCode::unavailable,
                   "coordinator at " + options_.address + " does not answer within " +
                       std::to_string(options_.reply_timeout.count() / 1000) +
                       " s; start one with: enginery up"};
    CHECK_OK(send_what_is_due());
  }
}

}  // namespace enginery
