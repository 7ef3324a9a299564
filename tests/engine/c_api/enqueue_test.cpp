// Runs that are given to a stream, and memory of the device, through the C interface: on a CPU a
// null stream is the call itself, and both kinds of memory are the host's.
#include <algorithm>

#include "tests/engine/c_api/c_fixture.h"

namespace enginery::test {
namespace {

class CEnqueue : public CInterface {
 protected:
  void set_all_in(enginery_memory memory) {
    expect_ok(enginery_context_set_input_in(context_, "x", x_.data(), kTensorBytes, memory));
    expect_ok(enginery_context_set_input_in(context_, "z", z_.data(), kTensorBytes, memory));
    expect_ok(enginery_context_set_output_in(context_, "y", y_.data(), kTensorBytes, memory));
  }
  std::vector<float> expected() {
    std::vector<float> y(kElements);
    set_all();
    expect_ok(enginery_context_set_output(context_, "y", y.data(), kTensorBytes));
    expect_ok(enginery_context_run(context_));
    return y;
  }
};

TEST_F(CEnqueue, IsOverAtTheReturnOnACpu) {
  const std::vector<float> wanted = expected();
  set_all();
  expect_ok(enginery_context_enqueue(context_, nullptr));
  EXPECT_EQ(y_, wanted);
}

TEST_F(CEnqueue, TakesBothKindsOfMemory) {
  const std::vector<float> wanted = expected();
  for (const enginery_memory memory : {ENGINERY_MEMORY_HOST, ENGINERY_MEMORY_DEVICE}) {
    std::ranges::fill(y_, 0.0f);
    set_all_in(memory);
    expect_ok(enginery_context_enqueue(context_, nullptr));
    EXPECT_EQ(y_, wanted);
    std::ranges::fill(y_, 0.0f);
    expect_ok(enginery_context_run(context_));
    EXPECT_EQ(y_, wanted);
  }
}

TEST_F(CEnqueue, ReadsItsInputsAnewEachTime) {
  set_all_in(ENGINERY_MEMORY_DEVICE);
  expect_ok(enginery_context_enqueue(context_, nullptr));
  const std::vector<float> before = y_;
  std::ranges::fill(x_, -0.5f);
  expect_ok(enginery_context_enqueue(context_, nullptr));
  EXPECT_NE(y_, before);
}

TEST_F(CEnqueue, RefusesWhatACpuDoesNotHave) {
  set_all();
  int own = 0;
  expect_error(enginery_context_enqueue(context_, &own), ENGINERY_ERROR_INVALID_ARGUMENT,
               "a CPU has no streams");
  expect_ok(enginery_context_enqueue(context_, nullptr));
}

TEST_F(CEnqueue, RefusesKindsOfMemoryThatAreNone) {
  set_all();
  for (const enginery_memory memory : {-1, 2}) {
    const std::string words = "no kind of memory " + std::to_string(memory);
    expect_error(enginery_context_set_input_in(context_, "x", x_.data(), kTensorBytes, memory),
                 ENGINERY_ERROR_INVALID_ARGUMENT, words);
    expect_error(enginery_context_set_output_in(context_, "y", y_.data(), kTensorBytes, memory),
                 ENGINERY_ERROR_INVALID_ARGUMENT, words);
  }
  expect_ok(enginery_context_enqueue(context_, nullptr));
}

TEST_F(CEnqueue, IsCheckedAsARunIs) {
  expect_error(enginery_context_enqueue(context_, nullptr), ENGINERY_ERROR_NOT_SET, "input 'x'");
  set_all();
  expect_ok(enginery_context_set_output_in(context_, "y", x_.data(), kTensorBytes,
                                           ENGINERY_MEMORY_DEVICE));
  expect_error(enginery_context_enqueue(context_, nullptr), ENGINERY_ERROR_INVALID_ARGUMENT,
               "output 'y' overlaps 'x'");
  expect_error(enginery_context_set_input_in(context_, "x", x_.data(), 4, ENGINERY_MEMORY_DEVICE),
               ENGINERY_ERROR_INVALID_ARGUMENT, "expected 204800 bytes");
  enginery_context* none = nullptr;
  expect_error(enginery_context_enqueue(none, nullptr), ENGINERY_ERROR_HANDLE,
               "not a live context");
}

TEST_F(CEnqueue, SaysWhichDeviceTheMemoryIsOf) {
  enginery_engine_info info{};
  info.struct_size = sizeof info;
  expect_ok(enginery_engine_get_info(engine_, &info));
  EXPECT_STREQ(info.device, "cpu");
  EXPECT_EQ(info.device_index, 0);
}

}  // namespace
}  // namespace enginery::test
