// The requests of one transfer that are on their way at the same time: what keeps a connection full
// while each answer takes its round trip.
//
// Where: below Client::get_chunks and put_chunks. A request without an answer is sent again, so
// that lost messages and a restart of the coordinator cost time only. Threads: one thread at a
// time.
#pragma once

#include <deque>
#include <string>

#include "coordinator/client/link.h"
#include "engine/base/clock.h"

namespace enginery {

// When a link that took nothing, and does not say that it would now, is tried again.
inline constexpr std::chrono::milliseconds kSendAgainAfter{50};

struct WindowOptions {
  std::string session, address;
  std::chrono::milliseconds repeat_after{2000};
  std::chrono::milliseconds reply_timeout{20000};  // without any answer
};

class ChunkWindow {
 public:
  // Both outlive it.
  ChunkWindow(Link& link, const Clock& clock, WindowOptions options);

  bool full() const;
  size_t in_flight() const { return waiting_.size(); }
  // Sends the request, or does so as soon as the link takes it. invalid_argument: too large.
  Status send(Body body, Bytes chunk = {});

  struct Answered {
    Body request;
    Message reply;
  };
  // The next answer to one of the requests; ErrorReply is the error that it holds. unavailable:
  // none came in time.
  Result<Answered> receive();

 private:
  struct Waiting {
    Message request;
    Nanoseconds send_at{};  // again
  };
  Status send_what_is_due();
  Nanoseconds next_send() const;

  Link& link_;
  const Clock& clock_;
  const WindowOptions options_;
  std::deque<Waiting> waiting_;  // oldest first
  bool refused_ = false;         // the link takes nothing more for now
  uint64_t sequence_ = 0;
};

}  // namespace enginery
