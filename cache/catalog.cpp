#include "cache/catalog.h"

#include <sys/stat.h>

#include <chrono>

#include "cache/folder_lock.h"
#include "cache/local_blob_store.h"
#include "cache/private_folder.h"
#include "engine/base/file.h"

namespace enginery {
namespace {

Result<std::unique_ptr<Database>> open_database(const std::filesystem::path& folder,
                                                const DatabaseOptions& options) {
  // Making the file, switching it to WAL and migrating it are not for two processes at once.
  TRY(FolderLock lock, FolderLock::acquire(folder, "open", options.busy_timeout));
  DatabaseOptions unchecked = options;
  unchecked.quick_check = false;
  TRY(std::unique_ptr<Database> database, Database::open(folder / "catalog.db", unchecked));
  CHECK_OK(database->migrate(kCacheModule, cache_migrations()));
  return database;
}

// Whether the database was examined within the time: by the date of the file `checked`.
bool is_checked(const std::filesystem::path& folder, std::chrono::hours within, Nanoseconds now) {
  struct stat info {};
  if (stat((folder / "checked").c_str(), &info) != 0) return false;
  const Nanoseconds age = age_of(info, now);
  return age >= Nanoseconds(0) && age < within;
}

// Reads every page of the database, which takes long for a large one: not at every open, and not
// while others wait to open it.
Status check_now_and_then(Database& database, const std::filesystem::path& folder,
                          const CatalogOptions& options) {
  const Nanoseconds now = SystemClock().wall_time();  // files have the machine's dates
  if (!options.database.quick_check || is_checked(folder, options.check_every, now)) return {};
  TRY(const auto problems, database.check());
  if (!problems.empty())
    return Error{ErrorCode::corrupt_data, database.name() + ": quick_check: " + problems[0]};
  return write_file(folder / "checked", "");
}

}  // namespace

Catalog::Catalog(Opened) {}
Catalog::~Catalog() = default;

Result<std::unique_ptr<Catalog>> Catalog::open(const std::filesystem::path& folder,
                                               const CatalogOptions& options) {
  std::string verb = "open catalog " + folder.string();
  if (Status made = make_private_folder(folder); !made.ok()) return made.error().within(verb);
  auto catalog = std::make_unique<Catalog>(Opened());
  catalog->folder_ = folder;
  if (options.clock) catalog->clock_ = options.clock;
  auto database = open_database(folder, options.database);
  if (!database.ok()) return database.error().within(verb);
  catalog->database_ = std::move(*database);
  if (Status checked = check_now_and_then(*catalog->database_, folder, options); !checked.ok())
    return checked.error().within(verb);
  for (const char* file : {"catalog.db", "catalog.db-wal", "catalog.db-shm"})
    if (Status tight = make_private_file(folder / file); !tight.ok())
      return tight.error().within(verb);
  Durability& durability =
      options.durability != nullptr ? *options.durability : catalog->system_durability_;
  auto blobs = LocalBlobStore::open(folder, *catalog->database_, *catalog->clock_, durability);
  if (!blobs.ok()) return blobs.error().within(verb);
  catalog->local_blobs_ = std::move(*blobs);
  catalog->blobs_ = catalog->local_blobs_.get();
  catalog->make_tables();
  return catalog;
}

Result<std::unique_ptr<Catalog>> Catalog::open_reader(const Catalog& of) {
  auto catalog = std::make_unique<Catalog>(Opened());
  catalog->folder_ = of.folder_;
  catalog->clock_ = of.clock_;
  TRY(catalog->database_, Database::open_reader(of.folder_ / "catalog.db"));
  catalog->local_blobs_ = LocalBlobStore::over(of.folder_, *catalog->database_, *catalog->clock_,
                                               catalog->system_durability_);
  catalog->blobs_ = catalog->local_blobs_.get();
  catalog->make_tables();
  return catalog;
}

Result<std::unique_ptr<Catalog>> Catalog::open_in_memory(BlobStore& blobs, const Clock& clock) {
  auto catalog = std::make_unique<Catalog>(Opened());
  catalog->clock_ = &clock;
  TRY(catalog->database_, Database::open_in_memory());
  CHECK_OK(catalog->database_->migrate(kCacheModule, cache_migrations()));
  catalog->blobs_ = &blobs;
  catalog->make_tables();
  return catalog;
}

void Catalog::make_tables() {
  results_ = std::make_unique<Results>(*database_, *blobs_, *clock_);
  engines_ = std::make_unique<Engines>(*database_, *blobs_, *clock_);
  timings_ = std::make_unique<Timings>(*database_, *clock_);
  calibrations_ = std::make_unique<Calibrations>(*database_, *clock_);
  events_ = std::make_unique<Events>(*database_);
}

}  // namespace enginery
