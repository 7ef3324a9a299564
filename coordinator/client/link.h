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

#include "coordinator/client/identity.h"
#include "schemas/messages.h"

namespace enginery {

class Link {
 public:
  virtual ~Link() = default;

  // Hands the message to the network without waiting. invalid_argument: larger than the socket
  // takes (never sent); unavailable: nobody is connected or the queue is full; send again later.
  virtual Status send(const Message& message) = 0;

  // The next message. Nothing after `timeout`, as soon as the file descriptor `wake` (unless -1)
  // can be read, which is how one thread waits for the coordinator and for its runner, as soon as
  // what the last send refused as unavailable can go out, or when the connection is made or ends.
  // Frames that do not decode are dropped with a log line.
  virtual Result<std::optional<Message>> receive(std::chrono::milliseconds timeout, int wake) = 0;

  // Why nothing comes, as far as the network says it, and what to do about it; untrusted: the other
  // end refuses this key, and waiting is no use. Nothing while all is well, or unknown.
  virtual std::optional<Error> trouble() { return std::nullopt; }
};

// Opens a link to an address ("ipc://...", "tcp://127.0.0.1:7000"). `max_bytes` is the socket's
// message limit.
using Dial =
    std::function<Result<std::unique_ptr<Link>>(const std::string& address, size_t max_bytes)>;

// With which key tcp:// addresses are dialled; ipc:// needs none.
struct DialOptions {
  std::optional<FarmIdentity> identity;
  bool insecure = false;  // without one beyond this host as well: anyone may listen and answer
};

// Over ZeroMQ. untrusted: an address beyond this host, and no key; unavailable: an ipc socket that
// does not exist or that nobody listens on (for tcp, trouble() says it).
Dial make_zmq_dial(DialOptions options = {});

// ipc://<runtime folder>/control.sock and bulk.sock. storage: the path is too long for a socket,
// and how to solve that.
Result<std::string> default_control_address();
Result<std::string> default_bulk_address();

// ok for ipc://PATH and tcp://HOST:PORT; usage otherwise.
Status check_address(const std::string& address);

// Whether others than this host's users may reach the address, or answer at it: all tcp:// but
// loopback numbers and localhost.
bool is_beyond_this_host(const std::string& address);
// The address with the port behind its own; "*" stays.
std::string next_port(const std::string& address);
// "tcp://0.0.0.0:7701", "tcp://*:7701": nothing that one could dial.
bool is_every_interface(const std::string& address);
// The address, with the host of `reached` where it names every interface.
std::string with_host_of(const std::string& address, const std::string& reached);

// Whether a process listens on the socket file; otherwise the reason as unavailable.
Status check_listening(const std::string& socket_path);

}  // namespace enginery
