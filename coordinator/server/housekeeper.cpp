#include "coordinator/server/housekeeper.h"

#include <filesystem>

#include "cache/local_blob_store.h"
#include "coordinator/store/queue_roots.h"
#include "engine/base/log.h"

namespace enginery {

Housekeeper::Housekeeper(Catalog& catalog, std::unique_ptr<Catalog> reader, BlobWriter& writer,
                         LogStore& logs, Housekeeping rules)
    : catalog_(catalog),
      reader_(std::move(reader)),
      writer_(writer),
      logs_(logs),
      rules_(std::move(rules)),
      thread_([this] { run(); }) {}

Housekeeper::~Housekeeper() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Housekeeper::run() {
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, rules_.every, [this] { return stop_; })) {
    lock.unlock();
    if (const Status done = tidy(); !done.ok())
      log_warning("housekeeping: " + done.error().message);
    lock.lock();
  }
}

Status Housekeeper::tidy() {
  logs_.prune(catalog_.clock().wall_time(), rules_.logs);
  writer_.remove_forgotten();
  catalog_.local_blobs()->prune_quarantine();
  const int64_t before_ns = (catalog_.clock().wall_time() - rules_.history).count();
  TRY([[maybe_unused]] const int64_t pruned, prune_history(catalog_, before_ns, rules_.events));
  TRY(const int64_t shared, share_engine_files(catalog_));
  if (shared > 0)
    log_info("housekeeping: " + std::to_string(shared) + " parts share their engines' files");
  return collect();
}

Status Housekeeper::collect() {
  TRY(const auto used, reader_->database().find_integer("SELECT sum(size_bytes) FROM blob"));
  std::error_code error;
  const std::filesystem::space_info disk = std::filesystem::space(catalog_.folder(), error);
  if (error)
    return Error{ErrorCode::storage,
                 "space of " + catalog_.folder().string() + ": " + error.message()};
  GcOptions options = rules_.collection;
  options.bytes_to_free = bytes_above_watermark(static_cast<uint64_t>(used.value_or(0)),
                                                disk.available, rules_.watermarks);
  if (options.bytes_to_free == 0) return {};
  TRY(options.in_use, blobs_of_running_jobs(*reader_));
  TRY(const GcReport report, collect_garbage(catalog_, options, reader_.get()));
  log_info("housekeeping: collected " + std::to_string(report.bytes_freed) + " bytes of " +
           std::to_string(options.bytes_to_free) + " above the watermark, " +
           std::to_string(report.dropped.size()) + " blobs");
  return {};
}

}  // namespace enginery
