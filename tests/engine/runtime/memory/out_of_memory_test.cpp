// Memory that runs out anywhere between loading an engine and the end of a run, both through the C
// interface and with it through the C++ one: an error value, and nothing is lost by it. Every
// allocation of C++ (operator new, in all threads and libraries) is one that fails in some round.
#include <gtest/gtest.h>

#include "enginery/enginery.h"
#include "tests/engine/runtime/signed_engine.h"
#include "tests/support/failing_allocations.h"

namespace enginery::test {
namespace {

// Rounds that one sweep has at most: beyond these only some of the allocations fail.
constexpr int64_t kMaxRounds = 1500;

constexpr char kSmall[] =
    "input %x : float32[1x8x6x6]\n input %z : float32[1x8x6x6]\n "
    "%w = constant float32[8x8x3x3] random(1)\n "
    "%c = conv(%x, %w) strides=[1,1] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1] groups=1\n "
    "%s = binary(%c, %z) kind=add\n %y = act(%s) kind=tanh\n output %y";
constexpr size_t kElements = 8 * 6 * 6;

class OutOfMemory : public testing::TestWithParam<const char*> {
 protected:
  // Whether all of it succeeded. What was made until an error is destroyed.
  bool load_and_run() {
    std::fill(y_.begin(), y_.end(), 0.0f);
    constexpr size_t kBytes = kElements * sizeof(float);
    enginery_engine* engine = nullptr;
    enginery_context* context = nullptr;
    const bool ok = enginery_engine_load_file(path_.c_str(), &options_, &engine) == ENGINERY_OK &&
                    enginery_context_create(engine, &context) == ENGINERY_OK &&
                    enginery_context_set_input(context, "x", x_.data(), kBytes) == ENGINERY_OK &&
                    enginery_context_set_input(context, "z", x_.data(), kBytes) == ENGINERY_OK &&
                    enginery_context_set_output(context, "y", y_.data(), kBytes) == ENGINERY_OK &&
                    enginery_context_run(context) == ENGINERY_OK;
    says_why_ = ok == (*enginery_last_error() == 0);
    EXPECT_EQ(enginery_context_destroy(context), ENGINERY_OK);
    EXPECT_EQ(enginery_engine_destroy(engine), ENGINERY_OK);
    return ok;
  }

  // One round for each allocation that a run makes, or for some of them.
  void fail_each(bool only_one_fails) {
    ASSERT_TRUE(load_and_run());
    const std::vector<float> expected = y_;
    int64_t count = 0, errors = 0, rounds = 0;
    {
      const Failing none(kNoneFails, only_one_fails);
      ASSERT_TRUE(load_and_run());
      count = none.made();
    }
    const int64_t stride = std::max<int64_t>(1, count / kMaxRounds);
    for (int64_t after = 0; after < count; after += stride, ++rounds) {
      bool ended_well = false;
      {
        const Failing failing(after, only_one_fails);
        ended_well = load_and_run();
      }
      errors += !ended_well;
      ASSERT_TRUE(says_why_) << "after " << after << " allocations";
      // What a library did without must not show in the result.
      if (ended_well) {
        ASSERT_EQ(y_, expected) << "after " << after << " allocations";
      }
    }
    std::cout << count << " allocations, " << rounds << " rounds, " << errors << " errors\n";
    EXPECT_GT(errors, rounds / 2);
    ASSERT_TRUE(load_and_run());
    EXPECT_EQ(y_, expected);
  }

  void SetUp() override {
    SourceFilter filter;
    filter.only = {GetParam(), "reference"};
    file_ = std::make_unique<SignedEngine>(kSmall, filter);
    path_ = file_->file();
    keys_ = file_->keys().string();
    options_.struct_size = sizeof options_;
    options_.threads = 1;
    options_.keys_folder = keys_.c_str();
  }

 private:
  std::unique_ptr<SignedEngine> file_;
  std::string path_, keys_;
  enginery_load_options options_{};
  bool says_why_ = false;  // an error has its sentence, a success has none
  std::vector<float> x_ = std::vector<float>(kElements, 0.5f), y_ = x_;
};

TEST_P(OutOfMemory, AnAllocationThatFailsIsAnErrorValue) {
  fail_each(true);
}

TEST_P(OutOfMemory, AllAllocationsFromSomePointOnFailing) {
  fail_each(false);
}

INSTANTIATE_TEST_SUITE_P(Sources, OutOfMemory, testing::Values("kernel", "onednn", "reference"),
                         [](const auto& source) { return std::string(source.param); });

}  // namespace
}  // namespace enginery::test
