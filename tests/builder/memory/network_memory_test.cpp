// Memory that runs out anywhere while a network is put together and saved: the call says so, and
// what it was to add is not there, or the network is refused from then on.
#include "tests/builder/network_fixture.h"
#include "tests/support/failing_allocations.h"

namespace enginery::test {
namespace {

// A network of one sum in half precision, in steps that can be gone on with where one failed. The
// parameter: whether one allocation fails, or all from some point on.
class NetworkMemory : public testing::TestWithParam<bool> {
 protected:
  enginery_status take_step() {
    switch (step_) {
      case 0:
        return enginery_network_create("small", &network_);
      case 1:
        return enginery_network_add_input(network_, "x", ENGINERY_FLOAT32, kDims, 2, &inputs_[0]);
      case 2:
        return enginery_network_add_constant(network_, "w", ENGINERY_FLOAT32, kDims, 2, kWeights,
                                             sizeof kWeights, &inputs_[1]);
      case 3:
        return add_sum();
      case 4:
        return enginery_network_mark_output(network_, y_, "y");
      default:
        return enginery_network_save(network_, keep_bytes, &saved_);
    }
  }
  // Whether the last step is done.
  bool go_on() {
    for (; step_ < kSteps; ++step_) {
      status_ = take_step();
      if (status_ != ENGINERY_OK) return false;
    }
    return true;
  }
  void begin() {
    network_ = nullptr;
    saved_ = std::string();
    step_ = 0;
  }
  void end() { expect_built(enginery_network_destroy(network_)); }

  // A round in which memory runs out after some allocations, and is there again afterwards.
  void run_out(int64_t after, const std::string& expected) {
    SCOPED_TRACE("after " + std::to_string(after) + " allocations");
    begin();
    bool is_done = false;
    {
      const Failing failing(after, GetParam());
      is_done = go_on();
    }
    if (!is_done) {
      ++errors_;
      expect_refused(status_, ENGINERY_ERROR_OUT_OF_MEMORY, "memory");
      is_done = go_on();
    }
    if (is_done) {
      EXPECT_EQ(saved_, expected);
    } else {
      ++refused_;
      expect_refused(status_, ENGINERY_ERROR_OUT_OF_MEMORY, "can only be destroyed");
    }
    end();
  }

  static constexpr int kSteps = 6;
  int step_ = 0;
  enginery_status status_ = ENGINERY_OK;
  enginery_network* network_ = nullptr;
  std::string saved_;
  int64_t errors_ = 0, refused_ = 0;

 private:
  enginery_status add_sum() {
    const enginery_attribute add[] = {{"kind", "add"}};
    enginery_layer sum{};
    sum.struct_size = sizeof sum;
    sum.op = "binary";
    sum.precision = "float16";
    sum.attributes = add;
    sum.attribute_count = 1;
    sum.inputs = inputs_;
    sum.input_count = 2;
    return enginery_network_add_layer(network_, &sum, &y_, 1, nullptr);
  }

  static constexpr int64_t kDims[] = {1, 4};
  static constexpr float kWeights[] = {1, 2, 3, 4};
  enginery_tensor inputs_[2] = {}, y_ = 0;
};

TEST_P(NetworkMemory, RunsOutWithAnErrorValueAndNothingHalfAdded) {
  begin();
  ASSERT_TRUE(go_on());
  const std::string expected = saved_;
  end();
  begin();
  int64_t count = 0;
  {
    const Failing none(kNoneFails, true);
    ASSERT_TRUE(go_on());
    count = none.made();
  }
  end();
  for (int64_t after = 0; after < count && !HasFailure(); ++after) run_out(after, expected);
  std::cout << count << " allocations, " << errors_ << " errors, " << refused_
            << " of them final\n";
  EXPECT_GT(errors_, count / 2);
  EXPECT_GT(refused_, 0);
  EXPECT_LT(refused_, errors_ / 2);
}

INSTANTIATE_TEST_SUITE_P(Allocations, NetworkMemory, testing::Bool(),
                         [](const auto& one) { return one.param ? "OneFails" : "AllFail"; });

}  // namespace
}  // namespace enginery::test
