// The simulator's disk: a QueueStore in memory that knows the rules and reports the first one that
// a change breaks.
//
// What was committed outlives a crash of the coordinator; what was only applied does not. Threads:
// one.
#pragma once

#include <map>
#include <set>

#include "coordinator/store/store.h"

namespace enginery {

class MemoryStore final : public QueueStore {
 public:
  Result<LoadedQueue> load() override { return committed_; }
  Status begin() override;
  Status apply(const RowChange& change) override;
  Status commit() override;
  void roll_back() override { pending_.clear(); }
  Result<StoredAnswer> look_up(const Digest& key) override;

  // Blobs are durable as soon as they are here.
  void add_blob(const Digest& digest, uint64_t made_in_epoch, uint64_t made_by_step);
  void remove_blob(const Digest& digest) { blobs_.erase(digest); }
  bool has_blob(const Digest& digest) const { return blobs_.count(digest) != 0; }
  const std::set<Digest>& blobs() const { return blobs_; }

  // The next `count` commits (or begins) fail: a full disk.
  void fail_next(int count) { failing_ = count; }
  // The next commit says ok and keeps nothing: a disk that lies, which the rules must notice.
  void lie_once() { lying_ = true; }
  bool is_lying() const { return lying_; }

  const LoadedQueue& rows() const { return committed_; }
  const std::string& violation() const { return violation_; }
  size_t commits() const { return commits_.size(); }

 private:
  struct Origin {
    uint64_t step = 0, epoch = 0;
  };
  void write(const InsertJob& insert);
  void write(const UpdateJob& job);
  void write(const ForgetJob& job);
  void write(const SaveTarget& save);
  void write(const SaveStep& save);
  void write(const SaveAttempt& save);
  void write(const SaveSku& save) {
    committed_.skus[{save.sku.sku, save.sku.toolchain}] = save.sku;
  }
  void write(const SaveKeyTrouble& save);
  void write(const SaveQuarantine& save);
  void write(const SaveWish& save);
  void write(const RecordAction&) {}
  void write(const CommitResult& commit);
  void write(const AddEngine& add);
  void write(const AppendEvent&) {}
  bool complete(const StepResult& result) const;
  void broken(std::string rule);

  LoadedQueue committed_;
  std::vector<RowChange> pending_;
  std::map<Digest, std::map<int64_t, StepResult>> results_;
  std::map<std::pair<Digest, int64_t>, int> commits_;
  std::set<uint64_t> held_;  // steps that a worker holds
  std::map<RequestId, uint64_t> requests_;
  std::set<Digest> blobs_;
  std::map<Digest, Origin> origins_;
  int failing_ = 0;
  bool lying_ = false;
  std::string violation_;
};

}  // namespace enginery
