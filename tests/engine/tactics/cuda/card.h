// Cards of the tests: what the kernel families are asked for, without a GPU.
#pragma once

#include <gtest/gtest.h>

#include "engine/device/cuda/fingerprint.h"
#include "engine/tactics/cuda/kernel/families.h"
#include "engine/tactics/cuda/kernel/kernel_source.h"
#include "tests/support/problem_text.h"

namespace enginery::test {

// A card of the compute capability with 132 SMs and 16 GiB.
inline DeviceInfo card_of(int compute_capability) {
  SkuRow row;
  row.kind = DeviceKind::cuda;
  row.compute_capability = compute_capability;
  row.sm_count = 132;
  row.memory_gib = 16;
  return device_info(row);
}

// A card with the precisions that its tactics are asked in.
struct Card {
  explicit Card(int compute_capability = 90,
                std::set<Precision> allowed = {Precision::fp32, Precision::tf32, Precision::fp16,
                                               Precision::bf16})
      : info(card_of(compute_capability)),
        context{info, sm_limits(compute_capability), std::move(allowed)} {}
  Card(const Card&) = delete;
  Card& operator=(const Card&) = delete;

  // Every variant that serves the problem; none where all families refuse.
  std::vector<Tactic> offers(const Problem& problem) const {
    auto tactics = offer_kernels(problem, context, true);
    return tactics.ok() ? std::move(*tactics) : std::vector<Tactic>();
  }

  DeviceInfo info;
  KernelContext context;
};

inline Problem problem_of(std::string_view text) {
  auto problem = parse_problem(text);
  EXPECT_TRUE(problem.ok()) << text << ": " << problem.error().message;
  return problem.ok() ? *problem : Problem();
}

}  // namespace enginery::test
