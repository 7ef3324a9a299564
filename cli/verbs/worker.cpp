// worker: one SKU of this machine, offered to a coordinator; and `runner`, the process in which its
// steps are executed.
#include <atomic>
#include <memory>

#include "cli/farm/farm.h"
#include "cli/options/targets.h"
#include "cli/process/service_notifier.h"
#include "cli/process/signals.h"
#include "cli/verbs/verbs.h"
#include "engine/base/file.h"
#include "engine/device/sensors.h"
#include "worker/agent/agent.h"
#include "worker/steps/runner.h"

namespace enginery {
namespace {

class WorkerCommand final : public Command {
 public:
  void declare(Options& options) override {
    options.text("--sku", sku_, "SKU", "which SKU of this machine to offer (default: this)");
    options.text(
        "--data", data_, "DIR",
        "the worker's own folder (default: a folder for the SKU below enginery's state folder)");
    options.number(
        "--threads", threads_, {1, 4096}, "N",
        "CPU threads for jobs that do not say (default: the cores of the affinity mask)");
    options.number("--device", device_, {0, 255}, "N",
                   "GPU: which of the visible ones (default: 0)");
    options.text("--name", name_, "NAME",
                 "what it is called (default: HOST/SKU, with a key its NAME/SKU)");
    options.text("--sandbox", sandbox_, "MODE",
                 "bubblewrap around each step: require, prefer (default: where it works) or off");
    options.number("--runner-memory", memory_mib_, {64, int64_t{1} << 24}, "MIB",
                   "limit on the data of a step's process (default: none)");
    farm_.declare(options);
    options.about(
        "Runs in the foreground and survives restarts of the coordinator. On SIGTERM or Ctrl-C a "
        "running step is given up; what it\n"
        "measured is kept, and the next attempt goes on from there. One worker per folder: a "
        "second one "
        "is refused (exit code 10).");
  }

  Result<ExitCode> run(Session&) override {
    TRY(const auto skus, resolve_targets({sku_.empty() ? "this" : sku_}));
    AgentOptions options;
    TRY(FarmWay way, way_to(farm_));
    options.coordinator = way.address;
    options.dial = std::move(way.dial);
    options.sku = skus.front();
    options.data =
        data_.empty() ? state_folder() / "workers" / options.sku : std::filesystem::path(data_);
    options.threads = static_cast<int>(threads_.value_or(0));
    options.device_index = static_cast<int>(device_.value_or(0));
    options.name = name_.empty() ? name_with(way.name, options) : name_;
    options.runner_memory_bytes = static_cast<uint64_t>(memory_mib_.value_or(0)) << 20;
    TRY(options.sandbox, parse_sandbox_mode(sandbox_));
    options.sensors = sensors();
    block_termination_signals();
    std::atomic<bool> stopping = false;
    const Termination termination([&] { stopping = true; });
    ServiceNotifier notifier;
    CHECK_OK(run_agent(options, [&] {
      notifier.beat();
      return stopping.load();
    }));
    return ExitCode::ok;
  }

 private:
  // Opened when they are asked first: NVML takes its time.
  static std::function<DeviceReading(const std::string&)> sensors() {
    const auto opened = std::make_shared<std::unique_ptr<DeviceSensors>>();
    return [opened](const std::string& device) {
      if (*opened == nullptr) *opened = open_sensors(device);
      const DeviceState now = (*opened)->read();
      return DeviceReading{now.clock_mhz, now.memory_clock_mhz, now.temperature_c, now.power_w,
                           now.throttle_bits};
    };
  }

  // Of a key, workers' names begin with its name; "" leaves it to the host's.
  static std::string name_with(const std::string& key_name, const AgentOptions& options) {
    if (key_name.empty()) return "";
    const std::string index =
        options.device_index > 0 ? "-" + std::to_string(options.device_index) : "";
    return key_name + "/" + options.sku + index;
  }

  FarmOptions farm_;
  std::string sku_, data_, name_, sandbox_ = "prefer";
  std::optional<int64_t> threads_, device_, memory_mib_;
};

class RunnerVerb final : public Command {
 public:
  void declare(Options& options) override { options.about("Started by a worker; not for people."); }
  Result<ExitCode> run(Session&) override {
    return run_runner() == 0 ? ExitCode::ok : ExitCode::failed;
  }
};

}  // namespace

std::unique_ptr<Command> make_worker() {
  return std::make_unique<WorkerCommand>();
}
std::unique_ptr<Command> make_runner() {
  return std::make_unique<RunnerVerb>();
}

}  // namespace enginery
