#include "worker/agent/farm_connection.h"

#include <algorithm>
#include <thread>

#include "engine/base/log.h"

namespace enginery {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kFirstPause{200}, kMaxPause{5000}, kSlice{100};

}  // namespace

FarmConnection::FarmConnection(FarmAddress address, std::function<bool()> cancelled)
    : address_(std::move(address)),
      cancelled_(std::move(cancelled)),
      random_(std::random_device{}()) {}

Result<Client*> FarmConnection::connected() {
  ClientOptions options;
  options.address = address_.coordinator;
  options.role = "worker";
  options.name = address_.client_name;
  while (!client_) {
    if (cancelled_())
      return Error{ErrorCode::cancelled, "cancelled before the coordinator answered"};
    auto client = Client::connect(options, address_.dial);
    if (client.ok()) {
      client_ = std::move(*client);
      pause_ = kFirstPause;
    } else if (client.error().code == ErrorCode::unavailable ||
               client.error().code == ErrorCode::not_found) {
      if (said_ != client.error().message) log_warning(client.error().message);
      said_ = client.error().message;
      pause();
    } else {
      return client.error();
    }
  }
  return client_.get();
}

// Many workers that lost the same coordinator must not all come back at once.
void FarmConnection::pause() {
  const double share = std::uniform_real_distribution<double>(0.5, 1.5)(random_);
  auto left = milliseconds(static_cast<int64_t>(static_cast<double>(pause_.count()) * share));
  while (left > milliseconds(0) && !cancelled_()) {
    std::this_thread::sleep_for(std::min(left, kSlice));
    left -= kSlice;
  }
  pause_ = std::min(pause_ * 2, kMaxPause);
}

}  // namespace enginery
