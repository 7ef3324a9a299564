// Outputs whose sizes each run tells.
#include <gtest/gtest.h>

#include "tests/engine/runtime/signed_engine.h"

namespace enginery {
namespace {

class OutputSizes : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    file_ = std::make_unique<test::SignedEngine>(test::kFound, SourceFilter{}, test::kFoundSizes);
  }
  static void TearDownTestSuite() { file_.reset(); }

  Dims dims(ExecutionContext& context, size_t output) {
    const auto dims = context.output_dims(output);
    if (!dims.ok()) ADD_FAILURE() << dims.error().message;
    return dims.ok() ? *dims : Dims{-1};
  }
  void run(ExecutionContext& context, std::vector<float> x) {
    const void* inputs[] = {x.data()};
    void* outputs[] = {y_.data(), z_.data()};
    const Status ran = context.run(inputs, outputs);
    ASSERT_TRUE(ran.ok()) << ran.error().message;
  }

  static std::unique_ptr<test::SignedEngine> file_;
  std::vector<int64_t> y_ = std::vector<int64_t>(12, -1), z_ = y_;
};

std::unique_ptr<test::SignedEngine> OutputSizes::file_;

TEST_F(OutputSizes, AreAskedOfTheContextAfterARun) {
  const Engine engine = file_->load().value();
  ASSERT_EQ(engine.info().outputs.size(), 2u);
  EXPECT_EQ(engine.info().outputs[0].type.dims, (Dims{2, 6}));
  EXPECT_EQ(engine.info().outputs[0].run_time_axes, (std::vector<int64_t>{1}));
  ExecutionContext context = engine.create_context().value();
  const auto early = context.output_dims(0);
  ASSERT_FALSE(early.ok());
  EXPECT_EQ(early.error().code, ErrorCode::invalid_argument);
  run(context, {0, 5, 0, 7, 0, 9});
  EXPECT_EQ(dims(context, 0), (Dims{2, 3}));
  EXPECT_EQ(dims(context, 1), (Dims{2, 3}));
  EXPECT_EQ(y_, (std::vector<int64_t>{0, 1, 1, 1, 0, 2, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(z_, (std::vector<int64_t>{0, 1, 1, 1, 0, 4, 0, 0, 0, 0, 0, 0}));
  run(context, {0, 0, 0, 0, 0, 0});
  EXPECT_EQ(dims(context, 0), (Dims{2, 0}));
  run(context, {1, 1, 1, 1, 1, 1});
  EXPECT_EQ(dims(context, 1), (Dims{2, 6}));
  EXPECT_FALSE(context.output_dims(2).ok());
}

TEST_F(OutputSizes, EachContextHasItsOwn) {
  const Engine engine = file_->load().value();
  ExecutionContext one = engine.create_context().value(), other = engine.create_context().value();
  run(one, {0, 5, 0, 7, 0, 9});
  run(other, {1, 0, 0, 0, 0, 0});
  EXPECT_EQ(dims(one, 0), (Dims{2, 3}));
  EXPECT_EQ(dims(other, 0), (Dims{2, 1}));
}

TEST_F(OutputSizes, FollowWhatWasEnqueued) {
  const Engine engine = file_->load().value();
  ExecutionContext context = engine.create_context().value();
  std::vector<float> x = {0, 5, 0, 7, 0, 0};
  const TensorMemory inputs[] = {{x.data(), MemoryKind::device}};
  const TensorMemory outputs[] = {{y_.data(), MemoryKind::device}, {z_.data(), MemoryKind::device}};
  const Status enqueued = context.enqueue(inputs, outputs, nullptr);
  ASSERT_TRUE(enqueued.ok()) << enqueued.error().message;
  EXPECT_EQ(dims(context, 0), (Dims{2, 2}));
}

// The counts are no outputs of the model: their buffers are not asked for.
TEST_F(OutputSizes, TakeNoBuffers) {
  const Engine engine = file_->load().value();
  ExecutionContext context = engine.create_context().value();
  std::vector<float> x(6);
  int64_t count = 0;
  const void* inputs[] = {x.data()};
  void* outputs[] = {y_.data(), z_.data(), &count};
  EXPECT_FALSE(context.run(inputs, outputs).ok());
}

TEST(OutputSizesOfAFile, ThatNothingCountsAreRefused) {
  const RunTimeSizes wrong[] = {
      {{0, 1, 1}, {1, 1, 2}},  // counted by an output that is no count
      {{0, 2, 2}},             // an axis that the output lacks
      {{1, 1, 2}, {0, 1, 2}},  // out of order
      {{0, 1, 3}},             // by no output
  };
  for (const RunTimeSizes& sizes : wrong) {
    const auto engine = test::SignedEngine(test::kFound, {}, sizes).load();
    ASSERT_FALSE(engine.ok());
    EXPECT_EQ(engine.error().code, ErrorCode::untrusted) << engine.error().message;
  }
}

}  // namespace
}  // namespace enginery
