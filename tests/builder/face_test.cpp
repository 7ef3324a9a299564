// The public C++ headers: every layer function gives the tensor that its contract says, mistakes
// are exceptions that name the layer, and objects that were moved from refuse.
#include <gtest/gtest.h>

#include <stdexcept>

#include "enginery/build.hpp"
#include "tests/builder/cpu_sku.h"
#include "tests/support/temporary_folder.h"

namespace enginery::test {
namespace {

class FaceOfNetworks : public testing::Test {
 protected:
  // What a call throws; its sentence has the words.
  template <typename Call>
  static void expect_thrown(enginery_status status, const std::string& words, Call&& call) {
    try {
      call();
      ADD_FAILURE() << "nothing was thrown; expected: " << words;
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), status) << error.what();
      EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
    }
  }
  NetworkTensor input(const Sizes& dims, enginery_type type = ENGINERY_FLOAT32) {
    return network_.add_input("i" + std::to_string(++inputs_), type, dims);
  }
  Network network_;
  int inputs_ = 0;
};

TEST_F(FaceOfNetworks, LayersGiveWhatTheirContractsSay) {
  const NetworkTensor image = input({2, 4, 8, 8}), vector = input({4}), rows = input({3, 6});
  const NetworkTensor w = network_.add_constant({6, 4, 3, 3}, std::vector<float>(216));
  const NetworkTensor up = network_.add_constant({4, 5, 2, 2}, std::vector<float>(80));
  const NetworkTensor dense = network_.add_constant({5, 6}, std::vector<float>(30));
  const NetworkTensor q = input({1, 2, 5, 16}), k = input({1, 2, 7, 16}), v = input({1, 2, 7, 8});
  Window three{{3, 3}}, two{{2, 2}};
  three.padding = {1, 1};
  two.strides = {2, 2};
  const struct {
    NetworkTensor tensor;
    Sizes dims;
  } made[] = {
      {network_.add_convolution(image, w, {}, three), {2, 6, 8, 8}},
      {network_.add_convolution(image, w, input({6}), Window{{3, 3}}), {2, 6, 6, 6}},
      {network_.add_deconvolution(image, up, {}, two), {2, 5, 16, 16}},
      {network_.add_matrix_multiply(rows, input({6, 2})), {3, 2}},
      {network_.add_fully_connected(rows, dense, input({5})), {3, 5}},
      {network_.add_elementwise(image, input({8}), "add"), {2, 4, 8, 8}},
      {network_.add_activation(image, "clip", "limit", -1, 6.5f), {2, 4, 8, 8}},
      {network_.add_unary(image, "exp"), {2, 4, 8, 8}},
      {network_.add_pooling(image, "max", two), {2, 4, 4, 4}},
      {network_.add_global_pooling(image, "average"), {2, 4, 1, 1}},
      {network_.add_normalization(rows, input({6}), {}), {3, 6}},
      {network_.add_batch_normalization(image, vector, vector, vector, vector), {2, 4, 8, 8}},
      {network_.add_softmax(rows), {3, 6}},
      {network_.add_reshape(rows, {2, -1}), {2, 9}},
      {network_.add_transpose(rows, {1, 0}), {6, 3}},
      {network_.add_shuffle(image, {0, 2, 3, 1}, {2, 64, 4}), {2, 64, 4}},
      {network_.add_concatenation({rows, rows, rows}, 0), {9, 6}},
      {network_.add_slice(rows, {0, 1}, {3, 6}, {2, 2}), {2, 3}},
      {network_.add_slice(rows, {1, 0}, {2, 6}), {1, 6}},
      {network_.add_reduce(image, "mean", {2, 3}, false), {2, 4}},
      {network_.add_gather(rows, network_.add_integers({0, 2}), 0), {2, 6}},
      {network_.add_resize(image, {2, 4, 16, 4}), {2, 4, 16, 4}},
      {network_.add_attention(q, k, v, 0.25f, true), {1, 2, 5, 8}},
      {network_.add_cast(rows, "float16"), {3, 6}},
      {network_.add_select(input({3, 6}, ENGINERY_BOOL), rows, rows), {3, 6}},
      {network_.add_layer("top_k", {rows, network_.add_integers({2})}).at(1), {3, 2}},
  };
  for (const auto& [tensor, dims] : made) EXPECT_EQ(network_.tensor(tensor).dims, dims);
  EXPECT_EQ(network_.tensor(made[6].tensor).name, "limit");
  EXPECT_EQ(network_.tensor(made[23].tensor).type, ENGINERY_FLOAT16);
  network_.mark_output(made[0].tensor, "y");
  EXPECT_EQ(network_.tensor(made[0].tensor).name, "y");
  EXPECT_EQ(network_.save().substr(0, 6), "ENGNET");
}

