// The ZAP handler (ZeroMQ RFC 27): libzmq asks it who may connect with CURVE.
//
// Where: the coordinator starts it before it binds an address of the network: without a handler
// libzmq lets every key in. Whom it lets in has the key as the User-Id of its messages. Threads:
// one of its own; the key ring is thread-safe.
#pragma once

#include <memory>
#include <thread>

#include "coordinator/access/key_ring.h"

namespace enginery {

class ZapHandler {
  struct Bound {
    explicit Bound() = default;
  };

 public:
  // One a context. `keys` outlives it. unavailable: the context has one already.
  static Result<std::unique_ptr<ZapHandler>> start(std::shared_ptr<void> context, KeyRing& keys);
  ~ZapHandler();  // ends the thread
  ZapHandler(const ZapHandler&) = delete;

  // For start(), which alone can make the key.
  ZapHandler(Bound, std::shared_ptr<void> context, void* socket, KeyRing& keys);

 private:
  void run();
  void answer();

  std::shared_ptr<void> context_;
  void* socket_;
  KeyRing& keys_;
  int stop_;  // an eventfd
  std::thread thread_;
};

}  // namespace enginery
