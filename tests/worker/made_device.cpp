#include "tests/worker/made_device.h"

#include <chrono>
#include <thread>

#include "engine/base/digest.h"
#include "engine/device/measurer.h"
#include "engine/tactics/cpu/reference/reference_source.h"

namespace enginery::test {
namespace {

// What the launches so far have taken; those that are timed sleep for as long and compute nothing.
struct MadeClock {
  double us = 0;
  bool is_timing = false;
};
using SharedClock = std::shared_ptr<MadeClock>;

constexpr double kReferenceUs = 1000;

// From 200 to 455 us, the same on every made device.
double made_us(const Problem& problem, const std::string& id) {
  return 200 + static_cast<uint8_t>(sha256(problem.key() + id).bytes[0]);
}

class MadeDevice final : public Device, public Measurer {
 public:
  MadeDevice(std::unique_ptr<Device> cpu, const std::string& id, SharedClock clock)
      : cpu_(std::move(cpu)), info_(cpu_->info()), clock_(std::move(clock)) {
    info_.physical_id = id;
  }
  const DeviceInfo& info() const override { return info_; }
  Result<DeviceMemory> allocate(size_t bytes) override { return cpu_->allocate(bytes); }
  Result<std::unique_ptr<Stream>> create_stream() override { return cpu_->create_stream(); }
  Status copy(Stream& stream, void* to, const void* from, size_t bytes, CopyKind kind) override {
    return cpu_->copy(stream, to, from, bytes, kind);
  }
  Status fill(Stream& stream, void* to, uint8_t byte, size_t bytes) override {
    return cpu_->fill(stream, to, byte, bytes);
  }
  Result<std::unique_ptr<CommandList>> record(Stream& stream, const Enqueue& enqueue) override {
    return cpu_->record(stream, enqueue);
  }
  Measurer* measurer() override { return this; }

  Result<double> time_us(Stream& stream, CommandList& list) override {
    *clock_ = {0, true};
    const Status launched = list.launch(stream);
    clock_->is_timing = false;
    CHECK_OK(launched);
    std::this_thread::sleep_for(std::chrono::duration<double, std::micro>(clock_->us));
    return clock_->us;
  }
  double min_resolvable_us() const override { return 100; }
  DeviceState state() override { return {}; }

 private:
  const std::unique_ptr<Device> cpu_;
  DeviceInfo info_;
  const SharedClock clock_;
};

class MadeTactic final : public PreparedTactic {
 public:
  MadeTactic(std::shared_ptr<const PreparedTactic> right, double us, SharedClock clock)
      : right_(std::move(right)), us_(us), clock_(std::move(clock)) {}
  Status enqueue(Stream& stream, const Arguments& arguments) const override {
    clock_->us += us_;
    return clock_->is_timing ? Status() : right_->enqueue(stream, arguments);
  }
  int64_t weight_bytes() const override { return right_->weight_bytes(); }
  int64_t workspace_bytes() const override { return right_->workspace_bytes(); }

 private:
  const std::shared_ptr<const PreparedTactic> right_;
  const double us_;
  const SharedClock clock_;
};

class MadeSource final : public TacticSource {
 public:
  MadeSource(std::unique_ptr<TacticSource> reference, SharedClock clock)
      : reference_(std::move(reference)), clock_(std::move(clock)) {}
  SourceTraits traits() const override { return {.name = "made", .trust = Trust::may_be_wrong}; }

  Result<std::vector<Tactic>> offer(const Problem& problem,
                                    const std::set<Precision>&) const override {
    std::vector<Tactic> out;
    for (const char* id : {"a", "b", "c"}) {
      TRY(Tactic tactic, reference_tactic(problem, id));
      tactic.source = "made";
      tactic.estimated_us = 100;
      out.push_back(std::move(tactic));
    }
    return out;
  }
  Result<std::shared_ptr<const PreparedTactic>> prepare(const Problem& problem,
                                                        const Tactic& tactic,
                                                        Weights weights) const override {
    TRY(const Tactic same, reference_tactic(problem, "host"));
    TRY(auto right, reference_->prepare(problem, same, weights));
    return std::shared_ptr<const PreparedTactic>(
        std::make_shared<MadeTactic>(std::move(right), made_us(problem, tactic.id), clock_));
  }

 private:
  const std::unique_ptr<TacticSource> reference_;
  const SharedClock clock_;
};

// The reference, which is last everywhere.
class SlowReference final : public TacticSource {
 public:
  SlowReference(std::unique_ptr<TacticSource> reference, SharedClock clock)
      : reference_(std::move(reference)), clock_(std::move(clock)) {}
  SourceTraits traits() const override { return reference_->traits(); }
  Result<std::vector<Tactic>> offer(const Problem& problem,
                                    const std::set<Precision>& allowed) const override {
    return reference_->offer(problem, allowed);
  }
  Result<std::shared_ptr<const PreparedTactic>> prepare(const Problem& problem,
                                                        const Tactic& tactic,
                                                        Weights weights) const override {
    TRY(auto right, reference_->prepare(problem, tactic, weights));
    return std::shared_ptr<const PreparedTactic>(
        std::make_shared<MadeTactic>(std::move(right), kReferenceUs, clock_));
  }

 private:
  const std::unique_ptr<TacticSource> reference_;
  const SharedClock clock_;
};

}  // namespace

Result<Target> open_made_device(const std::string& id, const std::string& sku,
                                const BuildOptions& options) {
  TRY(Target cpu, open_target(sku, options));
  const SharedClock clock = std::make_shared<MadeClock>();
  TRY(auto reference, make_reference_source(cpu.device->info()));
  TRY(auto slow, make_reference_source(cpu.device->info()));
  Target made;
  made.device = std::make_unique<MadeDevice>(std::move(cpu.device), id, clock);
  made.sources.push_back(std::make_unique<MadeSource>(std::move(reference), clock));
  made.sources.push_back(std::make_unique<SlowReference>(std::move(slow), clock));
  return made;
}

}  // namespace enginery::test
