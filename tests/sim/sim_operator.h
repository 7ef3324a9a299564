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
  struct Order {
    RequestId take_back;  // the latest request to take it back
    std::optional<Nanoseconds> answered;
  };

  void undrain(const std::string& worker);
  // Whether nothing drains it any more: a coordinator that ends between its answer and its word to
  // the worker forgets that word.
  bool is_back(const std::string& worker) const;

  World& world_;
  std::map<std::string, Order> drained_;  // by worker
};

}  // namespace enginery
