// A bound ROUTER socket that speaks messages, over libzmq: at an address of this host, and at one
// of the network where the coordinator has keys for it.
//
// Where: one for each of the coordinator's sockets, below ControlServer and BulkServer. Threads:
// one thread at a time (the Wake from any).
#pragma once

#include <chrono>
#include <memory>
#include <optional>

#include "coordinator/access/key_ring.h"
#include "coordinator/client/identity.h"

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
  Caller from = {};  // who sent it, as the socket knows it
};

class ServerSocket {
  struct Bound {
    explicit Bound() = default;
  };

 public:
  // Binds; `max_bytes` is the limit of each frame, in both directions. usage: an address beyond
  // this host; unavailable: taken by another process; storage: the socket's folder.
  static Result<std::unique_ptr<ServerSocket>> bind(std::shared_ptr<void> context,
                                                    const std::string& address, size_t max_bytes);
  ~ServerSocket();

  // Binds a second address, for the network, with CURVE; without a key anyone may connect there and
  // is the owner. Before anything else is called, and after the ZAP handler was started.
  Status bind_network(const std::string& address, const CurveKey* key);

  // The addresses as bound: a port * or 0 is resolved. The network's is "" where there is none.
  const std::string& address() const { return address_; }
  const std::string& network_address() const { return network_address_; }

  // Returns when a message waits, the wake rings, or after the timeout.
  void wait(std::chrono::milliseconds timeout, const Wake& wake);
  // The next message that waits; frames that do not decode are dropped with a log line.
  std::optional<Incoming> receive();
  // Never waits: what cannot be delivered is dropped with a log line, because every request may be
  // repeated.
  void send(const Bytes& route, Message message);

  // For bind(), which alone can make the key.
  ServerSocket(Bound, std::shared_ptr<void> context, void* socket, size_t max_bytes)
      : context_(std::move(context)), socket_(socket), max_bytes_(max_bytes) {}

 private:
  Result<std::string> open(void* socket, const std::string& address) const;
  std::optional<Incoming> receive_from(void* socket);

  std::shared_ptr<void> context_;
  void* socket_;
  void* network_ = nullptr;
  bool network_first_ = false;
  size_t max_bytes_;
  std::string address_, network_address_;
};

}  // namespace enginery
