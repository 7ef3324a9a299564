// Requests to the control thread from other threads of this process, answered like a client's.
//
// Where: the HTTP server's threads ask; ControlServer takes the requests with its next batch and
// hands the answers in. The control thread never waits for who asks. Threads: ask from any thread
// but the control thread, take and answer from that one.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>

#include "coordinator/server/server_socket.h"

namespace enginery {

class Desk {
 public:
  // `ring` wakes the control thread; called from those who ask.
  explicit Desk(std::function<void()> ring) : ring_(std::move(ring)) {}

  // Waits for the answer. Errors: what an ErrorReply says; unavailable: none came in time.
  Result<Body> ask(Body request, std::chrono::milliseconds timeout);

  // What is asked and was not yet taken. Their route is empty: no peer has such a one.
  std::vector<Incoming> take();
  // An answer that nobody waits for any longer is dropped.
  void answer(const RequestId& request, Body body);

 private:
  std::function<void()> ring_;
  std::mutex mutex_;
  std::condition_variable answered_;
  std::vector<Incoming> asked_;
  std::map<RequestId, std::optional<Body>> waiting_;
};

}  // namespace enginery
