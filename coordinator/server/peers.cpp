#include "coordinator/server/peers.h"

namespace enginery {
namespace {

constexpr size_t kMaxPeers = 20000;
constexpr size_t kMaxPeerNameBytes = 200;

void remember(std::unordered_map<std::string, std::string>& map, const std::string& key,
              std::string value) {
  if (map.size() >= kMaxPeers && !map.count(key)) map.clear();
  map[key] = std::move(value);
}

}  // namespace

void Peers::said_hello(const std::string& session, const std::string& name) {
  const std::lock_guard lock(mutex_);
  remember(names_, session, name.substr(0, kMaxPeerNameBytes));
}

void Peers::synced(const std::string& worker, const std::string& sku) {
  const std::lock_guard lock(mutex_);
  remember(skus_, worker, sku);
}

std::string Peers::name_of(const std::string& session) const {
  const std::lock_guard lock(mutex_);
  const auto found = names_.find(session);
  return found == names_.end() ? "unknown" : found->second;
}

Result<std::string> Peers::sku_of(const std::string& session) const {
  const std::string name = name_of(session);
  const std::lock_guard lock(mutex_);
  const auto found = skus_.find(name);
  if (found != skus_.end()) return found->second;
  return Error{ErrorCode::unavailable,
               "no worker '" + name + "' has synced with this coordinator yet; try again"};
}

}  // namespace enginery
