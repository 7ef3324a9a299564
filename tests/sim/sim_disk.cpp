#include "tests/sim/sim_disk.h"

#include <algorithm>

namespace enginery {
namespace {

Error disk_error(const char* what) {
  return {ErrorCode::storage, std::string(what) + ": input/output error"};
}

// The first key under which the two maps differ, or "".
template <typename Map>
std::string difference_of(const Map& stored, const Map& model, auto name_of) {
  for (const auto& [key, row] : model)
    if (const auto found = stored.find(key); found == stored.end() || !(found->second == row))
      return name_of(key);
  for (const auto& [key, row] : stored)
    if (!model.count(key)) return name_of(key);
  return "";
}

// The catalog keeps what has names in the order of the names.
StepResult in_order(StepResult result) {
  const auto by_name = [](const auto& a, const auto& b) { return a.name < b.name; };
  std::sort(result.outputs.begin(), result.outputs.end(), by_name);
  std::sort(result.metrics.begin(), result.metrics.end(), by_name);
  std::sort(result.facts.begin(), result.facts.end(), by_name);
  return result;
}

}  // namespace

SimDisk::SimDisk(StoreKind kind, const Clock& clock) {
  if (kind == StoreKind::model) return;
  auto catalog = Catalog::open_in_memory(blobs_, clock);
  ENSURE(catalog.ok(), "a catalog in memory opens");
  catalog_ = std::move(*catalog);
  auto store = make_sqlite_store(*catalog_);
  ENSURE(store.ok(), "a store in memory opens");
  store_ = std::move(*store);
}

SimDisk::~SimDisk() = default;

void SimDisk::differs(const std::string& what) {
  if (violation_.empty()) violation_ = "the database is not what was written: " + what;
}

Result<LoadedQueue> SimDisk::load() {
  if (failing_loads_ > 0) {
    --failing_loads_;
    return disk_error("load the queue");
  }
  if (!store_) return model_.load();
  Result<LoadedQueue> stored = store_->load();
  if (stored.ok())
    compare(*stored);
  else
    differs(stored.error().message);
  return stored;
}

void SimDisk::compare(const LoadedQueue& stored) {
  const LoadedQueue& model = model_.rows();
  const auto number = [](uint64_t id) { return std::to_string(id); };
  const auto digest = [](const Digest& key) { return key.hex(); };
  const auto text = [](const std::string& name) { return name; };
  const auto pair = [](const auto& key) { return key.first + " " + key.second; };
  if (const auto at = difference_of(stored.jobs, model.jobs, number); !at.empty())
    differs("job " + at);
  if (const auto at = difference_of(stored.steps, model.steps, number); !at.empty())
    differs("step " + at);
  if (const auto at = difference_of(stored.skus, model.skus, pair); !at.empty())
    differs("SKU " + at);
  if (const auto at = difference_of(stored.troubles, model.troubles, digest); !at.empty())
    differs("the trouble of key " + at);
  if (const auto at = difference_of(stored.quarantines, model.quarantines, text); !at.empty())
    differs("the quarantine of " + at);
  if (const auto at = difference_of(stored.wishes, model.wishes, text); !at.empty())
    differs("the wish for " + at);
}

Status SimDisk::begin() {
  CHECK_OK(model_.begin());
  return store_ ? store_->begin() : Status();
}

Status SimDisk::apply(const RowChange& change) {
  const Status model = model_.apply(change);
  if (!store_) return model;
  const Status stored = store_->apply(change);
  if (stored.ok() != model.ok())
    differs(stored.ok() ? "it took a row that the model refuses: " + model.error().message
                        : "it refuses a row: " + stored.error().message);
  return stored;
}

// A disk that is full for the model fails before the database has committed, and one that lies
// keeps nothing in either.
Status SimDisk::commit() {
  const bool lies = model_.is_lying();
  CHECK_OK(model_.commit());
  if (!store_) return {};
  if (lies) {
    store_->roll_back();
    return {};
  }
  return store_->commit();
}

void SimDisk::roll_back() {
  model_.roll_back();
  if (store_) store_->roll_back();
}

Result<StoredAnswer> SimDisk::look_up(const Digest& key) {
  if (failing_look_ups_ > 0) {
    --failing_look_ups_;
    return disk_error("look up a key");
  }
  Result<StoredAnswer> model = model_.look_up(key);
  if (!store_) return model;
  Result<StoredAnswer> stored = store_->look_up(key);
  if (stored.ok() && model.ok())
    compare(*stored, *model);
  else if (!stored.ok())
    differs(stored.error().message);
  return stored;
}

// The catalog may hold a result for lost whose blobs have come back; it never answers with one that
// is not there.
void SimDisk::compare(const StoredAnswer& stored, const StoredAnswer& model) {
  if (stored.next_generation != model.next_generation)
    differs("the next generation is " + std::to_string(stored.next_generation) + " instead of " +
            std::to_string(model.next_generation));
  if (!stored.result) return;
  if (!model.result || stored.result->generation > model.result->generation)
    return differs("a result whose blobs are gone");
  if (stored.result->generation == model.result->generation &&
      in_order(*stored.result) != in_order(*model.result))
    differs("a result");
}

Digest SimDisk::add_blob(const std::string& content, uint64_t made_in_epoch,
                         uint64_t made_by_step) {
  const Digest digest = *blobs_.put(as_bytes(content));
  model_.add_blob(digest, made_in_epoch, made_by_step);
  return digest;
}

Status SimDisk::fetch(const Digest& digest) {
  const Result<Bytes> bytes = blobs_.get(digest);
  if (bytes.ok()) return {};
  model_.remove_blob(digest);
  return bytes.error();
}

void SimDisk::remove_blob(const Digest& digest) {
  (void)blobs_.remove(digest);
  model_.remove_blob(digest);
}

}  // namespace enginery
