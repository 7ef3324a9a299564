#include "coordinator/core/client_clocks.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace enginery {
namespace {

constexpr double kMaxHalfLives = 64;  // since the base; far from a double's range
constexpr double kForgotten = 1e-6;   // units: what is left of an hour after 32 half-lives

}  // namespace

ClientClocks::Claim ClientClocks::claim_of(const std::string& client) const {
  const auto found = clients_.find(client);
  return found == clients_.end() ? Claim{} : Claim{found->second.used, found->second.served};
}

void ClientClocks::step_ready(const std::string& name) {
  Client& client = clients_[name];
  if (client.ready++ > 0 || client.running > 0) return;
  std::optional<double> least;
  for (const auto& [other, served] : clients_)
    if (served.running > 0) least = std::min(least.value_or(served.used), served.used);
  if (least) client.used = std::max(client.used, *least);
}

void ClientClocks::step_left(const std::string& client) {
  --clients_[client].ready;
}

void ClientClocks::step_begins(const std::string& name) {
  Client& client = clients_[name];
  ++client.running;
  client.served = ++steps_begun_;
}

void ClientClocks::step_ends(const std::string& client) {
  --clients_[client].running;
}

void ClientClocks::charge(const std::string& name, double device_seconds, Nanoseconds now) {
  const double units = device_seconds * unit(now);
  Client& client = clients_[name];
  client.used = std::max(0.0, client.used + units);
}

double ClientClocks::unit(Nanoseconds now) {
  const double half_lives = to_seconds(now - base_) / to_seconds(kHalfLife);
  if (half_lives < kMaxHalfLives) return std::exp2(half_lives);
  for (auto& [name, client] : clients_) client.used *= std::exp2(-half_lives);
  std::erase_if(clients_, [](const auto& client) {
    return client.second.ready == 0 && client.second.running == 0 &&
           client.second.used < kForgotten;
  });
  base_ = now;
  return 1;
}

}  // namespace enginery
