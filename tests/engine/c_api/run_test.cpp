// The C interface as it is meant: what an engine says of itself, what runs give, from a file and
// from memory, in several contexts.
#include <algorithm>
#include <cstdlib>
#include <thread>

#include "engine/base/log.h"
#include "tests/engine/c_api/c_fixture.h"

namespace enginery::test {
namespace {

using CRun = CInterface;

// The outputs that the C++ runtime gives on the fixture's inputs.
std::vector<float> expected_outputs(const SignedFile& file, const std::vector<float>& x) {
  auto context = file.load().value().create_context().value();
  std::vector<float> y(x.size());
  const void* inputs[] = {x.data(), x.data()};
  void* outputs[] = {y.data()};
  EXPECT_TRUE(context.run(inputs, outputs).ok());
  return y;
}

TEST_F(CRun, GivesWhatTheRuntimeGives) {
  set_all();
  expect_ok(enginery_context_run(context_));
  EXPECT_EQ(y_, expected_outputs(*file_, x_));
}

TEST_F(CRun, WritesToTheOutputThatWasSetLast) {
  set_all();
  std::vector<float> other(kElements);
  expect_ok(enginery_context_set_output(context_, "y", other.data(), kTensorBytes));
  expect_ok(enginery_context_run(context_));
  EXPECT_EQ(other, expected_outputs(*file_, x_));
  EXPECT_EQ(y_, std::vector<float>(kElements));
}

TEST_F(CRun, DescribesTheEngine) {
  enginery_engine_info info{};
  info.struct_size = sizeof info;
  expect_ok(enginery_engine_get_info(engine_, &info));
  const Engine loaded = file_->load().value();
  const EngineInfo& own = loaded.info();
  EXPECT_STREQ(info.name, "small");
  EXPECT_STREQ(info.sku, "cpu-sse41");
  EXPECT_EQ(info.digest, own.digest);
  EXPECT_EQ(info.signer, own.signer);
  EXPECT_EQ(info.inputs, 2);
  EXPECT_EQ(info.outputs, 1);
  EXPECT_EQ(info.threads, 1);
  EXPECT_EQ(static_cast<size_t>(info.layers), own.layers.size());
  EXPECT_EQ(info.context_bytes, own.arena_bytes);
  EXPECT_GT(info.weights_bytes, 0);
}

TEST_F(CRun, ListsInputsThenOutputs) {
  const struct {
    const char* name;
    int32_t is_input;
  } wanted[] = {{"x", 1}, {"z", 1}, {"y", 0}};
  for (int32_t i = 0; i < 3; ++i) {
    enginery_tensor_info info{};
    info.struct_size = sizeof info;
    expect_ok(enginery_engine_get_tensor(engine_, i, &info));
    EXPECT_STREQ(info.name, wanted[i].name);
    EXPECT_EQ(info.is_input, wanted[i].is_input);
    EXPECT_EQ(info.type, ENGINERY_FLOAT32);
    EXPECT_EQ(std::vector<int64_t>(info.dims, info.dims + info.rank),
              (std::vector<int64_t>{1, 32, 40, 40}));
    EXPECT_EQ(info.bytes, kTensorBytes);
  }
}

TEST_F(CRun, LoadsFromMemoryThatMayThenBeFreed) {
  enginery_engine* loaded = nullptr;
  {
    const Bytes bytes = read_file(file_->file()).value();
    expect_ok(enginery_engine_load_memory(bytes.data(), bytes.size(), &load_options_, &loaded));
  }
  enginery_context_destroy(context_);
  expect_ok(enginery_context_create(loaded, &context_));
  expect_ok(enginery_engine_destroy(loaded));
  set_all();
  expect_ok(enginery_context_run(context_));
  EXPECT_EQ(y_, expected_outputs(*file_, x_));
}

TEST_F(CRun, ReadsBorrowedMemoryInPlace) {
  const Bytes bytes = read_file(file_->file()).value();
  const size_t rows = bytes.size() / 64 + 2;  // whole ones, as aligned_alloc asks
  const std::unique_ptr<void, void (*)(void*)> memory(std::aligned_alloc(64, rows * 64), std::free);
  char* const at = static_cast<char*>(memory.get());
  std::copy(bytes.begin(), bytes.end(), at);
  load_options_.borrow_memory = 1;
  enginery_engine* loaded = nullptr;
  expect_error(enginery_engine_load_memory(at + 4, bytes.size(), &load_options_, &loaded),
               ENGINERY_ERROR_INVALID_ARGUMENT, "multiple of 64");
  expect_ok(enginery_engine_load_memory(at, bytes.size(), &load_options_, &loaded));
  enginery_context_destroy(context_);
  expect_ok(enginery_context_create(loaded, &context_));
  set_all();
  expect_ok(enginery_context_run(context_));
  EXPECT_EQ(y_, expected_outputs(*file_, x_));
  expect_ok(enginery_context_destroy(context_));
  context_ = nullptr;
  expect_ok(enginery_engine_destroy(loaded));
}

TEST_F(CRun, ComputesInTheCallersMemoryAndNowhereElse) {
  enginery_engine_info info{};
  info.struct_size = sizeof info;
  expect_ok(enginery_engine_get_info(engine_, &info));
  const auto needed = static_cast<size_t>(info.context_bytes);
  ASSERT_GT(needed, 0u);
  constexpr size_t kMargin = 4096;
  std::vector<char> memory(needed + 2 * kMargin, 7);
  char* const at = reinterpret_cast<char*>(
      (reinterpret_cast<uintptr_t>(memory.data()) + kMargin / 2) / 256 * 256 + 256);
  enginery_context_destroy(context_);
  context_ = nullptr;
  const auto create = [&](void* from, size_t bytes) {
    return enginery_context_create_in(engine_, from, bytes, &context_);
  };
  expect_error(create(nullptr, needed), ENGINERY_ERROR_INVALID_ARGUMENT, "is null");
  expect_error(create(at, needed - 1), ENGINERY_ERROR_INVALID_ARGUMENT, "and it takes");
  expect_error(create(at + 64, needed), ENGINERY_ERROR_INVALID_ARGUMENT, "multiple of 256");
  EXPECT_EQ(context_, nullptr);
  expect_ok(create(at, needed));
  set_all();
  expect_ok(enginery_context_run(context_));
  EXPECT_EQ(y_, expected_outputs(*file_, x_));
  EXPECT_NE(std::count(at, at + needed, 7), static_cast<std::ptrdiff_t>(needed));
  EXPECT_EQ(std::count(memory.data(), at, 7), at - memory.data());
  char* const end = memory.data() + memory.size();
  EXPECT_EQ(std::count(at + needed, end, 7), end - (at + needed));
}

TEST_F(CRun, ReportsEveryLayer) {
  set_all();
  expect_ok(enginery_context_run(context_));
  std::vector<std::string> layers;
  const auto report = [](void* user, int32_t index, const enginery_layer_info* layer) {
    auto& names = *static_cast<std::vector<std::string>*>(user);
    EXPECT_EQ(static_cast<size_t>(index), names.size());
    EXPECT_EQ(layer->struct_size, sizeof *layer);
    EXPECT_GE(layer->median_us, 0);
    names.push_back(layer->name);
  };
  expect_ok(enginery_context_profile(context_, 2, report, &layers));
  std::vector<std::string> wanted;
  const Engine loaded = file_->load().value();
  for (const LayerInfo& layer : loaded.info().layers) wanted.push_back(layer.name);
  EXPECT_EQ(layers, wanted);
}

TEST_F(CRun, SeveralContextsRunAtOnce) {
  const std::vector<float> wanted = expected_outputs(*file_, x_);
  std::vector<std::jthread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      enginery_context* own = nullptr;
      expect_ok(enginery_context_create(engine_, &own));
      std::vector<float> y(kElements);
      expect_ok(enginery_context_set_input(own, "x", x_.data(), kTensorBytes));
      expect_ok(enginery_context_set_input(own, "z", z_.data(), kTensorBytes));
      expect_ok(enginery_context_set_output(own, "y", y.data(), kTensorBytes));
      for (int n = 0; n < 3; ++n) expect_ok(enginery_context_run(own));
      EXPECT_EQ(y, wanted);
      expect_ok(enginery_context_destroy(own));
    });
  }
}

