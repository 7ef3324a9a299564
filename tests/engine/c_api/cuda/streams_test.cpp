// A program that uses a GPU itself: its own streams, memory and CUDA graphs with an engine between,
// compared with runs from host memory, bit for bit.
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "engine/device/cuda/driver.h"
#include "enginery/enginery.h"

namespace enginery::test {
namespace {

using Host = std::vector<std::vector<char>>;  // of each tensor, inputs first

class CStreams : public testing::Test {
 protected:
  void SetUp() override {
    const char* const file = std::getenv("ENGINERY_GPU_ENGINE");
    if (!file) GTEST_SKIP() << "ENGINERY_GPU_ENGINE names no engine";
    auto opened = Driver::open();
    if (!opened.ok()) GTEST_SKIP() << opened.error().message;
    driver_ = std::make_unique<Driver>(std::move(*opened));
    CUcontext primary = nullptr;
    expect(driver_->cuDevicePrimaryCtxRetain(&primary, 0));
    expect(driver_->cuCtxSetCurrent(primary));
    expect(driver_->cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING));
    enginery_load_options options{};
    options.struct_size = sizeof options;
    options.keys_folder = std::getenv("ENGINERY_GPU_KEYS");
    expect(enginery_engine_load_file(file, &options, &engine_));
    expect(enginery_context_create(engine_, &context_));
    enginery_engine_info info{};
    info.struct_size = sizeof info;
    expect(enginery_engine_get_info(engine_, &info));
    ASSERT_STREQ(info.device, "cuda");
    for (int32_t i = 0; i < info.inputs + info.outputs; ++i) {
      enginery_tensor_info tensor{};
      tensor.struct_size = sizeof tensor;
      expect(enginery_engine_get_tensor(engine_, i, &tensor));
      tensors_.push_back(tensor);
      memory_.push_back(allocated(tensor.bytes));
    }
  }

  static void expect(enginery_status status) {
    ASSERT_EQ(status, ENGINERY_OK) << enginery_last_error();
  }
  static void expect(CUresult result) { ASSERT_EQ(result, CUDA_SUCCESS); }
  static void expect_refused(enginery_status status, const std::string& words) {
    EXPECT_EQ(status, ENGINERY_ERROR_INVALID_ARGUMENT);
    EXPECT_NE(std::string(enginery_last_error()).find(words), std::string::npos)
        << enginery_last_error();
  }

  CUdeviceptr allocated(size_t bytes) {
    CUdeviceptr memory = 0;
    expect(driver_->cuMemAlloc_v2(&memory, bytes));
    return memory;
  }
  void copy(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
    expect(driver_->cuMemcpyAsync(to, from, bytes, stream_));
    expect(driver_->cuStreamSynchronize(stream_));
  }

  // Inputs with values of the seed, outputs zero. Float32 inputs get numbers between 0 and 1.
  Host made(unsigned seed) const {
    Host out;
    for (const enginery_tensor_info& tensor : tensors_) {
      auto& bytes = out.emplace_back(tensor.bytes, 0);
      if (!tensor.is_input) continue;
      auto* const values = reinterpret_cast<float*>(bytes.data());
      if (tensor.type != ENGINERY_FLOAT32) continue;
      for (size_t i = 0; i < tensor.bytes / sizeof(float); ++i) {
        seed = seed * 1664525u + 1013904223u;
        values[i] = static_cast<float>(seed >> 8) / static_cast<float>(1u << 24);
      }
    }
    return out;
  }
  void set(const enginery_tensor_info& tensor, void* data, enginery_memory memory) {
    expect(tensor.is_input
               ? enginery_context_set_input_in(context_, tensor.name, data, tensor.bytes, memory)
               : enginery_context_set_output_in(context_, tensor.name, data, tensor.bytes, memory));
  }
  // What a run from host memory leaves in the tensors.
  Host run_from_host(unsigned seed) {
    Host host = made(seed);
    for (size_t i = 0; i < tensors_.size(); ++i)
      set(tensors_[i], host[i].data(), ENGINERY_MEMORY_HOST);
    expect(enginery_context_run(context_));
    return host;
  }
  void bind_device_memory() {
    for (size_t i = 0; i < tensors_.size(); ++i)
      set(tensors_[i], reinterpret_cast<void*>(memory_[i]), ENGINERY_MEMORY_DEVICE);
  }
  void upload(const Host& host) {
    for (size_t i = 0; i < tensors_.size(); ++i)
      copy(memory_[i], reinterpret_cast<CUdeviceptr>(host[i].data()), host[i].size());
  }
  Host download() {
    Host host = made(0);
    for (size_t i = 0; i < tensors_.size(); ++i)
      copy(reinterpret_cast<CUdeviceptr>(host[i].data()), memory_[i], host[i].size());
    return host;
  }

