#include "cli/output/tuning_summary.h"

#include <fmt/format.h>

#include "cli/output/table.h"

namespace enginery {

std::string tuning_summary(const std::vector<std::pair<std::string, double>>& phases) {
  constexpr std::string_view kPart = "tune_";
  double whole = -1;
  std::string parts;
  for (const auto& [phase, taken_s] : phases) {
    if (phase == "tune") whole = taken_s;
    if (!phase.starts_with(kPart)) continue;
    const std::string name = phase.substr(kPart.size());
    parts += (parts.empty() ? ": " : ", ") + human_seconds(taken_s) + " " + name;
    if (name == "checking" && whole > 0) parts += fmt::format(" ({:.0f} %)", 100 * taken_s / whole);
  }
  return whole < 0 ? "" : "tuned in " + human_seconds(whole) + parts;
}

}  // namespace enginery
