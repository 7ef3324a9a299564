// What the network says about a connection that does not come about: refused, no answer at all,
// another key than expected, a key that is not let in. libzmq tries again without a word; a person
// wants to know.
//
// Where: inside of a tcp link (zmq_link.cpp). Threads: as the link.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "coordinator/client/identity.h"

namespace enginery {

class ConnectionWatch {
  struct Watching {
    explicit Watching() = default;
  };

 public:
  // Watches the socket from now on; it must live longer. Without an identity the connection is a
  // plain one.
  static Result<std::unique_ptr<ConnectionWatch>> of(std::shared_ptr<void> context, void* socket,
                                                     const std::string& address,
                                                     const std::optional<FarmIdentity>& identity);
  ~ConnectionWatch();
  ConnectionWatch(const ConnectionWatch&) = delete;

  // As Link::trouble.
  std::optional<Error> trouble();
  // Can be polled: trouble() has something new to say.
  void* events() const { return events_; }

  // For of(), which alone can make the key.
  ConnectionWatch(Watching, void* watched, void* events) : watched_(watched), events_(events) {}

 private:
  // How far the newest attempt came.
  enum class State : uint8_t {
    dialling,   // no answer at all
    refused,    // the host says that nobody listens
    met,        // somebody listens
    shut,       // and ended the conversation before we were through
    forbidden,  // and does not let our key in
    open,       // all is well
  };
  void take_events();

  void* watched_;
  void* events_;  // a PAIR socket
  State state_ = State::dialling;
  std::string address_, key_, name_, coordinator_;
};

}  // namespace enginery
