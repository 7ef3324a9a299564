#include "coordinator/server/server.h"

#include <thread>

#include "cache/folder_lock.h"
#include "cache/gc.h"
#include "cache/private_folder.h"
#include "coordinator/access/zap.h"
#include "coordinator/client/link.h"
#include "coordinator/client/zmq_socket.h"
#include "coordinator/server/bulk_server.h"
#include "coordinator/server/control_server.h"
#include "coordinator/server/farm_watch.h"
#include "coordinator/server/housekeeper.h"
#include "coordinator/store/queue_history.h"
#include "engine/base/log.h"

namespace enginery {

// In order of construction; destroyed backwards: threads first, the folder's lock last.
struct Coordinator::Parts {
  std::optional<FolderLock> lock;
  std::unique_ptr<Catalog> catalog;
  std::unique_ptr<Catalog> reader;
  std::unique_ptr<BlobWriter> writer;
  std::unique_ptr<QueueStore> store;
  std::unique_ptr<LogStore> logs;
  Peers peers;
  std::unique_ptr<KeyRing> keys;
  std::unique_ptr<ZapHandler> zap;
  std::unique_ptr<ServerSocket> control_socket, bulk_socket;
  std::unique_ptr<BulkServer> bulk;
  std::unique_ptr<ControlServer> control;
  std::unique_ptr<Housekeeper> housekeeper;
  std::thread bulk_thread, control_thread;
  std::unique_ptr<FarmWatch> watch;
  std::unique_ptr<WebServer> web;  // asks the control thread, and so ends before it
  std::mutex joining;

