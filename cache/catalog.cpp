#include "cache/catalog.h"

#include <chrono>

#include "cache/folder_lock.h"
#include "cache/local_blob_store.h"
#include "cache/private_folder.h"
#include "cache/schema.h"

namespace enginery {
namespace {

Result<std::unique_ptr<Database>> open_database(const std::filesystem::path& folder,
                                                const DatabaseOptions& options) {
  // Making the file, switching it to WAL and migrating it are not for two processes at once.
  TRY(FolderLock lock, FolderLock::acquire(folder, "open", options.busy_timeout));
  TRY(std::unique_ptr<Database> database, Database::open(folder / "catalog.db", options));
  CHECK_OK(database->migrate(kCacheModule, cache_migrations()));
  return database;
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
  timings_ = std::make_unique<Timings>(*database_);
  events_ = std::make_unique<Events>(*database_);
}

}  // namespace enginery
