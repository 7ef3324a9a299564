// up: a coordinator and this machine's workers as children of one process, until Ctrl-C or `down`.
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <nlohmann/json.hpp>

#include "cli/farm/farm.h"
#include "cli/local/farm_keys.h"
#include "cli/local/worker_crew.h"
#include "cli/output/json_output.h"
#include "cli/process/detach.h"
#include "cli/process/supervisor.h"
#include "cli/process/up_lock.h"
#include "cli/verbs/verbs.h"
#include "coordinator/web/web_address.h"
#include "engine/base/file.h"

namespace enginery {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class UpCommand final : public Command {
 public:
  void declare(Options& options) override {
    crew_.declare(options);
    options.flag("--detach", detach_, "return once everything is ready; `enginery down` stops it");
    options.text("--listen", listen_, "URL",
                 "control address (default: a socket in the runtime folder)");
    options.text("--bulk-listen", bulk_listen_, "URL", "bulk address");
    options.number("--client-jobs", client_jobs_, {1, 10'000'000}, "N",
                   "how many jobs of one client may wait or run (default: 100000)");
    options.text("--http", web_.address, "HOST:PORT",
                 "serve /metrics, /healthz and /api/v1 there (default: nowhere)");
    options.text("--http-token", token_file_, "FILE",
                 "a token (mode 0600) that HTTP readers must bring; required beyond 127.0.0.1");
    options.flag("--insecure", insecure_,
                 "serve a --listen beyond this host without keys: whoever reaches it is the owner");
    options.text("--data", data_, "DIR",
                 "the farm's catalog (default: enginery's data folder, shared with `build`)");
    options.flag("--json", json_, "print JSON once it is ready (enginery.up/1)");
    options.about(
        "Prints each child's pid and `ready`, then stays in the foreground. A child that dies is "
        "started again; all children\n"
        "end with it. Then:  enginery submit MODEL --target this --wait");
    options.about(
        "With --listen tcp://HOST:PORT the farm is on the network, too, for keys only; it prints "
        "`join TOKEN`, with which another host\n"
        "starts its workers: enginery join TOKEN");
  }

  Result<ExitCode> run(Session& session) override {
    TRY(const auto devices, crew_devices(crew_));
    CHECK_OK(resolve_address());
    web_.token_file = token_file_;
    if (!web_.address.empty()) {
      TRY([[maybe_unused]] const WebAccess access, check_web_options(web_));
    }
    TRY(const UpLock lock, UpLock::acquire());
    if (!detach_) return serve(devices, session.console);
    TRY(Detached detached, Detached::start(up_log_file()));
    if (detached.is_parent()) return report(detached, session.console);
    CHECK_OK(lock.write_pid());
    return serve(devices, session.console);
  }

 private:
  Status resolve_address() {
    if (listen_.empty()) {
      TRY(listen_, default_control_address());
    }
    CHECK_OK(check_address(listen_));
    if (listen_.ends_with(":*") || listen_.ends_with(":0")) {
      return Error{
          ErrorCode::usage,
          "up needs a definite port in --listen, because its workers dial it; not " + listen_};
    }
    network_ = is_beyond_this_host(listen_);
    local_ = listen_;
    if (network_) {
      TRY(local_, default_control_address());
    }
    return {};
  }

  // Runs in the background process too: it prints to a pipe that the parent reads until it is
  // closed.
  Result<ExitCode> serve(const std::vector<LocalSku>& devices, Console& console) {
    block_supervisor_signals();
    const SystemClock clock;
    Supervisor supervisor(console, clock);
    TRY(const std::string token, prepare_network());
    CHECK_OK(supervisor.add(coordinator_spec()));
    for (const LocalSku& device : devices)
      CHECK_OK(supervisor.add(crew_child(device, crew_, {"--coordinator", local_})));
    TRY(const bool ready, wait_for_crew(supervisor, clock, [&] { return try_connect(); }));
    if (!ready) return ExitCode::timed_out;  // asked to end before it was ready
    announce(supervisor, devices, token, console);
    CHECK_OK(console.flush());
    if (detach_) CHECK_OK(Detached::let_go_of_parent(up_log_file()));
    while (!supervisor.supervise(seconds(60))) {
    }
    supervisor.stop();
    return ExitCode::ok;
  }

  // The token for another host; "" where none can come, or anybody can.
  Result<std::string> prepare_network() const {
    if (!network_ || insecure_) return std::string();
    TRY([[maybe_unused]] const PublicKey key, make_coordinator_key(data()));
    CHECK_OK(remember_address(data(), dialable(listen_)));
    return make_token(data(), "", listen_);
  }

  ChildSpec coordinator_spec() const {
    ChildSpec spec{"coordinator", {"coordinator", "--listen", listen_}};
    if (!bulk_listen_.empty())
      spec.arguments.insert(spec.arguments.end(), {"--bulk-listen", bulk_listen_});
    if (!web_.address.empty())
      spec.arguments.insert(spec.arguments.end(), {"--http", web_.address});
    if (!token_file_.empty())
      spec.arguments.insert(spec.arguments.end(), {"--http-token", token_file_});
    if (client_jobs_)
      spec.arguments.insert(spec.arguments.end(), {"--client-jobs", std::to_string(*client_jobs_)});
    spec.arguments.insert(spec.arguments.end(), {"--data", data()});
    if (insecure_) spec.arguments.emplace_back("--insecure");
    return spec;
  }

  std::string data() const { return data_.empty() ? data_folder().string() : data_; }

  std::unique_ptr<Client> try_connect() const {
    ClientOptions options;
    options.address = local_;
    options.connect_timeout = milliseconds(300);
    auto client = Client::connect(options, make_zmq_dial());
    return client.ok() ? std::move(*client) : nullptr;
  }

  void announce(const Supervisor& supervisor, const std::vector<LocalSku>& devices,
                const std::string& token, Console& console) const {
    const auto& children = supervisor.children();
    if (!json_) {
      for (const Child& child : children)
        console.print_line(fmt::format("{} pid {}", child.spec.name, child.pid));
      if (!token.empty()) console.print_line("join " + token);
      return console.print_line("ready");
    }
    Json workers = Json::array();
    for (size_t i = 0; i < devices.size(); ++i)
      workers.push_back({{"sku", devices[i].name}, {"pid", children[i + 1].pid}});
    print_json(console, {{"schema", "enginery.up/1"},
                         {"ready", true},
                         {"pid", getpid()},
                         {"coordinator", {{"address", listen_}, {"pid", children[0].pid}}},
                         {"workers", workers},
                         {"join", token.empty() ? Json(nullptr) : Json(token)}});
  }

  static Result<ExitCode> report(Detached& detached, Console& console) {
    TRY(const ExitCode code, report_detached(detached, console));
    if (code != ExitCode::ok) console.note("the log is " + up_log_file().string());
    return code;
  }

  CrewOptions crew_;
  WebOptions web_;
  std::string listen_, bulk_listen_, data_, token_file_;
  std::optional<int64_t> client_jobs_;
  std::string local_;  // where this host's workers and verbs dial
  bool network_ = false;
  bool detach_ = false, json_ = false, insecure_ = false;
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
