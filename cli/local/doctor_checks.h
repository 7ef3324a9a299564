// What `doctor` looks at: one function for each thing, listed in order by all_checks.
#pragma once

#include <string>
#include <vector>

namespace enginery {

enum class Health { ok, warn };

struct Finding {
  std::string subject;
  Health health = Health::ok;
  std::string detail;
  std::string mend;  // the command that mends it; "" when nothing has to be
};

std::vector<Finding> all_findings();

}  // namespace enginery
