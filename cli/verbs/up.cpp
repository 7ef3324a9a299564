// up: a coordinator and this machine's workers as children of one process, until Ctrl-C or `down`.
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <iterator>
#include <nlohmann/json.hpp>

#include "cli/farm/farm.h"
#include "cli/options/targets.h"
#include "cli/output/json_output.h"
#include "cli/process/detach.h"
#include "cli/process/supervisor.h"
#include "cli/process/up_lock.h"
#include "cli/verbs/verbs.h"
#include "coordinator/web/web_address.h"
#include "engine/base/file.h"
#include "engine/device/sku_table.h"
#include "worker/runner/sandbox.h"

namespace enginery {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr auto kReadyTimeout = seconds(120);

class UpCommand final : public Command {
 public:
  void declare(Options& options) override {
    options.list("--skus", skus_, "LIST",
                 "workers for these SKUs only (default: every SKU of this machine)");
    options.flag("--detach", detach_, "return once everything is ready; `enginery down` stops it");
    options.number("--threads", threads_, {1, 4096}, "N",
                   "CPU threads of one inference (default: the cores of the affinity mask)");
    options.text("--listen", listen_, "URL",
                 "control address (default: a socket in the runtime folder)");
    options.text("--bulk-listen", bulk_listen_, "URL", "bulk address");
    options.text("--http", web_.address, "HOST:PORT",
                 "serve /metrics, /healthz and /api/v1 there (default: nowhere)");
    options.text("--http-token", token_file_, "FILE",
                 "a token (mode 0600) that HTTP readers must bring; required beyond 127.0.0.1");
    options.text("--data", data_, "DIR",
                 "the farm's catalog (default: enginery's data folder, shared with `build`)");
    options.text("--sandbox", sandbox_, "MODE",
                 "bubblewrap around each step: require, prefer (default: where it works) or off");
    options.flag("--json", json_, "print JSON once it is ready (enginery.up/1)");
    options.about(
        "Prints each child's pid and `ready`, then stays in the foreground. A child that dies is "
        "started again; all children\n"
        "end with it. Then:  enginery submit MODEL --target this --wait");
  }

  Result<ExitCode> run(Session& session) override {
    TRY(const auto devices, worker_devices());
    CHECK_OK(resolve_address());
    web_.token_file = token_file_;
    if (!web_.address.empty()) {
      TRY([[maybe_unused]] const WebAccess access, check_web_options(web_));
    }
    TRY(const SandboxMode mode, parse_sandbox_mode(sandbox_));
    if (mode == SandboxMode::require) {
      TRY(const SandboxState sandbox, settle_sandbox(mode));
      (void)sandbox;  // each worker settles it again
    }
    TRY(const UpLock lock, UpLock::acquire());
    if (!detach_) return serve(devices, session.console);
    TRY(Detached detached, Detached::start(up_log_file()));
    if (detached.is_parent()) return report(detached, session.console);
    CHECK_OK(lock.write_pid());
    return serve(devices, session.console);
  }

