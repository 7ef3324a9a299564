// A reference that is a step of an engine runs with the engine's threads, as every other tactic.
#include <gtest/gtest.h>
#include <time.h>

#include "engine/base/parallel.h"
#include "engine/device/sku_table.h"
#include "engine/tactics/cpu/reference/reference_source.h"
#include "tests/support/problem_text.h"
#include "tests/support/tactic_harness.h"

namespace enginery {
namespace {

double seconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// The share of a convolution's processor time that other threads than the caller's spent.
double share_of_helpers(int threads) {
  const auto device = open_device(local_skus().front().name, {.threads = threads}).value();
  const auto stream = device->create_stream().value();
  const auto source = make_reference_source(device->info()).value();
  const Problem problem =
      parse_problem(
          "conv strides=[1,1] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1] | "
          "float32[1x64x32x32] w:float32[64x64x3x3]")
          .value();
  std::mt19937_64 random(1);
  ProblemData data;
  fill_random(problem, random, data);
  TacticRun run(*device, *stream);
  const Tactic tactic = source->offer(problem, {Precision::fp32})->front();
  EXPECT_TRUE(run.prepare(*source, problem, tactic, data, OperandPlace::separate).ok());
  const double all = seconds(CLOCK_PROCESS_CPUTIME_ID), own = seconds(CLOCK_THREAD_CPUTIME_ID);
  EXPECT_TRUE(run.launch().ok());
  const double spent = seconds(CLOCK_PROCESS_CPUTIME_ID) - all;
  return 1 - (seconds(CLOCK_THREAD_CPUTIME_ID) - own) / spent;
}

TEST(Reference, RunsWithTheThreadsOfItsDevice) {
  if (allowed_core_count() < 2) GTEST_SKIP() << "one core";
  EXPECT_LT(share_of_helpers(1), 0.1);
}

}  // namespace
}  // namespace enginery
