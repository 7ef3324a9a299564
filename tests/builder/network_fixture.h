// A small network through the C interface: x float32[1x4] and a constant w of the same type.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "enginery/build.h"

namespace enginery::test {

inline void expect_built(enginery_status status) {
  EXPECT_EQ(status, ENGINERY_OK) << enginery_build_last_error();
}
// The status, and that the sentence has these words.
inline void expect_refused(enginery_status got, enginery_status wanted, const std::string& words) {
  EXPECT_EQ(got, wanted) << enginery_build_last_error();
  EXPECT_NE(std::string(enginery_build_last_error()).find(words), std::string::npos)
      << "'" << enginery_build_last_error() << "' lacks '" << words << "'";
}

inline int32_t keep_bytes(void* user, const void* data, size_t bytes) {
  static_cast<std::string*>(user)->assign(static_cast<const char*>(data), bytes);
  return 0;
}

class SmallNetwork : public testing::Test {
 protected:
  void SetUp() override {
    expect_built(enginery_network_create("small", &network_));
    expect_built(enginery_network_add_input(network_, "x", ENGINERY_FLOAT32, kDims, 2, &x_));
    expect_built(enginery_network_add_constant(network_, "w", ENGINERY_FLOAT32, kDims, 2, kWeights,
                                               sizeof kWeights, &w_));
  }
  void TearDown() override { enginery_network_destroy(network_); }

  static enginery_layer layer(const char* op) {
    enginery_layer out{};
    out.struct_size = sizeof out;
    out.op = op;
    out.name = "l";
    return out;
  }
  // x + w.
  enginery_tensor add_sum() {
    const enginery_tensor inputs[] = {x_, w_};
    enginery_layer sum = layer("binary");
    sum.inputs = inputs;
    sum.input_count = 2;
    enginery_tensor y = ENGINERY_NO_TENSOR;
    expect_built(enginery_network_add_layer(network_, &sum, &y, 1, nullptr));
    return y;
  }
  std::string saved() {
    std::string out;
    expect_built(enginery_network_save(network_, keep_bytes, &out));
    return out;
  }

  static constexpr int64_t kDims[] = {1, 4};
  static constexpr float kWeights[] = {1, 2, 3, 4};
  enginery_network* network_ = nullptr;
  enginery_tensor x_ = ENGINERY_NO_TENSOR, w_ = ENGINERY_NO_TENSOR;
};

}  // namespace enginery::test
