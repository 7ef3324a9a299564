// Links over ZeroMQ DEALER sockets.
#include <zmq.h>

#include <algorithm>
#include <cerrno>

#include "coordinator/client/connection_watch.h"
#include "coordinator/client/link.h"
#include "coordinator/client/zmq_socket.h"
#include "engine/base/log.h"
#include "schemas/codec.h"

namespace enginery {
namespace {

using std::chrono::milliseconds;

constexpr ZmqOption kOptions[] = {
    {ZMQ_LINGER, 500}, {ZMQ_RECONNECT_IVL, 200}, {ZMQ_RECONNECT_IVL_MAX, 5000}, {ZMQ_IMMEDIATE, 1}};

class ZmqLink final : public Link {
 public:
  ZmqLink(std::shared_ptr<void> context, void* socket, size_t max_bytes)
      : context_(std::move(context)), socket_(socket), max_bytes_(max_bytes) {}
  ~ZmqLink() override {
    watch_.reset();
    zmq_close(socket_);
  }

  // Before it connects.
  Status watch(const std::string& address, const std::optional<FarmIdentity>& identity) {
    TRY(watch_, ConnectionWatch::of(context_, socket_, address, identity));
    return {};
  }

  std::optional<Error> trouble() override { return watch_ ? watch_->trouble() : std::nullopt; }

  Status send(const Message& message) override {
    TRY(const Bytes frame, encode(message.envelope, max_bytes_));
    if (message.chunk.size() > max_bytes_)
      return Error{ErrorCode::invalid_argument,
                   "message: a chunk of " + std::to_string(message.chunk.size()) + " bytes"};
    const bool two = !message.chunk.empty();
    refused_ =
        zmq_send(socket_, frame.data(), frame.size(), ZMQ_DONTWAIT | (two ? ZMQ_SNDMORE : 0)) < 0;
    if (refused_) return zmq_error("send");
    if (two && zmq_send(socket_, message.chunk.data(), message.chunk.size(), ZMQ_DONTWAIT) < 0)
      return zmq_error("send");
    return {};
  }

  Result<std::optional<Message>> receive(milliseconds timeout, int wake) override {
    const short events = static_cast<short>(ZMQ_POLLIN | (refused_ ? ZMQ_POLLOUT : 0));
    zmq_pollitem_t items[3] = {{socket_, 0, events, 0}};
    int count = 1;
    if (wake >= 0) items[count++] = {nullptr, wake, ZMQ_POLLIN, 0};
    if (watch_) items[count++] = {watch_->events(), 0, ZMQ_POLLIN, 0};
    const int ready = zmq_poll(items, count, std::max<long>(0, timeout.count()));
    if (watch_) (void)watch_->trouble();  // takes what has happened
    if (ready < 0 && zmq_errno() != EINTR) return zmq_error("receive");
    if ((items[0].revents & ZMQ_POLLOUT) != 0) refused_ = false;
    if (ready <= 0 || (items[0].revents & ZMQ_POLLIN) == 0) return std::optional<Message>();
    return take();
  }

 private:
  Result<std::optional<Message>> take() {
    Bytes frames[2], rest;
    int count = 0;
    for (bool more = true; more; ++count) {
      if (take_zmq_frame(socket_, count < 2 ? frames[count] : rest, more)) continue;
      if (zmq_errno() == EAGAIN || zmq_errno() == EINTR) return std::optional<Message>();
      return zmq_error("receive");
    }
    Result<Envelope> envelope = decode(as_bytes(frames[0]), max_bytes_);
    if (!envelope.ok() || count > 2) {
      log_warning("coordinator's message dropped: " +
                  (envelope.ok() ? "too many frames" : envelope.error().message));
      return std::optional<Message>();
    }
    return std::optional<Message>(Message{std::move(*envelope), std::move(frames[1])});
  }

  std::shared_ptr<void> context_;
  void* socket_;
  size_t max_bytes_;
  std::unique_ptr<ConnectionWatch> watch_;  // of tcp
  bool refused_ = false;  // by the last send: nobody is connected yet, or the queue is full
};

Status check_key(const std::string& address, const DialOptions& options) {
  if (options.identity || options.insecure || !is_beyond_this_host(address)) return {};
  return Error{ErrorCode::untrusted,
               "coordinator at " + address +
                   " is on the network and asks for a key; on its host run: enginery keys client "
                   "new NAME -o NAME.key, bring the file here, and give it with --key FILE or "
                   "ENGINERY_KEY"};
}

Result<std::unique_ptr<Link>> dial(const std::shared_ptr<void>& context, const DialOptions& options,
                                   const std::string& address, size_t max_bytes) {
  CHECK_OK(check_address(address));
  CHECK_OK(check_key(address, options));
  // ZeroMQ would wait for ever for a socket without a listener.
  if (address.starts_with("ipc://")) CHECK_OK(check_listening(address.substr(6)));
  void* socket = zmq_socket(context.get(), ZMQ_DEALER);
  if (socket == nullptr) return zmq_error("socket");
  auto link = std::make_unique<ZmqLink>(context, socket, max_bytes);
  CHECK_OK(set_zmq_options(socket, max_bytes, kOptions));
  if (address.starts_with("ipc://")) CHECK_OK(set_zmq_options(socket, max_bytes, {{kLocalRoom}}));
  if (address.starts_with("tcp://")) {
    if (options.identity) CHECK_OK(set_curve_client(socket, *options.identity));
    CHECK_OK(link->watch(address, options.identity));
  }
  if (zmq_connect(socket, address.c_str()) != 0) return zmq_error("connect to " + address);
  return std::unique_ptr<Link>(std::move(link));
}

}  // namespace

Dial make_zmq_dial(DialOptions options) {
  return [context = make_zmq_context(), options = std::move(options)](const std::string& address,
                                                                      size_t max_bytes) {
    return dial(context, options, address, max_bytes);
  };
}

}  // namespace enginery
