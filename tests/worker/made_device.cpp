#include "tests/worker/made_device.h"

#include "engine/base/digest.h"
#include "engine/device/measurer.h"
#include "engine/tactics/cpu/reference/reference_source.h"

namespace enginery::test {
namespace {

// What the launches so far have taken.
using Elapsed = std::shared_ptr<double>;

constexpr double kReferenceUs = 1000;

// From 200 to 455 us, the same on every made device.
double made_us(const Problem& problem, const std::string& id) {
  return 200 + static_cast<uint8_t>(sha256(problem.key() + id).bytes[0]);
}

class MadeDevice final : public Device, public Measurer {
 public:
  MadeDevice(std::unique_ptr<Device> cpu, const std::string& id, Elapsed elapsed)
      : cpu_(std::move(cpu)), info_(cpu_->info()), elapsed_(std::move(elapsed)) {
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
    *elapsed_ = 0;
    CHECK_OK(list.launch(stream));
    return *elapsed_;
  }
  double min_resolvable_us() const override { return 100; }
  DeviceState state() override { return {}; }

 private:
  const std::unique_ptr<Device> cpu_;
  DeviceInfo info_;
  const Elapsed elapsed_;
};

class MadeTactic final : public PreparedTactic {
 public:
  MadeTactic(std::shared_ptr<const PreparedTactic> right, double us, Elapsed elapsed)
      : right_(std::move(right)), us_(us), elapsed_(std::move(elapsed)) {}
  Status enqueue(Stream& stream, const Arguments& arguments) const override {
    *elapsed_ += us_;
    return right_->enqueue(stream, arguments);
  }
  int64_t weight_bytes() const override { return right_->weight_bytes(); }
  int64_t workspace_bytes() const override { return right_->workspace_bytes(); }

 private:
  const std::shared_ptr<const PreparedTactic> right_;
  const double us_;
  const Elapsed elapsed_;
};

class MadeSource final : public TacticSource {
 public:
  MadeSource(std::unique_ptr<TacticSource> reference, Elapsed elapsed)
      : reference_(std::move(reference)), elapsed_(std::move(elapsed)) {}
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
        std::make_shared<MadeTactic>(std::move(right), made_us(problem, tactic.id), elapsed_));
  }

 private:
  const std::unique_ptr<TacticSource> reference_;
  const Elapsed elapsed_;
};

// The reference, which is last everywhere.
class SlowReference final : public TacticSource {
 public:
  SlowReference(std::unique_ptr<TacticSource> reference, Elapsed elapsed)
      : reference_(std::move(reference)), elapsed_(std::move(elapsed)) {}
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
        std::make_shared<MadeTactic>(std::move(right), kReferenceUs, elapsed_));
  }

 private:
  const std::unique_ptr<TacticSource> reference_;
  const Elapsed elapsed_;
};

}  // namespace

Result<Target> open_made_device(const std::string& id, const std::string& sku,
                                const BuildOptions& options) {
  TRY(Target cpu, open_target(sku, options));
  const Elapsed elapsed = std::make_shared<double>(0);
  TRY(auto reference, make_reference_source(cpu.device->info()));
  TRY(auto slow, make_reference_source(cpu.device->info()));
  Target made;
  made.device = std::make_unique<MadeDevice>(std::move(cpu.device), id, elapsed);
  made.sources.push_back(std::make_unique<MadeSource>(std::move(reference), elapsed));
  made.sources.push_back(std::make_unique<SlowReference>(std::move(slow), elapsed));
  return made;
}

}  // namespace enginery::test
