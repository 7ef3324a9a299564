#include "engine/tactics/cuda/launch/gpu_tactic.h"

#include "tests/engine/tactics/cuda/card.h"

namespace enginery {
namespace {

using enum Precision;

constexpr Precision kAll[] = {fp32, tf32, fp16, bf16, int8};

// What libraries compute in on a card of that compute capability, of all that are allowed.
std::vector<Precision> served(int compute_capability) {
  return library_precisions(test::card_of(compute_capability), {std::begin(kAll), std::end(kAll)});
}

TEST(LibraryPrecisions, AreThoseOfTheSm) {
  EXPECT_EQ(served(61), (std::vector{fp16, fp32})) << "float16 is stored there, not multiplied";
  EXPECT_EQ(served(75), (std::vector{fp16, fp32}));
  EXPECT_EQ(served(80), (std::vector{fp16, bf16, tf32, fp32}));
  EXPECT_EQ(library_precisions(test::card_of(90), {fp32, bf16}), (std::vector{bf16, fp32}));
}

TEST(PeakFlops, AreNoneWhereTheSmDoesNotComputeSo) {
  const DeviceInfo volta = test::card_of(70), hopper = test::card_of(90);
  EXPECT_EQ(peak_flops(volta, bf16), 0);
  EXPECT_EQ(peak_flops(volta, tf32), 0);
  EXPECT_GT(peak_flops(volta, fp16), peak_flops(volta, fp32));
  EXPECT_EQ(peak_flops(hopper, bf16), peak_flops(hopper, fp16));
  EXPECT_EQ(peak_flops(hopper, int8), 0);
}

// Stored in bfloat16 only where the SM converts it.
TEST(StorageTypes, HaveBfloat16FromSm80On) {
  const auto types = [](int sm) { return test::Card(sm, {fp32, bf16}).context.storage_types(); };
  EXPECT_EQ(types(75), std::vector{DataType::float32});
  EXPECT_EQ(types(80), (std::vector{DataType::float32, DataType::bfloat16}));
}

}  // namespace
}  // namespace enginery
