// Somebody who drains workers and takes it back, and does not rest before it is done.
#pragma once

#include "tests/sim/world.h"

namespace enginery {

class SimOperator {
 public:
  explicit SimOperator(World& world) : world_(world) {}
  void drain(const std::string& worker);
  void hear(RequestId request, const Body& body);
  // What was drained is taken back.
  bool quiet() const { return drained_.empty(); }

 private:
  void undrain(const std::string& worker);

  World& world_;
  std::map<std::string, RequestId> drained_;  // with the latest request to take it back
};

}  // namespace enginery
