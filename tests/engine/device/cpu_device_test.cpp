#include "engine/device/cpu/cpu_device.h"

#include <gtest/gtest.h>
#include <omp.h>
#include <sched.h>
#include <xmmintrin.h>

#include <atomic>
#include <thread>

#include "engine/base/parallel.h"
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

// Records what `enqueue` does and launches it.
Status run_once(Device& device, Stream& stream, const Enqueue& enqueue) {
  TRY(auto list, device.record(stream, enqueue));
  return list->launch(stream);
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
  EXPECT_EQ(names, (std::vector<std::string>{"vendor", "family", "model", "stepping", "name",
                                             "instruction_set", "threads", "l2_bytes", "l3_bytes",
                                             "cores", "physical_cores"}));
  EXPECT_EQ(device->info().software.at(0).first, "onednn");
  EXPECT_EQ(device->info().threads, 1);
  EXPECT_FALSE(device->info().physical_id.empty());
}

TEST(PhysicalCores, AreAtMostTheLogicalOnesAndAtLeastOne) {
  const std::vector<int> all = allowed_cores();
  EXPECT_GE(physical_cores(all), 1);
  EXPECT_LE(physical_cores(all), static_cast<int>(all.size()));
  EXPECT_EQ(physical_cores({all[0], all[0]}), 1) << "a core is its own sibling";
  EXPECT_EQ(physical_cores({100'000, 100'001}), 2) << "of which the system does not tell";
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

TEST(CpuDevice, RecordRunsNothingAndEachLaunchOnce) {
  auto device = lowest_device(1);
  auto stream = device->create_stream().value();
  int runs = 0;
  auto sequence = device->record(*stream, [&](Stream&) { return ++runs, Status(); }).value();
  EXPECT_EQ(runs, 0);
  ASSERT_TRUE(sequence->launch(*stream).ok());
  ASSERT_TRUE(sequence->launch(*stream).ok());
  EXPECT_EQ(runs, 2);
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
  ASSERT_TRUE(run_once(*device, *stream, count).ok());
  EXPECT_EQ(threads, 2);
  EXPECT_EQ(flushing, 2);
  EXPECT_EQ(_mm_getcsr(), before);
}

constexpr unsigned kControlBits = 0xffc0;  // of MXCSR: without what earlier arithmetic left in it

// What a program with parallel loops of its own can see of its threads.
struct HostThreads {
  explicit HostThreads(int threads) : modes(static_cast<size_t>(threads)), cores(modes.size()) {
    region_size = omp_get_max_threads();
#pragma omp parallel num_threads(threads)
    {
      const auto i = static_cast<size_t>(omp_get_thread_num());
      modes[i] = _mm_getcsr() & kControlBits;
      cpu_set_t set;
      sched_getaffinity(0, sizeof set, &set);
      cores[i] = CPU_COUNT(&set);
    }
  }
  bool operator==(const HostThreads&) const = default;
  int region_size = 0;
  std::vector<unsigned> modes;
  std::vector<int> cores;  // how many each may run on
};

TEST(CpuDevice, LeavesItsHostsThreadsAsTheyWere) {
  const int was = omp_get_max_threads();
  for (const int host_threads : {1, 2, 3}) {
    omp_set_num_threads(host_threads);
    const HostThreads before(2);
    auto device = lowest_device(2);
    auto stream = device->create_stream().value();
    ASSERT_TRUE(run_once(*device, *stream, [](Stream&) { return Status(); }).ok());
    EXPECT_TRUE(HostThreads(2) == before) << host_threads << " threads";
    // Also where a launch fails, and where one stream computes inside another's turn.
    auto inner = device->create_stream().value();
    EXPECT_FALSE(run_once(*device, *stream, [&](Stream&) -> Status {
                   CHECK_OK(run_once(*device, *inner, [](Stream&) { return Status(); }));
                   return Error{ErrorCode::internal, "planted"};
                 }).ok());
    EXPECT_TRUE(HostThreads(2) == before) << host_threads << " threads";
  }
  omp_set_num_threads(was);
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
  ASSERT_TRUE(run_once(*device, *stream, count).ok());
  std::thread other([&] { ASSERT_TRUE(run_once(*device, *stream, count).ok()); });
  other.join();
  EXPECT_EQ(threads, 4);
}

TEST(CpuTeams, NeighbouringTeamsTakeNeighbouringCores) {
  if (omp_get_proc_bind() != omp_proc_bind_false) GTEST_SKIP() << "OMP_PROC_BIND is set";
  const CpuTeams teams(2, {4, 5, 6, 7});
  EXPECT_TRUE(teams.bound());
  EXPECT_EQ(teams.cores_of(0), (std::vector<int>{4, 5}));
  EXPECT_EQ(teams.cores_of(1), (std::vector<int>{6, 7}));
  EXPECT_EQ(teams.cores_of(2), (std::vector<int>{4, 5}));
  EXPECT_FALSE(CpuTeams(8, {0, 1}).bound());
}

// A program that starts a thread for each request must not use up the seats.
TEST(CpuTeams, AThreadsSeatIsFreeAgainWhenNobodyHoldsIt) {
  CpuTeams teams(1, {0, 1});
  const CpuTeams::Seat own = teams.seat_of_this_thread();
  EXPECT_EQ(*own, 0u);
  EXPECT_EQ(teams.seat_of_this_thread(), own);
  for (int i = 0; i < 3; ++i)
    std::thread([&] { EXPECT_EQ(*teams.seat_of_this_thread(), 1u); }).join();
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

TEST(CpuMeasurer, TellsItsStateToManyThreadsAtOnce) {
  auto device = lowest_device(1);
  // Longer than the interval over which a load is measured, so that it is measured again meanwhile.
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(250);
  std::vector<std::jthread> threads;
  std::atomic<int> wrong = 0;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      while (std::chrono::steady_clock::now() < end) {
        const double load = device->measurer()->state().foreign_load;
        if (!(load >= 0 && load <= 1)) ++wrong;
      }
    });
  }
  threads.clear();
  EXPECT_EQ(wrong, 0);
}

TEST(CpuMeasurer, SeesTheLoadOfOthersAsAShare) {
  auto device = lowest_device(1);
  double load = device->measurer()->state().foreign_load;
  EXPECT_GE(load, 0);
  EXPECT_LE(load, 1);
}

}  // namespace
}  // namespace enginery
