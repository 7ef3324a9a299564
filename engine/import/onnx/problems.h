// Every node that cannot be imported, collected, so that the user sees all of them at once.
#pragma once

#include <string>
#include <vector>

#include "engine/base/result.h"

namespace enginery::onnx_import {

class Problems {
 public:
  void add(Error problem);
  bool empty() const { return count_ == 0; }
  // One error for all: unsupported when every problem is, invalid_argument otherwise; a line a
  // problem.
  Error error() const;

 private:
  std::vector<std::string> lines_;  // the first ones; a hostile model can have 10^5
  size_t count_ = 0;
  bool all_unsupported_ = true;
};

}  // namespace enginery::onnx_import
