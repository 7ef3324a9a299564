#include "coordinator/client/zmq_socket.h"

#include <zmq.h>

#include <atomic>
#include <cerrno>

namespace enginery {

std::shared_ptr<void> make_zmq_context() {
  return {zmq_ctx_new(), [](void* context) { zmq_ctx_term(context); }};
}

Error zmq_error(const std::string& what) {
  return {ErrorCode::unavailable, what + ": " + zmq_strerror(zmq_errno())};
}

Status set_zmq_options(void* socket, size_t max_bytes, std::span<const ZmqOption> own) {
  constexpr ZmqOption kShared[] = {
      {ZMQ_HANDSHAKE_IVL, 5000}, {ZMQ_HEARTBEAT_IVL, 5000}, {ZMQ_HEARTBEAT_TIMEOUT, 15000}};
  const int64_t limit = static_cast<int64_t>(max_bytes);
  if (zmq_setsockopt(socket, ZMQ_MAXMSGSIZE, &limit, sizeof limit) != 0)
    return zmq_error("socket options");
  for (std::span<const ZmqOption> list : {std::span<const ZmqOption>(kShared), own}) {
    for (const ZmqOption& o : list) {
      if (zmq_setsockopt(socket, o.option, &o.value, sizeof o.value) != 0)
        return zmq_error("socket options");
    }
  }
  return {};
}

Status set_curve_server(void* socket, const CurveKey& own) {
  const int server = 1;
  const bool ok =
      zmq_setsockopt(socket, ZMQ_CURVE_SERVER, &server, sizeof server) == 0 &&
      zmq_setsockopt(socket, ZMQ_CURVE_SECRETKEY, own.secret.data(), own.secret.size()) == 0 &&
      zmq_setsockopt(socket, ZMQ_ZAP_DOMAIN, "enginery", 8) == 0;
  return ok ? Status() : Status(zmq_error("CURVE"));
}

Status set_curve_client(void* socket, const FarmIdentity& identity) {
  const bool ok = zmq_setsockopt(socket, ZMQ_CURVE_SERVERKEY, identity.coordinator.data(),
                                 identity.coordinator.size()) == 0 &&
                  zmq_setsockopt(socket, ZMQ_CURVE_PUBLICKEY, identity.own.public_key.data(),
                                 identity.own.public_key.size()) == 0 &&
                  zmq_setsockopt(socket, ZMQ_CURVE_SECRETKEY, identity.own.secret.data(),
                                 identity.own.secret.size()) == 0;
  return ok ? Status() : Status(zmq_error("CURVE"));
}

bool give_zmq_frame(void* socket, Bytes bytes, bool more) {
  // libzmq's threads free it. They wait for each other in code that is not instrumented; `given`
  // says the same to the thread sanitizer.
  struct Frame {
    Bytes bytes;
    std::atomic<bool> given = false;
  };
  auto frame = std::make_unique<Frame>();
  frame->bytes = std::move(bytes);
  const auto drop = [](void*, void* hint) {
    const std::unique_ptr<Frame> sent(static_cast<Frame*>(hint));
    (void)sent->given.load(std::memory_order_acquire);
  };
  zmq_msg_t part;
  Bytes& data = frame->bytes;
  if (zmq_msg_init_data(&part, data.data(), data.size(), drop, frame.get()) != 0) return false;
  frame.release()->given.store(true, std::memory_order_release);  // the message's from here on
  const bool sent = zmq_msg_send(&part, socket, ZMQ_DONTWAIT | (more ? ZMQ_SNDMORE : 0)) >= 0;
  const int error = zmq_errno();
  if (!sent) zmq_msg_close(&part);
  errno = error;
  return sent;
}

bool take_zmq_frame(void* socket, Bytes& out, bool& more) {
  ZmqSender sender;
  return take_zmq_frame(socket, out, more, sender);
}

bool take_zmq_frame(void* socket, Bytes& out, bool& more, ZmqSender& sender) {
  zmq_msg_t part;
  zmq_msg_init(&part);
  const bool ok = zmq_msg_recv(&part, socket, ZMQ_DONTWAIT) >= 0;
  if (ok) {
    out.assign(static_cast<const char*>(zmq_msg_data(&part)), zmq_msg_size(&part));
    more = zmq_msg_more(&part);
    const char* user = zmq_msg_gets(&part, "User-Id");
    const char* address = zmq_msg_gets(&part, "Peer-Address");
    sender = {user == nullptr ? "" : user, address == nullptr ? "" : address};
  }
  zmq_msg_close(&part);
  return ok;
}

}  // namespace enginery
