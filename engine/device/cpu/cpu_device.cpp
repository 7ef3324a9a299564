#include "engine/device/cpu/cpu_device.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <latch>
#include <system_error>
#include <thread>

#include "engine/base/huge_pages.h"
#include "engine/base/parallel.h"
#include "engine/device/cpu/cpu_measurer.h"
#include "engine/device/cpu/cpu_properties.h"
#include "engine/device/cpu/cpu_stream.h"
#include "engine/device/interop.h"

namespace enginery {
namespace {

constexpr size_t kAlignment = 64;
constexpr int kMaxThreads = 1024;

class CpuSequence final : public CommandList {
 public:
  explicit CpuSequence(Enqueue enqueue) : enqueue_(std::move(enqueue)) {}
  Status launch(Stream& stream) override {
    ComputeScope scope(stream);
    return enqueue_(stream);
  }

 private:
  const Enqueue enqueue_;
};

// Whether as many threads can be started as a team has: OpenMP ends the process where it finds that
// they cannot. Errors: out_of_memory.
Status require_threads(int threads) {
  std::latch all_tried(1);
  std::vector<std::jthread> helpers;
  Status status;
  for (int i = 1; i < threads && status.ok(); ++i) {
    try {
      helpers.emplace_back([&] { all_tried.wait(); });
    } catch (const std::system_error&) {
      status =
          Error{ErrorCode::out_of_memory, "start " + std::to_string(threads) + " threads: only " +
                                              std::to_string(i) + " can be started here"};
    }
  }
  all_tried.count_down();
  return status;
}

class CpuDevice final : public Device, public Interop {
 public:
  CpuDevice(DeviceInfo info, std::vector<int> cores)
      : info_(std::move(info)),
        teams_(std::make_shared<CpuTeams>(info_.threads, cores)),
        measurer_(make_cpu_measurer(cores)) {}

  const DeviceInfo& info() const override { return info_; }

  Result<DeviceMemory> allocate(size_t bytes) override {
    Error full{ErrorCode::out_of_memory,
               "allocate " + std::to_string(bytes) + " bytes of host memory"};
    // The kernel promises more memory than it has: what can't fit at all is refused here, not by
    // the OOM killer.
    if (bytes > static_cast<size_t>(info_.memory_bytes)) return full;
    size_t alignment = bytes >= 2 * kHugePage ? kHugePage : kAlignment;
    size_t rounded = (std::max<size_t>(bytes, 1) + alignment - 1) / alignment * alignment;
    void* data = std::aligned_alloc(alignment, rounded);
    if (!data) return full;
    if (alignment == kHugePage) prefer_huge_pages(data, rounded);
    return DeviceMemory(data, bytes, [](void* p) { std::free(p); });
  }

  Result<std::unique_ptr<Stream>> create_stream() override {
    CHECK_OK(require_threads(info_.threads));
    return std::unique_ptr<Stream>(std::make_unique<CpuStream>(teams_));
  }

  Status copy(Stream&, void* to, const void* from, size_t bytes, CopyKind) override {
    if (bytes > 0 && to != from) std::memcpy(to, from, bytes);
    return {};
  }

  Status fill(Stream&, void* to, uint8_t byte, size_t bytes) override {
    if (bytes > 0) std::memset(to, byte, bytes);
    return {};
  }

  // The calls are the record: nothing runs before the first launch.
  Result<std::unique_ptr<CommandList>> record(Stream&, const Enqueue& enqueue) override {
    return std::unique_ptr<CommandList>(std::make_unique<CpuSequence>(enqueue));
  }

  Measurer* measurer() override { return measurer_.get(); }

  Result<BorrowedStream> borrow_stream(void* handle) override {
    if (!handle) return BorrowedStream{std::make_unique<CpuStream>(teams_)};
    return Error{ErrorCode::invalid_argument, "a CPU has no streams: expected a null one"};
  }
  Status require_memory(const void*, size_t) override { return {}; }

 private:
  const DeviceInfo info_;
  const std::shared_ptr<CpuTeams> teams_;
  const std::unique_ptr<Measurer> measurer_;
};

DeviceInfo describe(const SkuRow& row, int threads, const std::vector<int>& cores) {
  CpuIdentity id = read_cpu_identity();
  DeviceInfo info;
  info.kind = DeviceKind::cpu;
  info.sku = row.name;
  info.name = id.name;
  info.physical_id = cpu_physical_id();
  info.hardware = {{"vendor", id.vendor},
                   {"family", std::to_string(id.family)},
                   {"model", std::to_string(id.model)},
                   {"stepping", std::to_string(id.stepping)},
                   {"name", id.name},
                   {"instruction_set", std::string(to_string(row.isa))},
                   {"threads", std::to_string(threads)},
                   {"l2_bytes", std::to_string(id.l2_bytes)},
                   {"l3_bytes", std::to_string(id.l3_bytes)},
                   {"cores", std::to_string(cores.size())},
                   {"physical_cores", std::to_string(physical_cores(cores))}};
  info.software = cpu_software_properties();
  info.threads = threads;
  info.compute_units = static_cast<int>(cores.size());
  info.memory_bytes = id.memory_bytes;
  info.cache_bytes = std::max(id.l3_bytes, id.l2_bytes);
  return info;
}

}  // namespace

Result<std::unique_ptr<Device>> open_cpu_device(const SkuRow& row, const DeviceOptions& options) {
  std::vector<CpuIsa> isas = supported_cpu_isas();
  if (std::find(isas.begin(), isas.end(), row.isa) == isas.end()) {
    std::string highest =
        isas.empty() ? "none of the known sets" : std::string(to_string(isas.back()));
    return Error{ErrorCode::incompatible,
                 "open device " + row.name + ": this CPU (" + read_cpu_identity().name +
                     ") lacks the instruction set; its highest is " + highest};
  }
  if (options.threads < 0 || options.threads > kMaxThreads) {
    return Error{ErrorCode::invalid_argument, "open device " + row.name + ": expected 1 to " +
                                                  std::to_string(kMaxThreads) + " threads, got " +
                                                  std::to_string(options.threads)};
  }
  std::vector<int> cores = allowed_cores();
  int threads = options.threads > 0 ? options.threads : static_cast<int>(cores.size());
  return std::unique_ptr<Device>(
      std::make_unique<CpuDevice>(describe(row, threads, cores), std::move(cores)));
}

CpuIsa cpu_isa_of(const DeviceInfo& info) {
  const SkuRow* row = find_sku(info.sku);
  ENSURE(row && row->kind == DeviceKind::cpu, "cpu_isa_of: not a CPU device");
  return row->isa;
}

}  // namespace enginery
