#include "coordinator/core/key_troubles.h"

namespace enginery {
namespace {

constexpr size_t kMaxEvidenceBytes = 1000;  // it goes into every view of a job

std::string hours_and_minutes(int64_t ns) {
  const int64_t minutes = ns / 60'000'000'000;
  return std::to_string(minutes / 60) + " h " + std::to_string(minutes % 60) + " min";
}

}  // namespace

void KeyTroubles::add_kill(const Digest& key, const std::string& evidence, Turn& turn) {
  KeyTrouble& trouble = troubles_[key];
  trouble.key = key;
  const int64_t now = turn.now.wall.count();
  // After a quarantine that is over the key begins anew.
  if (now - trouble.latest_ns > keep_.count()) trouble = {key, 0, 0, ""};
  ++trouble.kills;
  trouble.latest_ns = now;
  trouble.evidence += (trouble.evidence.empty() ? "" : "; ") + evidence;
  if (trouble.evidence.size() > kMaxEvidenceBytes) trouble.evidence.resize(kMaxEvidenceBytes);
  turn.save(SaveKeyTrouble{trouble});
}

void KeyTroubles::take_back(const Digest& key, Turn& turn) {
  const auto found = troubles_.find(key);
  if (found == troubles_.end()) return;
  if (found->second.kills <= 1) return clear(key, turn);
  --found->second.kills;
  turn.save(SaveKeyTrouble{found->second});
}

void KeyTroubles::clear(const Digest& key, Turn& turn) {
  if (troubles_.erase(key) > 0) turn.save(SaveKeyTrouble{{key, 0, 0, ""}});
}

bool KeyTroubles::runs_alone(const Digest& key) const {
  const auto found = troubles_.find(key);
  return found != troubles_.end() && found->second.kills >= kAloneAfterKills;
}

std::optional<Fault> KeyTroubles::quarantine_of(const Digest& key, const std::string& step_name,
                                                Now now) const {
  const auto found = troubles_.find(key);
  if (found == troubles_.end() || found->second.kills < kQuarantineAfterKills) return std::nullopt;
  const int64_t left = keep_.count() - (now.wall.count() - found->second.latest_ns);
  if (left < 0) return std::nullopt;
  return Fault{ErrorCode::internal,
               "step " + step_name + " is quarantined: " + std::to_string(found->second.kills) +
                   " processes died while they ran it (" + found->second.evidence +
                   "); it is not tried again for " + hours_and_minutes(left) +
                   ", unless `enginery retry JOB` asks for it"};
}

}  // namespace enginery