TEST(CLog, GoesToTheCallersFunction) {
  std::vector<std::string> lines;
  const auto keep = [](void* user, int32_t level, const char* message) {
    static_cast<std::vector<std::string>*>(user)->push_back(std::to_string(level) + message);
  };
  ASSERT_EQ(enginery_set_log(keep, &lines, 2), ENGINERY_OK);
  log_warning("one");
  log_info("too little");
  log_error("two");
  ASSERT_EQ(enginery_set_log(nullptr, nullptr, 2), ENGINERY_OK);
  EXPECT_EQ(lines, (std::vector<std::string>{"2one", "3two"}));
  EXPECT_EQ(enginery_set_log(keep, nullptr, 5), ENGINERY_ERROR_INVALID_ARGUMENT);
}

TEST(CNames, AreOfEveryStatusAndType) {
  EXPECT_STREQ(enginery_status_name(ENGINERY_OK), "ok");
  EXPECT_STREQ(enginery_status_name(ENGINERY_ERROR_UNTRUSTED), to_string(ErrorCode::untrusted));
  EXPECT_STREQ(enginery_status_name(ENGINERY_ERROR_BUSY), "busy");
  EXPECT_STREQ(enginery_status_name(77), "unknown status");
  EXPECT_STREQ(enginery_status_name(-1), "unknown status");
  for (int t = 0; t < kDataTypeCount; ++t) {
    EXPECT_EQ(enginery_type_name(t), to_string(static_cast<DataType>(t)));
    EXPECT_EQ(enginery_type_bytes(t), static_cast<size_t>(element_bytes(static_cast<DataType>(t))));
  }
  EXPECT_STREQ(enginery_type_name(kDataTypeCount), "unknown type");
  EXPECT_EQ(enginery_type_bytes(-1), 0u);
}

}  // namespace
}  // namespace enginery::test
