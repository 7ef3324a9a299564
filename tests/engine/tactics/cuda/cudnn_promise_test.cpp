// Which of cuDNN's engines are offered: those that keep what a precision promises, by their
// numerical notes, and are not known to be wrong.
#include <gtest/gtest.h>

#include "engine/tactics/cuda/cudnn/conv_plan.h"

namespace enginery {
namespace {

struct Case {
  const char* name;
  CudnnConfig config;
  std::set<Precision> kept;
};

CudnnConfig noted(const std::function<void(CudnnConfig&)>& note) {
  CudnnConfig config;
  note(config);
  return config;
}

TEST(CudnnNotes, DecideWhatIsOffered) {
  using enum Precision;
  const Case cases[] = {
      {"plain", noted([](CudnnConfig&) {}), {fp32, fp16}},
      {"tensor cores", noted([](CudnnConfig& c) { c.tensor_cores = true; }), {tf32, fp16}},
      {"narrow inputs", noted([](CudnnConfig& c) { c.down_converts = true; }), {fp16}},
      {"narrow sums", noted([](CudnnConfig& c) { c.narrow_sums = true; }), {}},
      {"Winograd", noted([](CudnnConfig& c) { c.algorithm = Algorithm::winograd; }), {fp32}},
      {"Fourier", noted([](CudnnConfig& c) { c.algorithm = Algorithm::fft; }), {fp32}},
      {"Winograd, large tiles", noted([](CudnnConfig& c) { c.large_tiles = true; }), {}},
  };
  for (const Case& c : cases) {
    for (const Precision p : {fp32, tf32, fp16})
      EXPECT_EQ(keeps_promise(c.config, p), c.kept.contains(p)) << c.name << " " << to_string(p);
  }
}

// Seen on an H200: strides of 8 right, of 14 and 16 wrong, whatever the filter and the knobs.
TEST(CudnnNotes, Engine4IsNotAskedForStridesAbove8) {
  const auto offered = [](const char* name, int64_t stride_h, int64_t stride_w) {
    ConvShape shape;
    shape.stride_h = stride_h;
    shape.stride_w = stride_w;
    return !known_wrong(CudnnConfig::parse(name).value(), shape);
  };
  EXPECT_TRUE(offered("eng4_k24=39", 8, 8));
  EXPECT_FALSE(offered("eng4_k24=39", 9, 9));
  EXPECT_FALSE(offered("eng4", 16, 1));
  EXPECT_FALSE(offered("eng4", 1, 16));
  EXPECT_TRUE(offered("eng1", 16, 16));
}

}  // namespace
}  // namespace enginery
