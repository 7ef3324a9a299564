// An engine loaded through the C interface, with buffers for its tensors: what these tests share.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "enginery/enginery.h"
#include "tests/engine/runtime/signed_file.h"

namespace enginery::test {

// The tensors of the engine: x and z in, y out, all of this size.
inline constexpr size_t kElements = 32 * 40 * 40;
inline constexpr size_t kTensorBytes = kElements * sizeof(float);

// Whoever derives makes `file_` before the first test.
class CLoaded : public testing::Test {
 protected:
  static void TearDownTestSuite() { file_.reset(); }

  void SetUp() override {
    load_options_.struct_size = sizeof load_options_;
    keys_ = file_->keys().string();
    load_options_.keys_folder = keys_.c_str();
    load_options_.threads = 1;
    expect_ok(enginery_engine_load_file(file_->file().c_str(), &load_options_, &engine_));
    expect_ok(enginery_context_create(engine_, &context_));
  }
  void TearDown() override {
    enginery_context_destroy(context_);
    enginery_engine_destroy(engine_);
  }

  static void expect_ok(enginery_status status) {
    EXPECT_EQ(status, ENGINERY_OK) << enginery_last_error();
    EXPECT_STREQ(enginery_last_error(), "");
  }
  // The status, and that the sentence has these words.
  static void expect_error(enginery_status got, enginery_status wanted, const std::string& words) {
    EXPECT_EQ(got, wanted) << enginery_last_error();
    EXPECT_NE(std::string(enginery_last_error()).find(words), std::string::npos)
        << "'" << enginery_last_error() << "' lacks '" << words << "'";
  }

  void set_all() {
    expect_ok(enginery_context_set_input(context_, "x", x_.data(), kTensorBytes));
    expect_ok(enginery_context_set_input(context_, "z", z_.data(), kTensorBytes));
    expect_ok(enginery_context_set_output(context_, "y", y_.data(), kTensorBytes));
  }

  static std::unique_ptr<SignedFile> file_;
  std::string keys_;
  enginery_load_options load_options_{};
  enginery_engine* engine_ = nullptr;
  enginery_context* context_ = nullptr;
  std::vector<float> x_ = std::vector<float>(kElements, 0.5f), z_ = x_;
  std::vector<float> y_ = std::vector<float>(kElements);
};

inline std::unique_ptr<SignedFile> CLoaded::file_;

}  // namespace enginery::test
