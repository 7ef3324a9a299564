#include "engine/device/cpu/cpu_device.h"

#include <gtest/gtest.h>
#include <omp.h>
#include <sched.h>
#include <xmmintrin.h>

#include <thread>

#include "engine/device/cpu/cpu_properties.h"
#include "engine/device/cpu/cpu_stream.h"
#include "engine/device/measurer.h"

namespace enginery {
namespace {

std::unique_ptr<Device> lowest_device(int threads = 0) {
  DeviceOptions options;
  options.threads = threads;
  return open_device("cpu-sse41", options).value();
}

TEST(OpenDevice, NamesWhatWasMeantForAnUnknownSku) {
  auto device = open_device("cpu-axv2", {});
  ASSERT_FALSE(device.ok());
  EXPECT_EQ(device.error().code, ErrorCode::not_found);
  EXPECT_NE(device.error().message.find("cpu-avx2"), std::string::npos) << device.error().message;
}

TEST(OpenDevice, RefusesAnInstructionSetThatTheCpuLacks) {
  auto isas = supported_cpu_isas();
  if (!isas.empty() && isas.back() == CpuIsa::amx)
    GTEST_SKIP() << "this CPU has every instruction set of the table";
  auto device = open_device("cpu-amx", {});
  ASSERT_FALSE(device.ok());
  EXPECT_EQ(device.error().code, ErrorCode::incompatible);
}

TEST(OpenDevice, RefusesAnAbsurdNumberOfThreads) {
  DeviceOptions options;
  options.threads = 100000;
  auto device = open_device("cpu-sse41", options);
  ASSERT_FALSE(device.ok());
  EXPECT_EQ(device.error().code, ErrorCode::invalid_argument);
}

TEST(CpuDevice, FingerprintHasEveryFactOfTheTimingKey) {
  auto device = lowest_device(1);
  std::vector<std::string> names;
  for (const auto& [name, value] : device->info().hardware) {
    names.push_back(name);
    EXPECT_FALSE(value.empty()) << name;
  }
  EXPECT_EQ(names,
            (std::vector<std::string>{"vendor", "family", "model", "stepping", "name",
                                      "instruction_set", "threads", "l2_bytes", "l3_bytes"}));
  EXPECT_EQ(device->info().software.at(0).first, "onednn");
  EXPECT_EQ(device->info().threads, 1);
  EXPECT_FALSE(device->info().physical_id.empty());
}

TEST(CpuDevice, MemoryIsAlignedAndAnImpossibleSizeIsAnError) {
  auto device = lowest_device();
  for (size_t bytes : {size_t{0}, size_t{1}, size_t{1000}, size_t{8} << 20}) {
    auto memory = device->allocate(bytes);
    ASSERT_TRUE(memory.ok());
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory->data()) % 64, 0u);
    EXPECT_EQ(memory->bytes(), bytes);
  }
  auto huge = device->allocate(size_t{1} << 50);
  ASSERT_FALSE(huge.ok());
  EXPECT_EQ(huge.error().code, ErrorCode::out_of_memory);
}

TEST(CpuDevice, RecordRunsOnceAndEachLaunchOnceMore) {
  auto device = lowest_device(1);
  auto stream = device->create_stream().value();
  int runs = 0;
  auto sequence = device->record(*stream, [&](Stream&) { return ++runs, Status(); }).value();
  EXPECT_EQ(runs, 1);
  ASSERT_TRUE(sequence->launch(*stream).ok());
  ASSERT_TRUE(sequence->launch(*stream).ok());
  EXPECT_EQ(runs, 3);
}

TEST(CpuDevice, ComputesWithoutDenormalsInEveryThreadAndRestoresTheCallers) {
  auto device = lowest_device(2);
  auto stream = device->create_stream().value();
  unsigned before = _mm_getcsr();
  int threads = 0, flushing = 0;
  auto count = [&](Stream&) -> Status {
#pragma omp parallel reduction(+ : threads, flushing)
    {
      ++threads;
      flushing += (_mm_getcsr() & 0x8040) == 0x8040;
    }
    return {};
  };
  ASSERT_TRUE(device->record(*stream, count).ok());
  EXPECT_EQ(threads, 2);
  EXPECT_EQ(flushing, 2);
  EXPECT_EQ(_mm_getcsr(), before);
}

TEST(CpuDevice, LeavesTheCallingThreadAsFreeAsItWas) {
  cpu_set_t before, after;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  auto device = lowest_device();
  auto stream = device->create_stream().value();
  ASSERT_TRUE(device->record(*stream, [](Stream&) { return Status(); }).ok());
  ASSERT_EQ(sched_getaffinity(0, sizeof after, &after), 0);
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
}

TEST(CpuDevice, StreamMayMoveToAnotherThread) {
  auto device = lowest_device(2);
  auto stream = device->create_stream().value();
  int threads = 0;
  auto count = [&](Stream&) -> Status {
#pragma omp parallel reduction(+ : threads)
    ++threads;
    return {};
  };
  ASSERT_TRUE(device->record(*stream, count).ok());
  std::thread other([&] { ASSERT_TRUE(device->record(*stream, count).ok()); });
  other.join();
  EXPECT_EQ(threads, 4);
}

TEST(CpuTeams, NeighbouringTeamsTakeNeighbouringCores) {
  if (omp_get_proc_bind() != omp_proc_bind_false) GTEST_SKIP() << "OMP_PROC_BIND is set";
  CpuTeams teams(2, {4, 5, 6, 7});
  EXPECT_TRUE(teams.bound());
  EXPECT_EQ(teams.cores_of_this_thread(), (std::vector<int>{4, 5}));
  std::vector<int> others;
  std::thread([&] { others = teams.cores_of_this_thread(); }).join();
  EXPECT_EQ(others, (std::vector<int>{6, 7}));
  EXPECT_EQ(teams.cores_of_this_thread(), (std::vector<int>{4, 5}));
  EXPECT_FALSE(CpuTeams(8, {0, 1}).bound());
}

TEST(CpuMeasurer, TimesASleep) {
  auto device = lowest_device(1);
  auto stream = device->create_stream().value();
  auto sequence = device
                      ->record(*stream,
                               [](Stream&) {
                                 std::this_thread::sleep_for(std::chrono::milliseconds(2));
                                 return Status();
                               })
                      .value();
  auto time = device->measurer()->time_us(*stream, *sequence);
  ASSERT_TRUE(time.ok());
  EXPECT_GE(*time, 2000);
  EXPECT_LT(*time, 2e6);
}

TEST(CpuMeasurer, SeesTheLoadOfOthersAsAShare) {
  auto device = lowest_device(1);
  double load = device->measurer()->state().foreign_load;
  EXPECT_GE(load, 0);
  EXPECT_LE(load, 1);
}

}  // namespace
}  // namespace enginery
