// FarmConnection: a client of the coordinator that outlives it: connects again with growing pauses
// until told to stop. Belongs to one thread.
#pragma once

#include <memory>
#include <random>
#include <string>

#include "coordinator/client/client.h"

namespace enginery {

struct FarmAddress {
  std::string coordinator;  // "" means default_control_address()
  std::string client_name;  // as Hello says it
  Dial dial;
};

class FarmConnection {
 public:
  // `cancelled` ends every waiting; `address` and `cancelled` are kept.
  FarmConnection(FarmAddress address, std::function<bool()> cancelled);

  // Calls `request(Client&)` until it returns something else than unavailable or timed_out.
  // cancelled.
  template <typename F>
  auto call(F&& request) -> decltype(request(std::declval<Client&>())) {
    while (true) {
      TRY(Client * client, connected());
      auto result = request(*client);
      if (result.ok()) return result;
      const ErrorCode code = result.error().code;
      if (code != ErrorCode::unavailable && code != ErrorCode::timed_out) return result;
      client_.reset();
      if (cancelled_())
        return Error{ErrorCode::cancelled, "cancelled while the coordinator did not answer"};
      pause();
    }
  }

 private:
  Result<Client*> connected();
  void pause();

  const FarmAddress address_;
  const std::function<bool()> cancelled_;
  std::unique_ptr<Client> client_;
  std::minstd_rand random_;
  std::chrono::milliseconds pause_{200};
  std::string said_;  // the last warning: it is not repeated
};

}  // namespace enginery
