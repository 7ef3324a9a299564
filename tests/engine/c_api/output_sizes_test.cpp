// The C interface of outputs whose sizes each run tells.
#include "tests/engine/c_api/c_fixture.h"

namespace enginery::test {
namespace {

class CSizes : public testing::Test {
 protected:
  void SetUp() override {
    enginery_load_options options{};
    options.struct_size = sizeof options;
    const std::string keys = file_.keys().string();
    options.keys_folder = keys.c_str();
    ASSERT_EQ(enginery_engine_load_file(file_.file().c_str(), &options, &engine_), ENGINERY_OK);
    ASSERT_EQ(enginery_context_create(engine_, &context_), ENGINERY_OK);
    enginery_context_set_input(context_, "x", x_, sizeof x_);
    enginery_context_set_output(context_, "y", y_, sizeof y_);
    enginery_context_set_output(context_, "z", z_, sizeof z_);
  }
  void TearDown() override {
    enginery_context_destroy(context_);
    enginery_engine_destroy(engine_);
  }

  SignedEngine file_{kFound, SourceFilter{}, kFoundSizes};
  enginery_engine* engine_ = nullptr;
  enginery_context* context_ = nullptr;
  float x_[6] = {0, 5, 0, 7, 0, 9};
  int64_t y_[12] = {}, z_[12] = {}, dims_[2] = {-1, -1};
};

TEST_F(CSizes, AreThoseOfTheLastRun) {
  EXPECT_EQ(enginery_context_get_output_dims(context_, "y", dims_, 2), ENGINERY_ERROR_NOT_SET);
  ASSERT_EQ(enginery_context_run(context_), ENGINERY_OK) << enginery_last_error();
  ASSERT_EQ(enginery_context_get_output_dims(context_, "y", dims_, 2), ENGINERY_OK);
  EXPECT_EQ(dims_[0], 2);
  EXPECT_EQ(dims_[1], 3);
  x_[1] = 0;
  ASSERT_EQ(enginery_context_run(context_), ENGINERY_OK);
  ASSERT_EQ(enginery_context_get_output_dims(context_, "z", dims_, 2), ENGINERY_OK);
  EXPECT_EQ(dims_[1], 2);
}

TEST_F(CSizes, TheEngineSaysWhichTheyAre) {
  enginery_engine_info info{};
  info.struct_size = sizeof info;
  ASSERT_EQ(enginery_engine_get_info(engine_, &info), ENGINERY_OK);
  EXPECT_EQ(info.outputs, 2);
  enginery_tensor_info tensor{};
  tensor.struct_size = sizeof tensor;
  ASSERT_EQ(enginery_engine_get_tensor(engine_, 1, &tensor), ENGINERY_OK);
  EXPECT_EQ(tensor.run_time_sizes, 1);
  EXPECT_EQ(tensor.dims[1], 6);
  EXPECT_EQ(tensor.bytes, sizeof y_);
  ASSERT_EQ(enginery_engine_get_tensor(engine_, 0, &tensor), ENGINERY_OK);
  EXPECT_EQ(tensor.run_time_sizes, 0);
}

TEST_F(CSizes, WrongQuestionsAreErrors) {
  ASSERT_EQ(enginery_context_run(context_), ENGINERY_OK);
  const auto ask = [&](const char* name, int64_t* dims, int32_t rank) {
    return enginery_context_get_output_dims(context_, name, dims, rank);
  };
  EXPECT_EQ(ask(nullptr, dims_, 2), ENGINERY_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(ask("x", dims_, 2), ENGINERY_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(ask("y", nullptr, 2), ENGINERY_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(ask("y", dims_, 1), ENGINERY_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(enginery_context_get_output_dims(nullptr, "y", dims_, 2), ENGINERY_ERROR_HANDLE);
}

}  // namespace
}  // namespace enginery::test