  std::unique_ptr<Driver> driver_;
  CUstream stream_ = nullptr;
  enginery_engine* engine_ = nullptr;
  enginery_context* context_ = nullptr;
  std::vector<enginery_tensor_info> tensors_;
  std::vector<CUdeviceptr> memory_;
};

TEST_F(CStreams, EnqueuesOnAStreamOfTheProgram) {
  const Host wanted = run_from_host(1);
  bind_device_memory();
  // Step by step, recorded, and from the recording.
  for (int round = 0; round < 3; ++round) {
    upload(made(1));
    expect(enginery_context_enqueue(context_, stream_));
    expect(driver_->cuStreamSynchronize(stream_));
    EXPECT_EQ(download(), wanted) << "round " << round;
  }
}

TEST_F(CStreams, FollowsTheMemoryThatIsSet) {
  const Host first = run_from_host(1), second = run_from_host(2);
  bind_device_memory();
  for (int round = 0; round < 3; ++round) {
    for (size_t i = 0; i < memory_.size(); ++i) memory_[i] = allocated(tensors_[i].bytes);
    bind_device_memory();
    const bool odd = round % 2 == 1;
    for (int again = 0; again < 2; ++again) {
      upload(made(odd ? 2 : 1));
      expect(enginery_context_enqueue(context_, stream_));
      expect(driver_->cuStreamSynchronize(stream_));
      EXPECT_EQ(download(), odd ? second : first) << "round " << round;
    }
  }
}

TEST_F(CStreams, IsCapturedIntoAGraphOfTheProgram) {
  const Host first = run_from_host(1), second = run_from_host(2);
  bind_device_memory();
  upload(made(1));
  expect(enginery_context_enqueue(context_, stream_));
  expect(driver_->cuStreamSynchronize(stream_));
  upload(made(2));  // the capture itself runs nothing
  const Host before = download();
  expect(driver_->cuStreamBeginCapture_v2(stream_, CU_STREAM_CAPTURE_MODE_GLOBAL));
  expect(enginery_context_enqueue(context_, stream_));
  CUgraph graph = nullptr;
  expect(driver_->cuStreamEndCapture(stream_, &graph));
  EXPECT_EQ(download(), before);
  CUgraphExec exec = nullptr;
  expect(driver_->cuGraphInstantiateWithFlags(&exec, graph, 0));
  for (const unsigned seed : {2u, 1u, 2u}) {
    upload(made(seed));
    expect(driver_->cuGraphLaunch(exec, stream_));
    expect(driver_->cuStreamSynchronize(stream_));
    EXPECT_EQ(download(), seed == 1 ? first : second);
  }
  expect(driver_->cuGraphExecDestroy(exec));
  expect(driver_->cuGraphDestroy(graph));
}

TEST_F(CStreams, RunsInMemoryOfTheDeviceAndWaits) {
  const Host wanted = run_from_host(3);
  bind_device_memory();
  upload(made(3));
  expect(enginery_context_run(context_));
  EXPECT_EQ(download(), wanted);
}

TEST_F(CStreams, RefusesMemoryThatTheGpuCannotUse) {
  Host host = made(1);
  const enginery_tensor_info& input = tensors_[0];
  const auto set_input = [&](void* data) {
    return enginery_context_set_input_in(context_, input.name, data, input.bytes,
                                         ENGINERY_MEMORY_DEVICE);
  };
  void* const aligned =
      reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(host[0].data() + 255) / 256 * 256);
  expect_refused(set_input(aligned), "is not all on a GPU");
  expect_refused(set_input(reinterpret_cast<void*>(memory_[0] + 4)), "multiple of 256");
  bind_device_memory();
  set(input, host[0].data(), ENGINERY_MEMORY_HOST);
  expect_refused(enginery_context_enqueue(context_, stream_), "is in host memory");
}

}  // namespace
}  // namespace enginery::test
