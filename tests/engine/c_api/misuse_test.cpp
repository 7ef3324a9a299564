// The C interface called wrongly: each mistake is a status with a sentence that names it, and what
// was there before still works.
#include <atomic>
#include <cstddef>
#include <functional>
#include <stdexcept>
#include <thread>

#include "tests/engine/c_api/c_fixture.h"

namespace enginery::test {
namespace {

class CMisuse : public CInterface {
 protected:
  // The fixture's own context still runs.
  void expect_unharmed() {
    set_all();
    expect_ok(enginery_context_run(context_));
  }
  enginery_status load(const char* file, const enginery_load_options& options) {
    enginery_engine* loaded = engine_;
    const enginery_status status = enginery_engine_load_file(file, &options, &loaded);
    EXPECT_EQ(loaded, nullptr);
    return status;
  }
};

TEST_F(CMisuse, OfLoadingIsRefused) {
  const std::string file = file_->file();
  expect_error(enginery_engine_load_file(file.c_str(), &load_options_, nullptr),
               ENGINERY_ERROR_INVALID_ARGUMENT, "place for the engine is null");
  expect_error(load(nullptr, load_options_), ENGINERY_ERROR_INVALID_ARGUMENT, "is null");
  expect_error(load("/no/such.engine", load_options_), ENGINERY_ERROR_NOT_FOUND, "/no/such.engine");
  enginery_load_options wrong = load_options_;
  wrong.keys_folder = "/no/keys";
  expect_error(load(file.c_str(), wrong), ENGINERY_ERROR_UNTRUSTED, "key");
  wrong = load_options_;
  wrong.struct_size = 0;
  expect_error(load(file.c_str(), wrong), ENGINERY_ERROR_INVALID_ARGUMENT, "struct_size");
  wrong.struct_size = sizeof wrong + 8;
  expect_error(load(file.c_str(), wrong), ENGINERY_ERROR_INVALID_ARGUMENT, "newer version");
  wrong = load_options_;
  wrong.map_file = 1;
  expect_error(load("/no/such.engine", wrong), ENGINERY_ERROR_NOT_FOUND, "/no/such.engine");
  expect_error(load("/dev/null", wrong), ENGINERY_ERROR_INVALID_ARGUMENT, "not a regular file");
  wrong = load_options_;
  wrong.threads = -1;
  expect_error(load(file.c_str(), wrong), ENGINERY_ERROR_INVALID_ARGUMENT, "threads");
  wrong.threads = 1 << 20;
  expect_error(load(file.c_str(), wrong), ENGINERY_ERROR_INVALID_ARGUMENT, "threads");
  const char few[] = "not an engine";
  enginery_engine* loaded = nullptr;
  for (const size_t bytes : {size_t{0}, sizeof few}) {
    expect_error(enginery_engine_load_memory(few, bytes, &load_options_, &loaded),
                 ENGINERY_ERROR_UNTRUSTED, "engine");
  }
  expect_unharmed();
}

TEST_F(CMisuse, OfBindingIsRefused) {
  set_all();
  void* const y = y_.data();
  void* const misaligned = reinterpret_cast<char*>(y) + 1;
  const auto set_input = enginery_context_set_input;
  // With the inputs' signature, so that one table holds both.
  const auto set_output = [](enginery_context* context, const char* name, const void* data,
                             size_t bytes) {
    return enginery_context_set_output(context, name, const_cast<void*>(data), bytes);
  };
  const struct {
    decltype(set_input) set;
    const char* name;
    void* data;
    size_t bytes;
    const char* words;
  } wrong[] = {
      {set_input, nullptr, y, kTensorBytes, "the name of the input is null"},
      {set_input, "w", y, kTensorBytes, "no input 'w'; there are: 'x', 'z'"},
      {set_input, "y", y, kTensorBytes, "no input 'y'"},
      {set_output, "x", y, kTensorBytes, "no output 'x'; there are: 'y'"},
      {set_input, "x", nullptr, kTensorBytes, "input 'x': its memory is null"},
      {set_input, "x", y, 4, "expected 204800 bytes for float32[1x32x40x40], got 4"},
      {set_output, "y", y, kTensorBytes + 4, "output 'y': expected 204800 bytes"},
      {set_output, "y", misaligned, kTensorBytes, "not aligned to the 4 bytes of its elements"},
  };
  for (const auto& call : wrong) {
    expect_error(call.set(context_, call.name, call.data, call.bytes),
                 ENGINERY_ERROR_INVALID_ARGUMENT, call.words);
  }
  expect_ok(enginery_context_run(context_));
}

TEST_F(CMisuse, RunningBeforeAllIsSetIsRefused) {
  expect_error(enginery_context_run(context_), ENGINERY_ERROR_NOT_SET, "input 'x'");
  expect_ok(enginery_context_set_input(context_, "x", x_.data(), kTensorBytes));
  expect_error(enginery_context_run(context_), ENGINERY_ERROR_NOT_SET, "input 'z'");
  expect_ok(enginery_context_set_input(context_, "z", z_.data(), kTensorBytes));
  expect_error(enginery_context_run(context_), ENGINERY_ERROR_NOT_SET, "output 'y'");
  expect_unharmed();
}

TEST_F(CMisuse, TensorsThatOverlapAreRefused) {
  set_all();
  std::vector<float> both(2 * kElements);
  expect_ok(enginery_context_set_input(context_, "x", both.data(), kTensorBytes));
  expect_ok(enginery_context_set_output(context_, "y", both.data() + kElements - 1, kTensorBytes));
  expect_error(enginery_context_run(context_), ENGINERY_ERROR_INVALID_ARGUMENT,
               "output 'y' overlaps 'x'");
  expect_ok(enginery_context_set_output(context_, "y", both.data() + kElements, kTensorBytes));
  expect_ok(enginery_context_run(context_));
}

TEST_F(CMisuse, OfProfilingIsRefused) {
  const auto ignore = [](void*, int32_t, const enginery_layer_info*) {};
  expect_error(enginery_context_profile(context_, 1, ignore, nullptr), ENGINERY_ERROR_NOT_SET,
               "run the context first");
  set_all();
  expect_ok(enginery_context_run(context_));
  expect_error(enginery_context_profile(context_, 1, nullptr, nullptr),
               ENGINERY_ERROR_INVALID_ARGUMENT, "is null");
  expect_error(enginery_context_profile(context_, 0, ignore, nullptr),
               ENGINERY_ERROR_INVALID_ARGUMENT, "at least one round");
}

TEST_F(CMisuse, OfInfosIsRefused) {
  enginery_tensor_info tensor{};
  tensor.struct_size = sizeof tensor;
  expect_error(enginery_engine_get_tensor(engine_, 3, &tensor), ENGINERY_ERROR_INVALID_ARGUMENT,
               "no tensor 3: there are 3");
  expect_error(enginery_engine_get_tensor(engine_, -1, &tensor), ENGINERY_ERROR_INVALID_ARGUMENT,
               "no tensor -1");
  expect_error(enginery_engine_get_tensor(engine_, 0, nullptr), ENGINERY_ERROR_INVALID_ARGUMENT,
               "is null");
  enginery_engine_info info{};
  expect_error(enginery_engine_get_info(engine_, &info), ENGINERY_ERROR_INVALID_ARGUMENT,
               "struct_size");
}

// A program that was compiled with an older, shorter struct keeps what lies behind it.
TEST_F(CMisuse, AnOlderStructIsFilledAsFarAsItGoes) {
  enginery_engine_info info{};
  info.struct_size = offsetof(enginery_engine_info, digest);
  info.digest = "mine";
  expect_ok(enginery_engine_get_info(engine_, &info));
  EXPECT_STREQ(info.name, "small");
  EXPECT_STREQ(info.digest, "mine");
  EXPECT_EQ(info.struct_size, offsetof(enginery_engine_info, digest));
}

// Destroyed, null, invented, and of the other kind.
TEST_F(CMisuse, HandlesThatAreNoneAreRefusedByEveryCall) {
  enginery_context* gone = nullptr;
  expect_ok(enginery_context_create(engine_, &gone));
  expect_ok(enginery_context_destroy(gone));
  const auto as_context = [](void* p) { return static_cast<enginery_context*>(p); };
  int own = 0;
  for (enginery_context* handle :
       {gone, as_context(nullptr), as_context(&own), as_context(engine_)}) {
    const auto refused = [](enginery_status status) {
      expect_error(status, ENGINERY_ERROR_HANDLE, "not a live context");
    };
    refused(enginery_context_set_input(handle, "x", x_.data(), kTensorBytes));
    refused(enginery_context_set_output(handle, "y", y_.data(), kTensorBytes));
    refused(enginery_context_run(handle));
    refused(enginery_context_profile(handle, 1, nullptr, nullptr));
    if (handle) refused(enginery_context_destroy(handle));
  }
  const auto no_engine = reinterpret_cast<enginery_engine*>(context_);
  enginery_engine_info info{};
  info.struct_size = sizeof info;
  for (enginery_engine* handle : {no_engine, static_cast<enginery_engine*>(nullptr)}) {
    const auto refused = [](enginery_status status) {
      expect_error(status, ENGINERY_ERROR_HANDLE, "not a live engine");
    };
    refused(enginery_engine_get_info(handle, &info));
    refused(enginery_engine_get_tensor(handle, 0, nullptr));
    refused(enginery_context_create(handle, &gone));
    if (handle) refused(enginery_engine_destroy(handle));
  }
  expect_ok(enginery_context_destroy(nullptr));
  expect_ok(enginery_engine_destroy(nullptr));
  expect_error(enginery_context_create(engine_, nullptr), ENGINERY_ERROR_INVALID_ARGUMENT,
               "place for the context is null");
  expect_unharmed();
}

TEST_F(CMisuse, AContextOutlivesItsEngine) {
  expect_ok(enginery_engine_destroy(engine_));
  expect_unharmed();
  expect_error(enginery_engine_destroy(engine_), ENGINERY_ERROR_HANDLE, "destroyed before");
  engine_ = nullptr;
}

// A callback runs inside a call: that context is busy, from this thread and from any other.
TEST_F(CMisuse, ACallOnAContextThatIsInUseIsRefused) {
  set_all();
  expect_ok(enginery_context_run(context_));
  const std::function<void()> calls = [this] {
    const auto refused = [](enginery_status status) {
      expect_error(status, ENGINERY_ERROR_BUSY, "make one for each thread");
    };
    refused(enginery_context_run(context_));
    refused(enginery_context_destroy(context_));
    refused(enginery_context_set_input(context_, "x", x_.data(), kTensorBytes));
    std::thread([&] { refused(enginery_context_run(context_)); }).join();
  };
  const auto report = [](void* user, int32_t, const enginery_layer_info*) {
    (*static_cast<const std::function<void()>*>(user))();
  };
  expect_ok(enginery_context_profile(context_, 1, report,
                                     const_cast<void*>(static_cast<const void*>(&calls))));
  expect_ok(enginery_context_run(context_));
}

TEST_F(CMisuse, ThrowingFromACallbackIsAnError) {
  set_all();
  expect_ok(enginery_context_run(context_));
  const auto report = [](void*, int32_t, const enginery_layer_info*) {
    throw std::runtime_error("mine");
  };
  expect_error(enginery_context_profile(context_, 1, report, nullptr), ENGINERY_ERROR_INTERNAL,
               "mine");
  expect_ok(enginery_context_run(context_));
}

// Threads that all try: each call ends as a run or as BUSY, and at least one runs.
TEST_F(CMisuse, ManyThreadsOnOneContextGetAnError) {
  set_all();
  std::atomic<int> ran = 0;
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int n = 0; n < 20; ++n) {
        const enginery_status status = enginery_context_run(context_);
        EXPECT_TRUE(status == ENGINERY_OK || status == ENGINERY_ERROR_BUSY) << status;
        ran += status == ENGINERY_OK;
      }
    });
  }
  threads.clear();
  EXPECT_GT(ran, 0);
}

TEST_F(CMisuse, ErrorsAreTheThreadsOwn) {
  expect_error(enginery_context_run(context_), ENGINERY_ERROR_NOT_SET, "input 'x'");
  std::thread([] { EXPECT_STREQ(enginery_last_error(), ""); }).join();
  expect_error(ENGINERY_ERROR_NOT_SET, ENGINERY_ERROR_NOT_SET, "input 'x'");
}

}  // namespace
}  // namespace enginery::test
