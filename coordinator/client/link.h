// One connection to one socket of the coordinator: the seam between everybody who calls it and the
// network.
//
// Where: Client (client.h) and the worker's agent speak through it. Implementations: ZmqLink (a
// ZeroMQ DEALER), and what tests put in its place. A link may lose, repeat or
// reorder; every request may be sent again. Threads: one thread at a time.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>

#include "schemas/messages.h"

namespace enginery {

class Link {
 public:
  virtual ~Link() = default;

  // Hands the message to the network without waiting. invalid_argument: larger than the socket
  // takes (never sent); unavailable: nobody is connected or the queue is full; send again later.
  virtual Status send(const Message& message) = 0;

  // The next message. Nothing after `timeout`, as soon as the file descriptor `wake` (unless -1)
  // can be read, which is how one thread waits for the coordinator and for its runner, or as soon
  // as what the last send refused as unavailable can go out. Frames that do not decode are dropped
  // with a log line.
  virtual Result<std::optional<Message>> receive(std::chrono::milliseconds timeout, int wake) = 0;
};

// Opens a link to an address ("ipc://...", "tcp://127.0.0.1:7000"). `max_bytes` is the socket's
// message limit.
using Dial =
    std::function<Result<std::unique_ptr<Link>>(const std::string& address, size_t max_bytes)>;

// Over ZeroMQ. usage: an address beyond loopback and ipc; unavailable: an ipc socket that does not
// exist or that nobody listens on (for tcp this shows at the first receive).
Dial make_zmq_dial();

// ipc://<runtime folder>/control.sock and bulk.sock. storage: the path is too long for a socket,
// and how to solve that.
Result<std::string> default_control_address();
Result<std::string> default_bulk_address();

// ok for ipc:// and loopback tcp://; usage otherwise, with the sentence that keys come later.
Status check_address(const std::string& address);

// Whether a process listens on the socket file; otherwise the reason as unavailable.
Status check_listening(const std::string& socket_path);

}  // namespace enginery