TEST_F(FaceOfNetworks, WhatARunCountsIsGivenWithItsLargestSize) {
  const NetworkTensor rows = input({3, 6}), boxes = input({2, 5, 4}), scores = input({2, 7, 5});
  const struct {
    CountedTensor tensor;
    Sizes dims;
    int64_t axis;
  } made[] = {
      {network_.add_non_zero(rows), {2, 18}, 1},
      {network_.add_nms(boxes, scores, 3), {42, 3}, 0},
      {network_.add_nms(boxes, scores, 9, 0.5f, 0.1f, true), {70, 3}, 0},
      {network_.add_compress(rows, input({6}), -1), {3, 6}, 1},
  };
  for (const auto& [tensor, dims, axis] : made) {
    EXPECT_EQ(network_.tensor(tensor.values).dims, dims);
    EXPECT_EQ(tensor.axis, axis);
    EXPECT_EQ(network_.tensor(tensor.count).type, ENGINERY_INT64);
    EXPECT_TRUE(network_.tensor(tensor.count).dims.empty());
    network_.mark_output(tensor);
  }
  EXPECT_NE(network_.save().find("run_time_sizes"), std::string::npos);
}

TEST_F(FaceOfNetworks, MistakesAreExceptionsThatNameTheLayer) {
  const NetworkTensor rows = input({3, 6});
  expect_thrown(ENGINERY_ERROR_INVALID_ARGUMENT, "layer 'product' (matmul)",
                [&] { network_.add_matrix_multiply(rows, rows, "product"); });
  expect_thrown(ENGINERY_ERROR_INVALID_ARGUMENT, "layer 'act' (act)",
                [&] { network_.add_activation(rows, "swim"); });
  expect_thrown(ENGINERY_ERROR_INVALID_ARGUMENT, "4 dimensions",
                [&] { network_.add_attention(rows, rows, rows, 1); });
  expect_thrown(ENGINERY_ERROR_INVALID_ARGUMENT, "expected 24 bytes", [&] {
    network_.add_constant({3, 2}, {1, 2, 3});
  });
  Network other;
  expect_thrown(ENGINERY_ERROR_INVALID_ARGUMENT, "not of this network",
                [&] { other.add_softmax(rows); });
  expect_thrown(ENGINERY_ERROR_INVALID_ARGUMENT, "network 'network'",
                [&] { Builder().build(other); });
}

TEST_F(FaceOfNetworks, OneThatWasMovedFromRefuses) {
  const NetworkTensor rows = input({3, 6});
  Network taken = std::move(network_);
  taken.add_softmax(rows);
  expect_thrown(ENGINERY_ERROR_HANDLE, "not a live network", [&] { network_.add_softmax(rows); });
  expect_thrown(ENGINERY_ERROR_HANDLE, "not a live network", [&] { Builder().build(network_); });
  network_ = std::move(taken);
  network_.add_softmax(rows);
  expect_thrown(ENGINERY_ERROR_HANDLE, "not a live network", [&] { taken.save(); });
}

// Gives one batch, or throws.
struct OneBatch : Calibrator {
  bool fails = false;
  std::vector<float> rows = {1, -2, 3, 4, 0.5f, -0.25f, 2, 1};
  std::string cache;
  int calls = 0;
  Sizes asked;

  int batch_size() const override { return 2; }
  bool get_batch(std::vector<CalibrationInput>& inputs) override {
    if (fails) throw std::runtime_error("no camera");
    asked = inputs.at(0).dims;
    inputs.at(0).data = rows.data();
    return ++calls == 1;
  }
  std::string read_cache() override { return cache; }
  void write_cache(const std::string& written) override { cache = written; }
};

TEST_F(FaceOfNetworks, BuildsCallTheCalibrator) {
  const NetworkTensor x = network_.add_input("x", ENGINERY_FLOAT32, {1, 4});
  const NetworkTensor w = network_.add_constant({4, 2}, std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8});
  network_.mark_output(network_.add_matrix_multiply(x, w), "y");
  const TemporaryFolder folder;
  const auto calibrator = std::make_shared<OneBatch>();
  BuildConfig config;
  config.catalog = (folder.path / "catalog").string();
  config.keys = (folder.path / "keys").string();
  config.precisions = "int8";
  config.level = 0;
  config.threads = 1;
  config.calibrator = calibrator;
  const std::string engine = Builder(config).build(network_, cpu_sku());
  EXPECT_EQ(calibrator->asked, (Sizes{2, 4}));
  EXPECT_EQ(calibrator->calls, 2);
  EXPECT_EQ(calibrator->cache.substr(0, 8), "ENGHIST1");
  EXPECT_EQ(Builder(config).build(network_, cpu_sku()), engine);
  EXPECT_EQ(calibrator->calls, 2);
  calibrator->cache.clear();
  calibrator->fails = true;
  EXPECT_THROW(Builder(config).build(network_, cpu_sku()), std::runtime_error);
}

}  // namespace
}  // namespace enginery::test
