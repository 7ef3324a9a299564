// The simulator's disk: what the coordinator's store and the workers' blobs are kept on.
//
// Always there is the model (MemoryStore), which knows the rules. In a share of the runs the real
// store works beside it: the queue's tables and the catalog's in SQLite, over the real blob store's
// interface. Both get every call, and what they say is compared, so that a row that one of them
// forgets to write is found at the next start. Threads: one.
#pragma once

#include "cache/catalog.h"
#include "cache/memory_blob_store.h"
#include "tests/sim/memory_store.h"

namespace enginery {

// Which store answers the coordinator.
enum class StoreKind : uint8_t { model, sqlite };

class SimDisk final : public QueueStore {
 public:
  SimDisk(StoreKind kind, const Clock& clock);
  ~SimDisk() override;

  Result<LoadedQueue> load() override;
  Status begin() override;
  Status apply(const RowChange& change) override;
  Status commit() override;
  void roll_back() override;
  Result<StoredAnswer> look_up(const Digest& key) override;

  // --- blobs; durable as soon as they are here

  Digest add_blob(const std::string& content, uint64_t made_in_epoch, uint64_t made_by_step);
  bool has_blob(const Digest& digest) const { return model_.has_blob(digest); }
  // Reads it as a worker does: not_found, or corrupt_data for a damaged one, which is gone then.
  Status fetch(const Digest& digest);
  void remove_blob(const Digest& digest);
  void damage_blob(const Digest& digest) { blobs_.damage(digest); }
  const std::set<Digest>& blobs() const { return model_.blobs(); }

  // --- faults

  // The next `count` transactions fail: a full disk.
  void fail_next(int count) { model_.fail_next(count); }
  void fail_next_look_up() { failing_look_ups_ = 1; }
  void fail_next_load() { failing_loads_ = 1; }
  // The next commit says ok and keeps nothing.
  void lie_once() { model_.lie_once(); }

  const LoadedQueue& rows() const { return model_.rows(); }
  std::string violation() const { return violation_.empty() ? model_.violation() : violation_; }
  size_t commits() const { return model_.commits(); }

 private:
  void compare(const LoadedQueue& stored);
  void compare(const StoredAnswer& stored, const StoredAnswer& model);
  void differs(const std::string& what);

  MemoryStore model_;
  MemoryBlobStore blobs_;
  std::unique_ptr<Catalog> catalog_;  // null, as is store_, where the model answers
  std::unique_ptr<QueueStore> store_;
  int failing_look_ups_ = 0, failing_loads_ = 0;
  std::string violation_;
};

}  // namespace enginery
