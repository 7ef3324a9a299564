#include "engine/ops/element_order.h"

namespace enginery {

bool keeps_element_order(const Op& op) {
  return std::holds_alternative<Reshape>(op) || std::holds_alternative<Flatten>(op) ||
         std::holds_alternative<Squeeze>(op) || std::holds_alternative<Unsqueeze>(op) ||
         std::holds_alternative<Identity>(op);
}

}  // namespace enginery
