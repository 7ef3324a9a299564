#include "coordinator/access/zap.h"

#include <sys/eventfd.h>
#include <unistd.h>
#include <zmq.h>

#include <cstring>
#include <vector>

#include "coordinator/client/identity.h"
#include "coordinator/client/zmq_socket.h"
#include "engine/base/log.h"

namespace enginery {
namespace {

// version, request id, domain, address, identity, mechanism, then the key
enum Frame : size_t { kVersion, kRequestId, kDomain, kAddress, kRoute, kMechanism, kKey };

// The key of a well-formed question.
std::optional<PublicKey> key_of(const std::vector<Bytes>& frames) {
  PublicKey key{};
  if (frames.size() != kKey + 1 || frames[kVersion] != "1.0" || frames[kMechanism] != "CURVE" ||
      frames[kKey].size() != key.size())
    return std::nullopt;
  std::memcpy(key.data(), frames[kKey].data(), key.size());
  return key;
}

}  // namespace

Result<std::unique_ptr<ZapHandler>> ZapHandler::start(std::shared_ptr<void> context,
                                                      KeyRing& keys) {
  void* socket = zmq_socket(context.get(), ZMQ_REP);
  if (socket == nullptr) return zmq_error("socket");
  if (zmq_bind(socket, "inproc://zeromq.zap.01") != 0) {
    const Error error = zmq_error("ZAP handler");
    zmq_close(socket);
    return error;
  }
  return std::make_unique<ZapHandler>(Bound(), std::move(context), socket, keys);
}

ZapHandler::ZapHandler(Bound, std::shared_ptr<void> context, void* socket, KeyRing& keys)
    : context_(std::move(context)),
      socket_(socket),
      keys_(keys),
      stop_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)),
      thread_([this] { run(); }) {}

ZapHandler::~ZapHandler() {
  const uint64_t one = 1;
  (void)!write(stop_, &one, sizeof one);
  thread_.join();
  zmq_close(socket_);
  close(stop_);
}

void ZapHandler::run() {
  while (true) {
    zmq_pollitem_t items[] = {{socket_, 0, ZMQ_POLLIN, 0}, {nullptr, stop_, ZMQ_POLLIN, 0}};
    if (zmq_poll(items, 2, -1) < 0 && zmq_errno() != EINTR) return;
    if ((items[1].revents & ZMQ_POLLIN) != 0) return;
    if ((items[0].revents & ZMQ_POLLIN) != 0) answer();
  }
}

void ZapHandler::answer() {
  std::vector<Bytes> frames;
  bool more = true;
  while (more) {
    Bytes frame;
    if (!take_zmq_frame(socket_, frame, more)) return;
    frames.push_back(std::move(frame));
  }
  const std::optional<PublicKey> key = key_of(frames);
  Status allowed = Error{ErrorCode::untrusted, "not a question of CURVE"};
  if (key) {
    const Result<Principal> principal = keys_.find(*key);
    allowed = principal.ok() ? Status() : Status(principal.error());
  }
  if (!allowed.ok())
    log_warning("refused a connection from " +
                (frames.size() > kAddress ? frames[kAddress] : "somewhere") + ": " +
                allowed.error().message);
  const std::string id = frames.size() > kRequestId ? frames[kRequestId] : "";
  const std::string user = allowed.ok() ? key_text(*key) : "";
  const std::string_view reply[] = {
      "1.0", id, allowed.ok() ? "200" : "400", allowed.ok() ? "OK" : "refused", user, ""};
  for (size_t i = 0; i < std::size(reply); ++i)
    zmq_send(socket_, reply[i].data(), reply[i].size(), i + 1 < std::size(reply) ? ZMQ_SNDMORE : 0);
}

}  // namespace enginery
