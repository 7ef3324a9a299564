#include "cli/farm/farm.h"

namespace enginery {
namespace {

constexpr auto kConnectTimeout = std::chrono::milliseconds(4000);

}  // namespace

void FarmOptions::declare(Options& options) {
  options.text("--coordinator", coordinator, "URL",
               "where the coordinator listens (default: the one that `enginery up` started)");
  declare_key(options);
}

void FarmOptions::declare_key(Options& options) {
  options.text("--key", key, "FILE",
               "your key to a coordinator on the network (enginery keys client new makes one)");
  options.flag("--insecure", insecure, "dial beyond this host without a key");
}

void JobQuestion::declare(Options& options, const std::string& json_schema) {
  options.positional("JOB", job, "the job's id (enginery jobs lists them)");
  options.flag("--json", json, "print JSON (" + json_schema + ")");
  farm.declare(options);
}

Result<FarmWay> way_to(const FarmOptions& options) {
  FarmWay way{options.coordinator, "", {}};
  DialOptions dial{std::nullopt, options.insecure};
  if (!options.key.empty()) {
    TRY(dial.identity, read_identity(options.key));
    way.name = dial.identity->name;
    if (way.address.empty()) way.address = dial.identity->address;
  }
  way.dial = make_zmq_dial(std::move(dial));
  return way;
}

Result<std::unique_ptr<Client>> connect(const FarmOptions& options) {
  TRY(FarmWay way, way_to(options));
  ClientOptions client;
  client.address = way.address;
  client.connect_timeout = kConnectTimeout;
  auto connected = Client::connect(client, way.dial);
  const bool is_other_version = !connected.ok() && connected.error().code == ErrorCode::unsupported;
  if (is_other_version) return Error{ErrorCode::unavailable, connected.error().message};
  return connected;
}

}  // namespace enginery
