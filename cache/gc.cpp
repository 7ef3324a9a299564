#include "cache/gc.h"

#include <algorithm>
#include <map>

#include "cache/completeness.h"
#include "cache/local_blob_store.h"

namespace enginery {
namespace {

struct StoredBlob {
  Digest digest;
  uint64_t size_bytes = 0;
  int64_t created_ns = 0;
};

class Collection {
 public:
  Collection(Catalog& catalog, const GcOptions& options)
      : catalog_(catalog), options_(options), keep_(options.in_use) {}

  Result<GcReport> run() {
    if (const LocalBlobStore* blobs = catalog_.local_blobs()) CHECK_OK(blobs->check_folder());
    const int64_t now = catalog_.clock().wall_time().count();
    CHECK_OK(keep("SELECT blob FROM pin"));
    CHECK_OK(keep("SELECT engine FROM tag"));
    CHECK_OK(keep("SELECT digest FROM blob_lease WHERE until_ns>" + std::to_string(now)));
    CHECK_OK(keep_newest_engines());
    CHECK_OK(keep_results_of_engines());
    TRY(const std::vector<StoredBlob> blobs, oldest_first());
    GcReport report;
    for (const StoredBlob& blob : blobs) {
      ++report.blobs;
      report.bytes += blob.size_bytes;
      if (report.bytes_freed >= options_.bytes_to_free || !may_go(blob, now)) continue;
      TRY(GcDropped dropped, describe(blob));
      report.bytes_freed += blob.size_bytes;
      report.dropped.push_back(std::move(dropped));
      if (!options_.dry_run)
        CHECK_OK(forget_blob(catalog_.database(), catalog_.blobs(), catalog_.clock(), blob.digest));
    }
    return report;
  }

 private:
  bool may_go(const StoredBlob& blob, int64_t now) const {
    if (keep_.count(blob.digest) != 0) return false;
    const std::chrono::hours grace =
        blob.size_bytes < kInlineBlobBytes ? options_.small_grace : options_.grace;
    return now - blob.created_ns >= Nanoseconds(grace).count();
  }

  Status keep(const std::string& sql) {
    TRY(Statement row, catalog_.database().prepare(sql));
    while (true) {
      TRY(const bool more, row.step());
      if (!more) return {};
      keep_.insert(row.digest(0));
    }
  }

  // Of each model, SKU, precision and toolchain.
  Status keep_newest_engines() {
    std::map<std::string, int64_t> kept;
    TRY(Statement row,
        catalog_.database().prepare(
            "SELECT digest, hex(model) || ' ' || sku || ' ' || precision, action.bytes FROM engine "
            "LEFT JOIN action ON action.key=engine.key WHERE gone_ns IS NULL "
            "ORDER BY engine.created_ns DESC"));
    while (true) {
      TRY(const bool more, row.step());
      if (!more) return {};
      std::string group = row.text(1);
      if (const auto key = ActionKey::parse(as_text(row.blob(2))); key.ok()) {
        for (const KeyField& field : key->fields())
          if (field.name.starts_with("toolchain")) group += " " + field.name + "=" + field.value;
      }
      if (kept[group]++ < options_.newest) keep_.insert(row.digest(0));
    }
  }

  // An engine that stays must also be the answer to its key, which all outputs of its result are
  // needed for.
  Status keep_results_of_engines() {
    std::vector<Digest> outputs;
    TRY(Statement row, catalog_.database().prepare(
                           "SELECT e.digest, o.digest FROM engine e JOIN result_output o ON "
                           "o.key=e.key WHERE e.gone_ns IS NULL"));
    while (true) {
      TRY(const bool more, row.step());
      if (!more) break;
      if (keep_.count(row.digest(0)) != 0) outputs.push_back(row.digest(1));
    }
    keep_.insert(outputs.begin(), outputs.end());
    return {};
  }

  Result<std::vector<StoredBlob>> oldest_first() {
    std::vector<StoredBlob> out;
    TRY(Statement row, catalog_.database().prepare(
                           "SELECT digest, size_bytes, created_ns FROM blob ORDER BY created_ns"));
    while (true) {
      TRY(const bool more, row.step());
      if (!more) return out;
      out.push_back({row.digest(0), static_cast<uint64_t>(row.integer(1)), row.integer(2)});
    }
  }

  Result<GcDropped> describe(const StoredBlob& blob) {
    GcDropped dropped{blob.digest, blob.size_bytes, {}};
    TRY(Statement engine, catalog_.database().prepare(
                              "SELECT name, sku FROM engine JOIN engine_name USING(digest) WHERE "
                              "digest=?1 AND gone_ns IS NULL ORDER BY sequence DESC LIMIT 3",
                              blob.digest));
    while (true) {
      TRY(const bool more, engine.step());
      if (!more) break;
      dropped.rebuilds.push_back("engine " + engine.text(0) + " for " + engine.text(1));
    }
    TRY(Statement result,
        catalog_.database().prepare(
            "SELECT DISTINCT action.bytes FROM result_output o JOIN result r ON r.key=o.key AND "
            "r.generation=o.generation JOIN action ON action.key=o.key WHERE o.digest=?1 AND "
            "r.gone_ns IS NULL LIMIT 3",
            blob.digest));
    while (true) {
      TRY(const bool more, result.step());
      if (!more) return dropped;
      const auto key = ActionKey::parse(as_text(result.blob(0)));
      if (!key.ok()) continue;
      const std::string* sku = key->find("sku");
      dropped.rebuilds.push_back(key->kind() + (sku != nullptr ? " for " + *sku : ""));
    }
  }

  Catalog& catalog_;
  const GcOptions& options_;
  std::set<Digest> keep_;
};

}  // namespace

Result<GcReport> collect_garbage(Catalog& catalog, const GcOptions& options) {
  Result<GcReport> report = Collection(catalog, options).run();
  if (!report.ok()) return report.error().within("collect garbage");
  return report;
}

uint64_t bytes_above_watermark(uint64_t used, uint64_t free, const Watermarks& marks) {
  const uint64_t disk = used + free;
  const uint64_t limit = marks.quota_bytes == 0 ? disk : std::min(marks.quota_bytes, disk);
  const auto part = [&](double share) {
    return static_cast<uint64_t>(static_cast<double>(limit) * share);
  };
  return used <= part(marks.high) ? 0 : used - part(marks.low);
}

}  // namespace enginery