  void stop() const {
    control->stop();
    bulk->stop();
  }
  void join() {
    const std::lock_guard guard(joining);
    if (control_thread.joinable()) control_thread.join();
    if (bulk_thread.joinable()) bulk_thread.join();
  }
};

namespace {

constexpr int64_t kEventsOfAJob = 50;  // that was built for one target

// A tuning is made only where the catalog has none, so it probably measures; an assistant needs
// some seconds before it does.
constexpr size_t kEarlyAssistants = 3;

Result<SigningKey> load_key(const std::filesystem::path& data) {
  Result<SigningKey> key = SigningKey::load_or_create(data / "keys" / "signing.key");
  if (!key.ok()) return key.error().within("signing key");
  return key;
}

// One coordinator serves a folder.
Result<FolderLock> lock_folder(const std::filesystem::path& data) {
  Result<FolderLock> lock = FolderLock::acquire(
      data, "coordinator", std::chrono::milliseconds(0),
      "; commands reach the one that runs there (enginery top): use it, end it, or "
      "give this one a --data and a --listen of its own");
  if (!lock.ok()) return lock.error().within("coordinator");
  return lock;
}

// What is long past goes before the queue is loaded.
Status prune(Catalog& catalog, const CoordinatorOptions& options) {
  const int64_t before_ns = (catalog.clock().wall_time() - options.history).count();
  TRY([[maybe_unused]] const int64_t jobs,
      prune_queue_history(catalog.database(),
                          {before_ns, static_cast<int64_t>(options.ended_jobs_kept)}));
  TRY([[maybe_unused]] const int64_t rows, prune_history(catalog, before_ns));
  return {};
}

// The key with which it proves to be the coordinator; nothing off the network, or where anybody is
// let in.
Result<std::optional<CurveKey>> network_key(const CoordinatorOptions& options) {
  if (options.network.empty()) return std::optional<CurveKey>();
  if (options.insecure) {
    log_warning("insecure: whoever reaches " + options.network +
                " may submit, read everything and be a worker");
    return std::optional<CurveKey>();
  }
  Result<CurveKey> key = CurveKey::load(options.data / "keys" / kCoordinatorKeyFile);
  if (key.ok()) return std::optional(*key);
  if (key.error().code != ErrorCode::not_found) return key.error();
  return Error{ErrorCode::usage,
               "address " + options.network +
                   " is on the network and this coordinator has no key: make one with `enginery "
                   "keys coordinator new --data " +
                   options.data.string() +
                   "`, or let everybody in who reaches the address with --insecure"};
}

// The ZAP handler first: without one libzmq lets every key in.
Status serve_network(const CoordinatorOptions& options, const std::optional<CurveKey>& key,
                     const std::shared_ptr<void>& context, KeyRing& keys,
                     std::unique_ptr<ZapHandler>& zap, ServerSocket& control, ServerSocket& bulk) {
  if (key) {
    TRY(zap, ZapHandler::start(context, keys));
  }
  const CurveKey* own = key ? &*key : nullptr;
  CHECK_OK(control.bind_network(options.network, own));
  return bulk.bind_network(
      options.network_bulk.empty() ? next_port(control.network_address()) : options.network_bulk,
      own);
}

CoreOptions core_options(const CoordinatorOptions& options) {
  CoreOptions core;
  core.sync_hold = options.sync_hold;
  core.ended_jobs_kept = options.ended_jobs_kept;
  core.ended_jobs_age = options.history;
  core.early_assistants = kEarlyAssistants;
  core.max_open_jobs = options.client_jobs;
  return core;
}

Housekeeping housekeeping(const CoordinatorOptions& options) {
  Housekeeping rules;
  rules.every = options.tidy_every;
  rules.watermarks.quota_bytes = options.quota_bytes;
  rules.logs.age = rules.history = options.history;
  rules.events = kEventsOfAJob * static_cast<int64_t>(options.ended_jobs_kept);
  return rules;
}

}  // namespace

Coordinator::Coordinator(Started, std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Result<std::unique_ptr<Coordinator>> Coordinator::start(const CoordinatorOptions& options) {
  std::string listen = options.listen, bulk_listen = options.bulk_listen;
  if (listen.empty()) {
    TRY(listen, default_control_address());
  }
  if (bulk_listen.empty()) {
    TRY(bulk_listen, default_bulk_address());
  }
  CHECK_OK(check_address(listen));
  CHECK_OK(check_address(bulk_listen));
  if (!options.web.address.empty()) {
    TRY([[maybe_unused]] const WebAccess access, check_web_options(options.web));
  }
  TRY(const std::optional<CurveKey> network, network_key(options));
  auto parts = std::make_unique<Parts>();
  CHECK_OK(make_private_folder(options.data));
  TRY(parts->lock, lock_folder(options.data));
  TRY(parts->catalog, Catalog::open(options.data));
  TRY(parts->reader, Catalog::open_reader(*parts->catalog));
  TRY(parts->writer, BlobWriter::open(*parts->catalog->local_blobs()));
  TRY(parts->store, make_sqlite_store(*parts->catalog));
  CHECK_OK(prune(*parts->catalog, options));
  TRY(const SigningKey key, load_key(options.data));
  CHECK_OK(make_private_folder(options.data / "logs"));
  parts->logs = std::make_unique<LogStore>(options.data / "logs");
  const std::shared_ptr<void> context = make_zmq_context();
  TRY(parts->control_socket, ServerSocket::bind(context, listen, kMaxControlBytes));
  TRY(parts->bulk_socket, ServerSocket::bind(context, bulk_listen, kMaxBulkBytes));
  parts->keys = std::make_unique<KeyRing>(
      options.data / "keys", parts->catalog->clock(),
      options.insecure ? KeyRing::Keyless::owner : KeyRing::Keyless::refused);
  if (!options.network.empty())
    CHECK_OK(serve_network(options, network, context, *parts->keys, parts->zap,
                           *parts->control_socket, *parts->bulk_socket));
  parts->bulk =
      std::make_unique<BulkServer>(*parts->bulk_socket, *parts->keys, *parts->catalog,
                                   *parts->reader, *parts->writer, *parts->logs, parts->peers);
  parts->control = std::make_unique<ControlServer>(
      *parts->control_socket, *parts->bulk_socket, *parts->keys, *parts->catalog, *parts->store,
      *parts->logs, parts->peers, key, options.check_engine,
      ControlHooks{[bulk = parts->bulk.get()] { bulk->wake(); }, options.alive});
  CHECK_OK(parts->control->open(core_options(options)));
  TRY(auto reader, Catalog::open_reader(*parts->catalog));
  parts->housekeeper = std::make_unique<Housekeeper>(
      *parts->catalog, std::move(reader), *parts->writer, *parts->logs, housekeeping(options));
  Parts* running = parts.get();
  parts->bulk_thread = std::thread([running] { running->bulk->run(); });
  parts->control_thread = std::thread([running] { running->control->run(); });
  auto coordinator = std::make_unique<Coordinator>(Started(), std::move(parts));
  if (!options.web.address.empty()) CHECK_OK(coordinator->start_web(options.web));
  return coordinator;
}

Status Coordinator::start_web(const WebOptions& options) {
  TRY(auto reader, Catalog::open_reader(*parts_->catalog));
  parts_->watch =
      std::make_unique<FarmWatch>(*parts_->control, *parts_->catalog, std::move(reader));
  TRY(parts_->web, WebServer::start(options, parts_->watch->sources()));
  return {};
}

Coordinator::~Coordinator() {
  if (parts_ == nullptr) return;
  parts_->web.reset();
  parts_->stop();
  parts_->join();
}

const std::string& Coordinator::control_address() const {
  return parts_->control_socket->address();
}
const std::string& Coordinator::network_address() const {
  return parts_->control_socket->network_address();
}
const std::string& Coordinator::bulk_address() const {
  return parts_->bulk_socket->address();
}

std::string Coordinator::web_address() const {
  return parts_->web ? parts_->web->address() : "";
}

void Coordinator::stop() {
  parts_->stop();
}

Status Coordinator::wait() {
  parts_->join();
  return {};
}

}  // namespace enginery
