#include "cli/local/worker_crew.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "cli/options/targets.h"
#include "engine/base/file.h"
#include "worker/runner/sandbox.h"

namespace enginery {
namespace {

using std::chrono::milliseconds;

constexpr auto kReadyTimeout = std::chrono::seconds(120);

bool is_worker(const Child& child) {
  return child.spec.arguments.front() == "worker";
}

// `why` they are not, where the coordinator says it.
bool all_here(Client& client, const Supervisor& supervisor, std::string& why) {
  const auto workers = client.workers();
  why = workers.ok() ? "" : ": " + workers.error().message;
  if (!workers.ok()) return false;
  const auto& children = supervisor.children();
  return std::all_of(children.begin(), children.end(), [&](const Child& child) {
    return !is_worker(child) ||
           std::any_of(workers->begin(), workers->end(), [&](const WorkerView& worker) {
             return worker.pid == child.pid && worker.state != WorkerCondition::lost;
           });
  });
}

// A child that cannot even start (a folder in use, a bad address, a key that is refused) ends `up`
// at once instead of after the time-out.
Status check_children(const Supervisor& supervisor) {
  constexpr std::pair<ExitCode, ErrorCode> kForGood[] = {
      {ExitCode::storage, ErrorCode::storage},
      {ExitCode::usage, ErrorCode::usage},
      {ExitCode::untrusted, ErrorCode::untrusted},
  };
  for (const Child& child : supervisor.children()) {
    if (child.deaths == 0) continue;
    const std::string text = child.spec.name + " did not start; its message is above";
    for (const auto& [ended, code] : kForGood)
      if (child.exit_code == static_cast<int>(ended)) return Error{code, text};
    if (!is_worker(child) && child.exit_code == static_cast<int>(ExitCode::unreachable))
      return Error{ErrorCode::unavailable, text};
    if (child.deaths >= 4)
      return Error{ErrorCode::internal,
                   child.spec.name + " died four times at its start; its messages are above"};
  }
  return {};
}

}  // namespace

void CrewOptions::declare(Options& options) {
  options.list("--skus", skus, "LIST",
               "workers for these SKUs only (default: every SKU of this machine)");
  options.number("--threads", threads, {1, 4096}, "N",
                 "CPU threads of one inference (default: the cores of the affinity mask)");
  options.text("--sandbox", sandbox, "MODE",
               "bubblewrap around each step: require, prefer (default: where it works) or off");
}

Result<std::vector<LocalSku>> crew_devices(const CrewOptions& options) {
  TRY(const SandboxMode mode, parse_sandbox_mode(options.sandbox));
  if (mode == SandboxMode::require) {
    TRY(const SandboxState state, settle_sandbox(mode));
    (void)state;  // each worker settles it again
  }
  const std::vector<LocalSku> local = local_skus();
  if (options.skus.empty()) return local;
  TRY(const auto wanted, resolve_targets(options.skus));
  std::vector<LocalSku> chosen;
  for (const std::string& sku : wanted) {
    const size_t before = chosen.size();
    std::copy_if(local.begin(), local.end(), std::back_inserter(chosen),
                 [&](const LocalSku& device) { return device.name == sku; });
    if (chosen.size() > before) continue;
    return Error{ErrorCode::incompatible,
                 "this machine cannot run " + sku + " (enginery skus --local lists what it can)"};
  }
  return chosen;
}

ChildSpec crew_child(const LocalSku& device, const CrewOptions& options,
                     const std::vector<std::string>& connection) {
  const std::string index = device.index > 0 ? "-" + std::to_string(device.index) : "";
  const std::string folder = (state_folder() / "workers" / (device.name + index)).string();
  ChildSpec spec{"worker " + device.name + index,
                 {"worker", "--sku", device.name, "--data", folder, "--sandbox", options.sandbox}};
  spec.arguments.insert(spec.arguments.end(), connection.begin(), connection.end());
  if (device.kind == DeviceKind::cuda)
    spec.arguments.insert(spec.arguments.end(), {"--device", std::to_string(device.index)});
  if (options.threads)
    spec.arguments.insert(spec.arguments.end(), {"--threads", std::to_string(*options.threads)});
  return spec;
}

Result<bool> wait_for_crew(Supervisor& supervisor, const Clock& clock,
                           const std::function<std::unique_ptr<Client>()>& connect) {
  const Nanoseconds deadline = clock.monotonic() + kReadyTimeout;
  std::unique_ptr<Client> client;
  std::string why;
  while (clock.monotonic() < deadline) {
    if (supervisor.supervise(milliseconds(50))) return false;
    CHECK_OK(check_children(supervisor));
    if (!client) client = connect();
    if (client && all_here(*client, supervisor, why)) return true;
  }
  return Error{ErrorCode::timed_out,
               fmt::format("coordinator and workers were not ready within {} s{}",
                           kReadyTimeout.count(), why)};
}

Result<ExitCode> report_detached(Detached& detached, Console& console) {
  const DetachedStart start = detached.wait();
  if (start.ready) {
    console.print(start.output);
    return ExitCode::ok;
  }
  console.note(start.log_tail);
  return static_cast<ExitCode>(start.exit_code);
}

}  // namespace enginery
