#include "cli/farm/farm.h"

namespace enginery {
namespace {

constexpr auto kConnectTimeout = std::chrono::milliseconds(4000);

}  // namespace

void FarmOptions::declare(Options& options) {
  options.text("--coordinator", coordinator, "URL",
               "where the coordinator listens (default: the one that `enginery up` started)");
}

void JobQuestion::declare(Options& options, const std::string& json_schema) {
  options.positional("JOB", job, "the job's id (enginery jobs lists them)");
  options.flag("--json", json, "print JSON (" + json_schema + ")");
  farm.declare(options);
}

Result<std::unique_ptr<Client>> connect(const FarmOptions& options) {
  ClientOptions client;
  client.address = options.coordinator;
  client.connect_timeout = kConnectTimeout;
  auto connected = Client::connect(client, make_zmq_dial());
  const bool is_other_version = !connected.ok() && connected.error().code == ErrorCode::unsupported;
  if (is_other_version) return Error{ErrorCode::unavailable, connected.error().message};
  return connected;
}

}  // namespace enginery
