#include "engine/ops/element_order.h"

namespace enginery {

bool keeps_element_order(const Op& op) {
  return std::holds_alternative<Reshape>(op) || std::holds_alternative<Flatten>(op) ||
         std::holds_alternative<Squeeze>(op) || std::holds_alternative<Unsqueeze>(op) ||
         std::holds_alternative<Identity>(op);
}

bool moves_elements(const Op& op) {
  return std::visit([](const auto& o) { return std::decay_t<decltype(o)>::kMovesElements; }, op);
}

}  // namespace enginery
