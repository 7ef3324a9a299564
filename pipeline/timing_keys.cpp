#include "pipeline/timing_keys.h"

#include <algorithm>
#include <set>

#include "pipeline/action_keys.h"

namespace enginery {
namespace {

std::string field_name(std::string_view text, std::set<std::string>& taken) {
  std::string name;
  for (char c : text.substr(0, 200)) {
    const char low = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    name += std::isalnum(static_cast<unsigned char>(low)) || low == '_' || low == '.' || low == '-'
                ? low
                : '_';
  }
  if (name.empty()) name = "_";
  std::string unique = name;
  for (int i = 2; !taken.insert(unique).second; ++i) unique = name + "." + std::to_string(i);
  return unique;
}

}  // namespace

ActionKey timing_device_key(const std::string& device) {
  ActionKey key("timing-device", kTrustDomain);
  std::set<std::string> taken = {"kind", "trust_domain"};
  std::string_view rest = device;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    const size_t equals = std::min(line.find('='), line.size());
    key.add(field_name(line.substr(0, equals), taken),
            line.substr(std::min(equals + 1, line.size())));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return key;
}

ActionKey timing_problem_key(const std::string& problem) {
  ActionKey key("timing-problem", kTrustDomain);
  key.add("problem", problem);
  return key;
}

}  // namespace enginery
