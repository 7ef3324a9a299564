// The coordinator as a service: its data folder, its two sockets and the threads that serve them.
//
// Where: `enginery coordinator` and `up` start one; tests start one in their own process. The
// decisions are core.h's; this only carries them out: durable write first, then the replies.
// Threads: start, stop and wait may be called from any thread; the object owns its own threads.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "coordinator/web/web_address.h"
#include "engine/base/result.h"
#include "pipeline/signature.h"

namespace enginery {

// Where a coordinator keeps its data and listens.
struct CoordinatorOptions {
  std::filesystem::path data;  // the catalog's folder; keys/ and logs/ are inside
  std::string listen;          // "" means default_control_address()
  std::string bulk_listen;     // "" means default_bulk_address()
  // How long a worker's Sync is held while nothing changes.
  std::chrono::milliseconds sync_hold{5000};
  // What it signs: required, and engine/format's reader but in tests.
  EngineCheck check_engine = {};
  // What its blobs may take; 0: as much as the disk has. Above nine tenths of it, or of the disk,
  // what nobody needs is collected (cache/gc.h).
  uint64_t quota_bytes = 0;
  // What is remembered of jobs that have ended: so many, and they, their logs and events for so
  // long.
  size_t ended_jobs_kept = 20'000;
  std::chrono::hours history{30 * 24};
  std::chrono::milliseconds tidy_every{std::chrono::minutes(10)};  // see Housekeeper
  // How many jobs of one client may wait or run.
  size_t client_jobs = 100'000;
  WebOptions web = {};  // where it serves HTTP; nowhere by default
  // Also served, to keys of data/keys/principals alone: tcp://HOST:PORT, "" for none. The bulk
  // address is "" for the port behind it.
  std::string network = {}, network_bulk = {};
  bool insecure = false;  // the network's addresses without keys: whoever reaches them is the owner
  // Called by the control thread, every second and more often.
  std::function<void()> alive = {};
};

class Coordinator {
  struct Started {
    explicit Started() = default;
  };
  struct Parts;

 public:
  // Locks the folder, opens the catalog, loads the queue, binds both sockets and serves. storage:
  // the folder is in use by another coordinator, read-only, full; usage: an address beyond
  // this host in `listen`, or one of the network without the coordinator's key; unavailable: an
  // address that is taken.
  static Result<std::unique_ptr<Coordinator>> start(const CoordinatorOptions& options);
  ~Coordinator();  // stops
  Coordinator(const Coordinator&) = delete;

  // The addresses as bound (a tcp port of * or 0 is resolved).
  const std::string& control_address() const;
  const std::string& bulk_address() const;
  std::string web_address() const;             // "http://127.0.0.1:9090"; "" without an HTTP server
  const std::string& network_address() const;  // "" where there is none

  // Asks it to end; returns at once. Call it from an ordinary thread, not from a signal handler.
  void stop();
  // Returns when it has ended: ok after stop(), or what made it give up.
  Status wait();

  // For start(), which alone can make the key.
  Coordinator(Started, std::unique_ptr<Parts> parts);

 private:
  Status start_web(const WebOptions& options);

  std::unique_ptr<Parts> parts_;
};

}  // namespace enginery
