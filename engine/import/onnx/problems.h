// Every node that cannot be imported, collected, so that the user sees all of them at once. Filled
// by GraphReader; not thread-safe.
#pragma once

#include <string>
#include <vector>

#include "engine/base/result.h"

namespace enginery {

class Problems {
 public:
  void add(Error problem);
  bool empty() const { return count_ == 0; }
  const std::vector<std::string>& lines() const { return lines_; }  // the first ones
  // One error for all: unsupported when every problem is, invalid_argument otherwise; one line for
  // each problem. Requires !empty().
  Error error() const;

 private:
  std::vector<std::string> lines_;  // the first ones; a hostile model can have 10^5
  size_t count_ = 0;
  bool all_unsupported_ = true;
};

}  // namespace enginery