 private:
  // One worker for each: every GPU is a device of its own, two of one SKU as well.
  Result<std::vector<LocalSku>> worker_devices() const {
    const std::vector<LocalSku> local = local_skus();
    if (skus_.empty()) return local;
    TRY(const auto wanted, resolve_targets(skus_));
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

  Status resolve_address() {
    if (listen_.empty()) {
      TRY(listen_, default_control_address());
    }
    if (listen_.ends_with(":*") || listen_.ends_with(":0")) {
      return Error{
          ErrorCode::usage,
          "up needs a definite port in --listen, because its workers dial it; not " + listen_};
    }
    return check_address(listen_);
  }

  // Runs in the background process too: it prints to a pipe that the parent reads until it is
  // closed.
  Result<ExitCode> serve(const std::vector<LocalSku>& devices, Console& console) {
    block_supervisor_signals();
    const SystemClock clock;
    Supervisor supervisor(console, clock);
    CHECK_OK(supervisor.add(coordinator_spec()));
    for (const LocalSku& device : devices) CHECK_OK(supervisor.add(worker_spec(device)));
    TRY(const bool ready, wait_until_ready(supervisor, clock));
    if (!ready) return ExitCode::timed_out;  // asked to end before it was ready
    announce(supervisor, devices, console);
    CHECK_OK(console.flush());
    if (detach_) CHECK_OK(Detached::let_go_of_parent(up_log_file()));
    while (!supervisor.supervise(seconds(60))) {
    }
    supervisor.stop();
    return ExitCode::ok;
  }

  ChildSpec coordinator_spec() const {
    ChildSpec spec{"coordinator", {"coordinator", "--listen", listen_}};
    if (!bulk_listen_.empty())
      spec.arguments.insert(spec.arguments.end(), {"--bulk-listen", bulk_listen_});
    if (!web_.address.empty())
      spec.arguments.insert(spec.arguments.end(), {"--http", web_.address});
    if (!token_file_.empty())
      spec.arguments.insert(spec.arguments.end(), {"--http-token", token_file_});
    spec.arguments.insert(spec.arguments.end(), {"--data", data()});
    return spec;
  }

  ChildSpec worker_spec(const LocalSku& device) const {
    const std::string index = device.index > 0 ? "-" + std::to_string(device.index) : "";
    const std::string folder = (state_folder() / "workers" / (device.name + index)).string();
    ChildSpec spec{"worker " + device.name + index,
                   {"worker", "--sku", device.name, "--coordinator", listen_, "--data", folder,
                    "--sandbox", sandbox_}};
    if (device.kind == DeviceKind::cuda)
      spec.arguments.insert(spec.arguments.end(), {"--device", std::to_string(device.index)});
    if (threads_)
      spec.arguments.insert(spec.arguments.end(), {"--threads", std::to_string(*threads_)});
    return spec;
  }

  std::string data() const { return data_.empty() ? data_folder().string() : data_; }

  // True: the coordinator answers and knows every worker. False: asked to end before that.
  Result<bool> wait_until_ready(Supervisor& supervisor, const Clock& clock) const {
    const Nanoseconds deadline = clock.monotonic() + kReadyTimeout;
    std::unique_ptr<Client> client;
    while (clock.monotonic() < deadline) {
      if (supervisor.supervise(milliseconds(50))) return false;
      CHECK_OK(check_children(supervisor));
      if (!client) client = try_connect();
      if (client && all_here(*client, supervisor)) return true;
    }
    return Error{
        ErrorCode::timed_out,
        fmt::format("coordinator and workers were not ready within {} s", kReadyTimeout.count())};
  }

  std::unique_ptr<Client> try_connect() const {
    ClientOptions options;
    options.address = listen_;
    options.connect_timeout = milliseconds(300);
    auto client = Client::connect(options, make_zmq_dial());
    return client.ok() ? std::move(*client) : nullptr;
  }

  static bool all_here(Client& client, const Supervisor& supervisor) {
    const auto workers = client.workers();
    if (!workers.ok()) return false;
    const auto& children = supervisor.children();
    return std::all_of(children.begin() + 1, children.end(), [&](const Child& child) {
      return std::any_of(workers->begin(), workers->end(), [&](const WorkerView& worker) {
        return worker.pid == child.pid && worker.state != WorkerCondition::lost;
      });
    });
  }

  // A child that cannot even start (a folder in use, a bad address) ends `up` at once instead of
  // after the time-out.
  static Status check_children(const Supervisor& supervisor) {
    for (const Child& child : supervisor.children()) {
      if (child.deaths == 0) continue;
      const bool storage = child.exit_code == static_cast<int>(ExitCode::storage);
      const bool usage = child.exit_code == static_cast<int>(ExitCode::usage);
      const bool unreachable = child.exit_code == static_cast<int>(ExitCode::unreachable);
      const std::string text = child.spec.name + " did not start; its message is above";
      if (storage) return Error{ErrorCode::storage, text};
      if (usage) return Error{ErrorCode::usage, text};
      if (unreachable && child.spec.name == "coordinator")
        return Error{ErrorCode::unavailable, text};
      if (child.deaths >= 4)
        return Error{ErrorCode::internal,
                     child.spec.name + " died four times at its start; its messages are above"};
    }
    return {};
  }

  void announce(const Supervisor& supervisor, const std::vector<LocalSku>& devices,
                Console& console) const {
    const auto& children = supervisor.children();
    if (!json_) {
      for (const Child& child : children)
        console.print_line(fmt::format("{} pid {}", child.spec.name, child.pid));
      return console.print_line("ready");
    }
    Json workers = Json::array();
    for (size_t i = 0; i < devices.size(); ++i)
      workers.push_back({{"sku", devices[i].name}, {"pid", children[i + 1].pid}});
    print_json(console, {{"schema", "enginery.up/1"},
                         {"ready", true},
                         {"pid", getpid()},
                         {"coordinator", {{"address", listen_}, {"pid", children[0].pid}}},
                         {"workers", workers}});
  }

  // What the foreground process of --detach says: the background one's announcement, or its
  // failure.
  static Result<ExitCode> report(Detached& detached, Console& console) {
    const DetachedStart start = detached.wait();
    if (start.ready) {
      console.print(start.output);
      return ExitCode::ok;
    }
    console.note(start.log_tail);
    console.note("the log is " + up_log_file().string());
    return static_cast<ExitCode>(start.exit_code);
  }

  std::vector<std::string> skus_;
  std::string listen_, bulk_listen_, data_, token_file_, sandbox_ = "prefer";
  WebOptions web_;
  std::optional<int64_t> threads_;
  bool detach_ = false, json_ = false;
};

class DownCommand final : public Command {
 public:
  void declare(Options& options) override {
    options.flag("--json", json_, "print JSON (enginery.down/1)");
    options.about("Jobs that run are not lost: they go on after the next `enginery up`.");
  }

  Result<ExitCode> run(Session& session) override {
    TRY(const pid_t pid, running_up());
    if (kill(pid, SIGTERM) != 0)
      return Error{ErrorCode::internal, fmt::format("stop pid {}: {}", pid, std::strerror(errno))};
    if (!wait_for_end_of_up(seconds(30))) {
      kill(pid, SIGKILL);
      if (!wait_for_end_of_up(seconds(5)))
        return Error{ErrorCode::timed_out, fmt::format("pid {} does not end", pid)};
    }
    if (json_) {
      print_json(session.console, {{"schema", "enginery.down/1"}, {"pid", pid}, {"stopped", true}});
    } else {
      session.console.print_line(fmt::format("stopped pid {}", pid));
    }
    return ExitCode::ok;
  }

 private:
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_up() {
  return std::make_unique<UpCommand>();
}
std::unique_ptr<Command> make_down() {
  return std::make_unique<DownCommand>();
}

}  // namespace enginery
