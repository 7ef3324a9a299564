#include "coordinator/server/server_socket.h"

#include <sys/eventfd.h>
#include <unistd.h>
#include <zmq.h>

#include <algorithm>
#include <filesystem>

#include "coordinator/client/link.h"
#include "coordinator/client/zmq_socket.h"
#include "engine/base/file.h"
#include "engine/base/log.h"
#include "schemas/codec.h"

namespace enginery {
namespace {

constexpr std::string_view kIpc = "ipc://";
constexpr char kLocalRoute = 'l', kNetworkRoute = 'n';  // what a route begins with
// What one peer may have waiting in libzmq's queue.
constexpr size_t kMaxWaitingBytes = 32 << 20;
constexpr ZmqOption kOptions[] = {
    {ZMQ_LINGER, 1000}, {ZMQ_ROUTER_MANDATORY, 1}, {ZMQ_BACKLOG, 1024}};

// ZeroMQ takes an ipc socket away from whoever listens on it: look first.
Status prepare_path(const std::string& path) {
  if (check_listening(path).ok())
    return Error{
        ErrorCode::unavailable,
        "socket " + path + " is served by another process; stop it or choose another --listen"};
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (!folder.empty()) CHECK_OK(make_folder(folder, 0700));
  return {};
}

bool send_frame(void* socket, std::string_view bytes, bool more) {
  return zmq_send(socket, bytes.data(), bytes.size(), ZMQ_DONTWAIT | (more ? ZMQ_SNDMORE : 0)) >= 0;
}

}  // namespace

Wake::Wake() : fd_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  ENSURE(fd_ >= 0, "no eventfd");
}
Wake::~Wake() {
  close(fd_);
}
void Wake::ring() {
  const uint64_t one = 1;
  (void)!write(fd_, &one, sizeof one);
}
void Wake::clear() {
  uint64_t count = 0;
  (void)!read(fd_, &count, sizeof count);
}

Result<std::string> ServerSocket::open(void* socket, const std::string& address) const {
  const ZmqOption limit[] = {
      {ZMQ_RCVHWM, static_cast<int>(std::max<size_t>(4, kMaxWaitingBytes / max_bytes_))}};
  CHECK_OK(set_zmq_options(socket, max_bytes_, kOptions));
  CHECK_OK(set_zmq_options(socket, max_bytes_, limit));
  if (address.starts_with(kIpc)) CHECK_OK(set_zmq_options(socket, max_bytes_, {{kLocalRoom}}));
  if (zmq_bind(socket, address.c_str()) != 0) {
    Error error = zmq_error("listen on " + address);
    if (zmq_errno() != EADDRINUSE) return error;
    return Error{ErrorCode::storage,
                 error.message +
                     "; another program has it: name another address with --listen, or "
                     "stop that one (ss -ltnp shows it)"};
  }
  char bound[512];
  size_t size = sizeof bound;
  if (zmq_getsockopt(socket, ZMQ_LAST_ENDPOINT, bound, &size) != 0)
    return zmq_error("listen on " + address);
  return std::string(bound);
}

Result<std::unique_ptr<ServerSocket>> ServerSocket::bind(std::shared_ptr<void> context,
                                                         const std::string& address,
                                                         size_t max_bytes) {
  CHECK_OK(check_address(address));
  if (is_beyond_this_host(address))
    return Error{ErrorCode::usage, "address '" + address +
                                       "' is beyond this host: it is served to keys only, as the "
                                       "address of the network"};
  if (address.starts_with(kIpc)) CHECK_OK(prepare_path(address.substr(kIpc.size())));
  void* socket = zmq_socket(context.get(), ZMQ_ROUTER);
  if (socket == nullptr) return zmq_error("socket");
  auto server = std::make_unique<ServerSocket>(Bound(), std::move(context), socket, max_bytes);
  TRY(server->address_, server->open(socket, address));
  return server;
}

Status ServerSocket::bind_network(const std::string& address, const CurveKey* key) {
  CHECK_OK(check_address(address));
  network_ = zmq_socket(context_.get(), ZMQ_ROUTER);
  if (network_ == nullptr) return zmq_error("socket");
  if (key != nullptr) CHECK_OK(set_curve_server(network_, *key));
  TRY(network_address_, open(network_, address));
  return {};
}

ServerSocket::~ServerSocket() {
  zmq_close(socket_);
  if (network_ != nullptr) zmq_close(network_);
}

void ServerSocket::wait(std::chrono::milliseconds timeout, const Wake& wake) {
  zmq_pollitem_t items[] = {{nullptr, wake.fd(), ZMQ_POLLIN, 0},
                            {socket_, 0, ZMQ_POLLIN, 0},
                            {network_, 0, ZMQ_POLLIN, 0}};
  (void)zmq_poll(items, network_ == nullptr ? 2 : 3, std::max<long>(0, timeout.count()));
}

std::optional<Incoming> ServerSocket::receive() {
  // Neither may starve the other.
  network_first_ = network_ != nullptr && !network_first_;
  for (const bool network : {network_first_, !network_first_}) {
    if (network && network_ == nullptr) continue;
    std::optional<Incoming> in = receive_from(network ? network_ : socket_);
    if (!in) continue;
    in->route.insert(in->route.begin(), network ? kNetworkRoute : kLocalRoute);
    in->from.network = network;
    return in;
  }
  return std::nullopt;
}

std::optional<Incoming> ServerSocket::receive_from(void* socket) {
  while (true) {
    Incoming in;
    bool more = false;
    if (!take_zmq_frame(socket, in.route, more)) return std::nullopt;
    Bytes frames[2], rest;
    ZmqSender sender;
    int count = 0;
    while (more) {
      if (!take_zmq_frame(socket, count < 2 ? frames[count] : rest, more, sender)) break;
      ++count;
    }
    if (!sender.user.empty()) {
      const Result<PublicKey> key = parse_key(sender.user);
      if (!key.ok()) continue;  // libzmq hands on what the ZAP handler said
      in.from.key = *key;
    }
    in.from.address = sender.address;
    Result<Envelope> envelope = decode(as_bytes(frames[0]), max_bytes_);
    if (envelope.ok() && count <= 2) {
      in.message = {std::move(*envelope), std::move(frames[1])};
      return in;
    }
    log_warning("request dropped: " +
                (envelope.ok() ? "too many frames" : envelope.error().message));
  }
}

void ServerSocket::send(const Bytes& route, Message message) {
  Result<Bytes> frame = encode(message.envelope, max_bytes_);
  if (!frame.ok()) {
    Envelope refusal;
    refusal.request = message.envelope.request;
    refusal.body = ErrorReply{
        {ErrorCode::internal, "the answer is too large for one message: " + frame.error().message}};
    frame = encode(refusal, max_bytes_);
    ENSURE(frame.ok(), "a refusal fits a message");
  }
  if (route.empty()) return;
  void* socket = route[0] == kNetworkRoute ? network_ : socket_;
  const bool two = !message.chunk.empty();
  const bool sent = send_frame(socket, std::string_view(route).substr(1), true) &&
                    send_frame(socket, *frame, two) &&
                    (!two || give_zmq_frame(socket, std::move(message.chunk), false));
  if (!sent) log_debug(std::string("answer dropped: ") + zmq_strerror(zmq_errno()));
}

}  // namespace enginery
