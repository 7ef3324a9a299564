// What both ends of a connection do with libzmq.
#pragma once

#include <zmq.h>

#include <memory>
#include <span>
#include <string>

#include "coordinator/client/identity.h"
#include "engine/base/digest.h"
#include "engine/base/result.h"

namespace enginery {

// Sockets of one process share a context.
std::shared_ptr<void> make_zmq_context();

// libzmq's last error of this thread: unavailable.
Error zmq_error(const std::string& what);

struct ZmqOption {
  int option;  // ZMQ_LINGER, ...
  int value;
};
// What both ends share (largest frame in bytes, times of handshake and heartbeat), then the end's
// own.
Status set_zmq_options(void* socket, size_t max_bytes, std::span<const ZmqOption> own);

// Hands the bytes to the socket as its next frame, without waiting and without a copy of them.
// False: zmq_errno(), and the bytes are gone.
bool give_zmq_frame(void* socket, Bytes bytes, bool more);

// Room in the kernel for whole chunks: of a socket of this host, whose default room makes each
// chunk five writes. (TCP finds its own.)
inline constexpr ZmqOption kLocalRoom{ZMQ_SNDBUF, 2 << 20};

// The next frame of the socket, without waiting; `more` says whether its message goes on. False:
// none waits, or zmq_errno().
bool take_zmq_frame(void* socket, Bytes& out, bool& more);
// The same with who sent it, as ZAP said: the User-Id and the Peer-Address, "" where there is none.
struct ZmqSender {
  std::string user, address;
};
bool take_zmq_frame(void* socket, Bytes& out, bool& more, ZmqSender& sender);

// Makes the socket speak CURVE from its next bind on: it lets in whom the context's ZAP handler
// lets in, so there must be one.
Status set_curve_server(void* socket, const CurveKey& own);
// Makes the socket speak CURVE from its next connect on.
Status set_curve_client(void* socket, const FarmIdentity& identity);

}  // namespace enginery
