// coordinator: the farm's queue and catalog as a service in the foreground.
#include <memory>
#include <optional>
#include <utility>

#include "cli/local/local_catalog.h"
#include "cli/process/service_notifier.h"
#include "cli/process/signals.h"
#include "cli/verbs/verbs.h"
#include "coordinator/client/descriptor_limit.h"
#include "coordinator/client/link.h"
#include "coordinator/server/server.h"
#include "worker/engine_check.h"

namespace enginery {
namespace {

class CoordinatorCommand final : public Command {
 public:
  void declare(Options& options) override {
    options.text("--listen", options_.listen, "URL",
                 "control address (default: a socket in the runtime folder)");
    options.text("--bulk-listen", options_.bulk_listen, "URL", "bulk address, for blobs and logs");
    options.number(
        "--quota", quota_gb_, {1, 1'000'000}, "GB",
        "most that the catalog may take; near it what nobody needs goes (default: the disk)");
    options.number("--keep-jobs", keep_jobs_, {1, 1'000'000}, "N",
                   "ended jobs that are remembered (default: 20000)");
    options.number("--keep-days", keep_days_, {1, 100'000}, "DAYS",
                   "how long ended jobs, their logs and events are kept (default: 30)");
    options.number("--client-jobs", client_jobs_, {1, 10'000'000}, "N",
                   "how many jobs of one client may wait or run (default: 100000)");
    options.text("--http", options_.web.address, "HOST:PORT",
                 "serve /metrics, /healthz and /api/v1 there (default: nowhere)");
    options.text("--http-token", token_file_, "FILE",
                 "a token (mode 0600) that HTTP readers must bring; required beyond 127.0.0.1");
    options.flag("--insecure", options_.insecure,
                 "serve a --listen beyond this host without keys: whoever reaches it is the owner");
    place_.declare(options);
    options.about(
        "One coordinator per data folder: a second one is refused (exit code 10). It ends on "
        "SIGTERM or Ctrl-C and loses nothing;\n"
        "workers go on and come back to the next one. Addresses: ipc:///path/to.sock, "
        "tcp://127.0.0.1:PORT, or tcp://HOST:PORT for the network: that is\n"
        "served to keys with roles (enginery keys --help), beside the socket of this host, with "
        "blobs on the port behind it.\n"
        "`enginery up` starts one together with this machine's workers.");
  }

  Result<ExitCode> run(Session& session) override {
    block_termination_signals();
    allow_many_descriptors();
    options_.data = place_.folder();
    options_.check_engine = check_engine;
    options_.quota_bytes = static_cast<uint64_t>(quota_gb_.value_or(0)) * 1'000'000'000;
    if (keep_jobs_) options_.ended_jobs_kept = static_cast<size_t>(*keep_jobs_);
    if (keep_days_) options_.history = std::chrono::days(*keep_days_);
    if (client_jobs_) options_.client_jobs = static_cast<size_t>(*client_jobs_);
    options_.web.token_file = token_file_;
    if (is_beyond_this_host(options_.listen)) {
      options_.network = std::exchange(options_.listen, "");
      options_.network_bulk = std::exchange(options_.bulk_listen, "");
    }
    ServiceNotifier notifier;
    options_.alive = [&] { notifier.beat(); };
    TRY(const auto coordinator, Coordinator::start(options_));
    const Termination termination([&] { coordinator->stop(); });
    session.console.print_line("listening on " + coordinator->control_address());
    if (!coordinator->network_address().empty())
      session.console.print_line("listening on " + coordinator->network_address());
    if (!coordinator->web_address().empty())
      session.console.print_line("http on " + coordinator->web_address());
    CHECK_OK(session.console.flush());
    CHECK_OK(coordinator->wait());
    return ExitCode::ok;
  }

 private:
  CoordinatorOptions options_;
  std::optional<int64_t> quota_gb_, keep_jobs_, keep_days_;
  CatalogPlace place_;
  std::optional<int64_t> client_jobs_;
  std::string token_file_;
};

}  // namespace

std::unique_ptr<Command> make_coordinator() {
  return std::make_unique<CoordinatorCommand>();
}

}  // namespace enginery
