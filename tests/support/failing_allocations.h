// Memory that runs out when a test wants it: every allocation of C++ (operator new, in all threads
// and libraries) of a program that has failing_allocations.cpp among its sources.
#pragma once

#include <cstdint>

namespace enginery::test {

// From its construction on, the allocation after `after` others fails: that `one` alone, or all
// that follow, too. Destroyed, none does.
class Failing {
 public:
  Failing(int64_t after, bool one);
  ~Failing();
  Failing(const Failing&) = delete;
  Failing& operator=(const Failing&) = delete;
  // How many there were since then.
  int64_t made() const;

 private:
  int64_t after_;
};

// More allocations than any test makes: none fails, all are counted.
inline constexpr int64_t kNoneFails = int64_t{1} << 40;

}  // namespace enginery::test
