// A bound ROUTER socket that speaks messages, over libzmq.
//
// Where: one for each of the coordinator's sockets, below ControlServer and BulkServer. Threads:
// one thread at a time (the Wake from any).
#pragma once

#include <chrono>
#include <memory>
#include <optional>

#include "schemas/messages.h"

namespace enginery {

// Interrupts a wait from another thread: an eventfd.
class Wake {
 public:
  Wake();
  ~Wake();
  Wake(const Wake&) = delete;
  void ring();                    // ends the wait that runs, or the next one
  void clear();                   // after a wait: from now on only a new ring counts
  int fd() const { return fd_; }  // readable while it rings

 private:
  int fd_;
};

// A request as it arrived.
struct Incoming {
  Bytes route;  // names the peer until it reconnects; means nothing else
  Message message;
};

class ServerSocket {
  struct Bound {
    explicit Bound() = default;
  };

 public:
  // Binds; `max_bytes` is the limit of each frame, in both directions. usage: an address beyond
  // loopback; unavailable: taken by another process; storage: the socket's folder.
  static Result<std::unique_ptr<ServerSocket>> bind(std::shared_ptr<void> context,
                                                    const std::string& address, size_t max_bytes);
  ~ServerSocket();

  // The address as bound: a port * or 0 is resolved.
  const std::string& address() const { return address_; }

  // Returns when a message waits, the wake rings, or after the timeout.
  void wait(std::chrono::milliseconds timeout, const Wake& wake);
  // The next message that waits; frames that do not decode are dropped with a log line.
  std::optional<Incoming> receive();
  // Never waits: what cannot be delivered is dropped with a log line, because every request may be
  // repeated.
  void send(const Bytes& route, const Message& message);

  // For bind(), which alone can make the key.
  ServerSocket(Bound, std::shared_ptr<void> context, void* socket, size_t max_bytes)
      : context_(std::move(context)), socket_(socket), max_bytes_(max_bytes) {}

 private:
  bool send_frame(std::string_view bytes, bool more);

  std::shared_ptr<void> context_;
  void* socket_;
  size_t max_bytes_;
  std::string address_;
};

}  // namespace enginery
