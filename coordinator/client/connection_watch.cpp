#include "coordinator/client/connection_watch.h"

#include <zmq.h>

#include <atomic>
#include <cstring>

#include "coordinator/client/zmq_socket.h"

namespace enginery {

Result<std::unique_ptr<ConnectionWatch>> ConnectionWatch::of(
    std::shared_ptr<void> context, void* socket, const std::string& address,
    const std::optional<FarmIdentity>& identity) {
  static std::atomic<uint64_t> number = 0;
  const std::string name = "inproc://watch-" + std::to_string(++number);
  if (zmq_socket_monitor(socket, name.c_str(), ZMQ_EVENT_ALL) != 0)
    return zmq_error("watch " + address);
  void* events = zmq_socket(context.get(), ZMQ_PAIR);
  if (events == nullptr) return zmq_error("socket");
  auto watch = std::make_unique<ConnectionWatch>(Watching(), socket, events);
  if (zmq_connect(events, name.c_str()) != 0) return zmq_error("watch " + address);
  watch->address_ = address;
  if (identity) {
    watch->key_ = key_text(identity->own.public_key);
    watch->name_ = identity->name.empty() ? "NAME" : identity->name;
    watch->coordinator_ = key_id(identity->coordinator);
  }
  return watch;
}

ConnectionWatch::~ConnectionWatch() {
  zmq_socket_monitor(watched_, nullptr, 0);
  zmq_close(events_);
}

void ConnectionWatch::take_events() {
  bool more = true;
  for (Bytes event, address; take_zmq_frame(events_, event, more);) {
    if (more) (void)take_zmq_frame(events_, address, more);
    uint16_t kind = 0;
    if (event.size() < sizeof kind) continue;
    std::memcpy(&kind, event.data(), sizeof kind);
    // What the last attempt ended with stays until another one ends.
    const bool fresh = state_ == State::dialling || state_ == State::refused;
    if (kind == ZMQ_EVENT_CONNECTED && fresh) state_ = State::met;
    if (kind == ZMQ_EVENT_HANDSHAKE_SUCCEEDED) state_ = State::open;
    if (kind == ZMQ_EVENT_HANDSHAKE_FAILED_AUTH) state_ = State::forbidden;
    const bool cut = kind == ZMQ_EVENT_DISCONNECTED ||
                     kind == ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL ||
                     kind == ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL;
    if (cut && state_ == State::met) state_ = State::shut;
    if (cut && state_ == State::open) state_ = State::dialling;
    if (kind == ZMQ_EVENT_CLOSED && state_ == State::dialling) state_ = State::refused;
  }
}

std::optional<Error> ConnectionWatch::trouble() {
  take_events();
  const std::string there = "coordinator at " + address_;
  switch (state_) {
    case State::open:
      return std::nullopt;
    case State::dialling:
      return Error{ErrorCode::unavailable,
                   there +
                       " does not answer: no connection came about. The host is down, or a "
                       "firewall drops the packets; on that host open the port and the one "
                       "behind it, and look with: enginery workers"};
    case State::refused:
      return Error{ErrorCode::unavailable, there +
                                               " does not answer: nobody listens there; start "
                                               "one on that host with: enginery up --listen " +
                                               address_};
    case State::met:
    case State::shut:
      if (key_.empty())
        return Error{ErrorCode::unavailable,
                     there +
                         " ends the conversation: it asks for a key (--key FILE), or is no "
                         "coordinator"};
      return Error{ErrorCode::unavailable,
                   there + " ends the conversation: it does not hold the key " + coordinator_ +
                       " that this key file names, or speaks without keys. Ask its owner for a new "
                       "file (enginery keys client new NAME) or token (enginery keys token)"};
    case State::forbidden:
      return Error{ErrorCode::untrusted,
                   there + " refuses key " + key_id(*parse_key(key_)) +
                       ": it is not known there, revoked or expired (its log says which). On its "
                       "host, this allows it: enginery keys allow " +
                       key_ + " --name " + name_ + " --role ROLE"};
  }
  return std::nullopt;
}

}  // namespace enginery
