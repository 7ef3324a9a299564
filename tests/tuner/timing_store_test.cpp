// The store that lives as long as the process. Those of the worker:
// tests/worker/timing/timing_stores_test.cpp.
#include "tests/support/timing_store_suite.h"

namespace enginery::test {
namespace {

class InMemory final : public TimingStoreUnderTest {
 public:
  TimingStore& store() override { return store_; }

 private:
  MemoryTimingStore store_;
};

INSTANTIATE_TEST_SUITE_P(Stores, TimingStoreTest,
                         testing::Values(TimingStoreCase{
                             "Memory", [] { return std::make_unique<InMemory>(); }}),
                         timing_store_name);

}  // namespace
}  // namespace enginery::test
