// The catalog of one folder: blobs, results, engines, timings, calibrations and events, over one
// SQLite file.
//
// Where: `build` opens the user's own; the coordinator opens the farm's and keeps its queue in the
// same database, so that a queue transition and a result are one Transaction. cache/README.md
// describes the folder and the tables. Threads: thread-safe. Processes: several may share a folder.
#pragma once

#include <filesystem>
#include <memory>

#include "cache/blob_store.h"
#include "cache/engines.h"
#include "cache/events.h"
#include "cache/file_ops.h"
#include "cache/results.h"
#include "cache/sqlite.h"
#include "cache/timings.h"
#include "engine/base/clock.h"

namespace enginery {

class LocalBlobStore;

// Applied at an open under the module's name: the tables as a history of migrations (schema.cpp).
// Add at the end, never edit what was released.
inline constexpr std::string_view kCacheModule = "cache";
std::span<const Migration> cache_migrations();

struct CatalogOptions {
  DatabaseOptions database;
  // The whole database is examined at an open (quick_check) when that was last done so long ago.
  std::chrono::hours check_every{24};
  const Clock* clock = nullptr;      // null: the machine's; otherwise outlives the catalog
  Durability* durability = nullptr;  // null: the system's; otherwise outlives the catalog
};

class Catalog {
  struct Opened {
    explicit Opened() = default;
  };

 public:
  // Opens or creates the catalog of `folder` and brings its tables up to date. storage: one message
  // that names the folder when it is read-only, full, not ours or locked, within seconds.
  // corrupt_data: the database is damaged.
  static Result<std::unique_ptr<Catalog>> open(const std::filesystem::path& folder,
                                               const CatalogOptions& options = {});

  // The catalog of a folder that this process has open, over a connection of its own for reading:
  // long questions to it hold up nobody. What writes fails (internal, storage).
  static Result<std::unique_ptr<Catalog>> open_reader(const Catalog& catalog);

  // A catalog in memory over the given blobs (the simulator's disk), which outlive it.
  static Result<std::unique_ptr<Catalog>> open_in_memory(BlobStore& blobs, const Clock& clock);

  ~Catalog();
  Catalog(const Catalog&) = delete;

  Database& database() { return *database_; }
  BlobStore& blobs() { return *blobs_; }
  LocalBlobStore* local_blobs() { return local_blobs_.get(); }  // null for a catalog in memory
  Results& results() { return *results_; }
  Engines& engines() { return *engines_; }
  Timings& timings() { return *timings_; }
  Calibrations& calibrations() { return *calibrations_; }
  Events& events() { return *events_; }
  const Clock& clock() const { return *clock_; }
  const std::filesystem::path& folder() const { return folder_; }

  // For open() and open_in_memory(), which alone can make the key.
  explicit Catalog(Opened);

 private:
  void make_tables();

  std::filesystem::path folder_;
  SystemClock system_clock_;
  SystemDurability system_durability_;
  const Clock* clock_ = &system_clock_;
  std::unique_ptr<Database> database_;
  std::unique_ptr<LocalBlobStore> local_blobs_;
  BlobStore* blobs_ = nullptr;
  std::unique_ptr<Results> results_;
  std::unique_ptr<Engines> engines_;
  std::unique_ptr<Timings> timings_;
  std::unique_ptr<Calibrations> calibrations_;
  std::unique_ptr<Events> events_;
};

}  // namespace enginery
