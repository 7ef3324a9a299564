#include "cache/gc.h"

#include <algorithm>
#include <map>

#include "cache/completeness.h"
#include "cache/local_blob_store.h"
#include "engine/base/signed_file.h"

namespace enginery {
namespace {

struct StoredBlob {
  Digest digest;
  uint64_t size_bytes = 0;  // that it takes: a part of another blob takes none
  int64_t created_ns = 0;
  bool is_part = false;
};

class Collection {
 public:
  Collection(Catalog& catalog, Catalog& reader, const GcOptions& options)
      : catalog_(catalog), reader_(reader), options_(options), keep_(options.in_use) {}

  Result<GcReport> run() {
    if (const LocalBlobStore* blobs = catalog_.local_blobs()) CHECK_OK(blobs->check_folder());
    const int64_t now = catalog_.clock().wall_time().count();
    CHECK_OK(keep("SELECT blob FROM pin"));
    CHECK_OK(keep("SELECT engine FROM tag"));
    CHECK_OK(keep_newest_engines());
    CHECK_OK(keep_results_of_engines());
    CHECK_OK(keep_wholes());
    TRY(const std::vector<StoredBlob> blobs, oldest_first());
    GcReport report;
    for (const StoredBlob& blob : blobs) {
      ++report.blobs;
      report.bytes += blob.size_bytes;
      if (report.bytes_freed >= options_.bytes_to_free || !may_go(blob, now)) continue;
      TRY(std::optional<GcDropped> dropped, drop(blob, now));
      if (!dropped) continue;
      report.bytes_freed += blob.size_bytes;
      report.dropped.push_back(std::move(*dropped));
    }
    return report;
  }

 private:
  // With the blobs that are its beginning; nothing where one of them is leased, as it may be since
  // this began.
  Result<std::optional<GcDropped>> drop(const StoredBlob& blob, int64_t now) {
    GcDropped dropped{blob.digest, blob.size_bytes, {}};
    TRY(std::vector<Digest> going, parts_of(blob.digest));
    going.insert(going.begin(), blob.digest);
    for (const Digest& digest : going) CHECK_OK(describe(digest, dropped.rebuilds));
    TRY(Transaction transaction, Transaction::begin(catalog_.database()));
    for (const Digest& digest : going) {
      TRY(const auto leased,
          catalog_.database().find_integer(
              "SELECT 1 FROM blob_lease WHERE digest=?1 AND until_ns>?2", digest, now));
      if (leased) return std::optional<GcDropped>();
    }
    if (options_.dry_run) return std::optional(std::move(dropped));
    for (const Digest& digest : going)
      CHECK_OK(forget_blob(catalog_.database(), catalog_.blobs(), catalog_.clock(), digest));
    CHECK_OK(transaction.commit());
    return std::optional(std::move(dropped));
  }

  Result<std::vector<Digest>> parts_of(const Digest& whole) {
    std::vector<Digest> out;
    TRY(Statement row,
        reader_.database().prepare("SELECT digest FROM blob_part WHERE whole=?1", whole));
    while (true) {
      TRY(const bool more, row.step());
      if (!more) return out;
      out.push_back(row.digest(0));
    }
  }

  // A part goes with its whole.
  bool may_go(const StoredBlob& blob, int64_t now) const {
    if (keep_.count(blob.digest) != 0 || blob.is_part) return false;
    const std::chrono::hours grace =
        blob.size_bytes < kInlineBlobBytes ? options_.small_grace : options_.grace;
    return now - blob.created_ns >= Nanoseconds(grace).count();
  }

  Status keep(const std::string& sql) {
    TRY(Statement row, reader_.database().prepare(sql));
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
        reader_.database().prepare(
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
    TRY(Statement row, reader_.database().prepare(
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

  // A blob that stays may be the beginning of one that nobody needs.
  Status keep_wholes() {
    TRY(Statement row, reader_.database().prepare("SELECT digest, whole FROM blob_part"));
    while (true) {
      TRY(const bool more, row.step());
      if (!more) return {};
      if (keep_.count(row.digest(0)) != 0) keep_.insert(row.digest(1));
    }
  }

  Result<std::vector<StoredBlob>> oldest_first() {
    std::vector<StoredBlob> out;
    TRY(Statement row,
        reader_.database().prepare("SELECT digest, size_bytes, created_ns, whole FROM blob "
                                   "LEFT JOIN blob_part USING(digest) ORDER BY created_ns"));
    while (true) {
      TRY(const bool more, row.step());
      if (!more) return out;
      out.push_back({row.digest(0), static_cast<uint64_t>(row.integer(1)), row.integer(2), {}});
      if (row.is_null(3)) continue;
      out.back().is_part = true;
      out.back().size_bytes = 0;
    }
  }

  // What would have to be made again without the blob.
  Status describe(const Digest& blob, std::vector<std::string>& rebuilds) {
    TRY(Statement engine, reader_.database().prepare(
                              "SELECT name, sku FROM engine JOIN engine_name USING(digest) WHERE "
                              "digest=?1 AND gone_ns IS NULL ORDER BY sequence DESC LIMIT 3",
                              blob));
    while (true) {
      TRY(const bool more, engine.step());
      if (!more) break;
      rebuilds.push_back("engine " + engine.text(0) + " for " + engine.text(1));
    }
    TRY(Statement result,
        reader_.database().prepare(
            "SELECT DISTINCT action.bytes FROM result_output o JOIN result r ON r.key=o.key AND "
            "r.generation=o.generation JOIN action ON action.key=o.key WHERE o.digest=?1 AND "
            "r.gone_ns IS NULL LIMIT 3",
            blob));
    while (true) {
      TRY(const bool more, result.step());
      if (!more) return {};
      const auto key = ActionKey::parse(as_text(result.blob(0)));
      if (!key.ok()) continue;
      const std::string* sku = key->find("sku");
      rebuilds.push_back(key->kind() + (sku != nullptr ? " for " + *sku : ""));
    }
  }

  Catalog& catalog_;
  Catalog& reader_;
  const GcOptions& options_;
  std::set<Digest> keep_;
};

}  // namespace

Result<int64_t> share_engine_files(Catalog& catalog) {
  if (catalog.local_blobs() == nullptr) return 0;
  // An unsigned engine is as long as the engine without the signature; the hash decides.
  std::vector<std::pair<Digest, Digest>> candidates;
  {
    TRY(Statement row,
        catalog.database().prepare(
            "SELECT c.digest, w.digest FROM engine e JOIN blob w ON w.digest=e.digest AND "
            "w.place=1 "
            "JOIN blob c ON c.digest=e.content_digest AND c.place=1 UNION "
            "SELECT u.digest, w.digest FROM result_output o JOIN blob u ON u.digest=o.digest AND "
            "u.place=1 JOIN blob w ON w.size_bytes=u.size_bytes+?1 AND w.place=1 "
            "JOIN engine e ON e.digest=w.digest WHERE o.name='unsigned'",
            static_cast<int64_t>(kSignatureTrailerBytes)));
    while (true) {
      TRY(const bool more, row.step());
      if (!more) break;
      candidates.emplace_back(row.digest(0), row.digest(1));
    }
  }
  int64_t shared = 0;
  for (const auto& [part, whole] : candidates) {
    const Result<bool> done = catalog.local_blobs()->share(part, whole);
    if (!done.ok() && done.error().code == ErrorCode::storage) return done.error();
    shared += done.ok() && *done;
  }
  return shared;
}

Result<GcReport> collect_garbage(Catalog& catalog, const GcOptions& options, Catalog* reader) {
  Result<GcReport> report = Collection(catalog, reader ? *reader : catalog, options).run();
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

namespace {

// Deletes from the oldest events on, a thousand in a transaction, what the condition names.
Result<int64_t> prune_events(Database& database, const char* condition, int64_t bound) {
  int64_t gone = 0;
  while (true) {
    TRY(const int64_t rows,
        database.execute("DELETE FROM event WHERE sequence<=(SELECT min(sequence)+1000 FROM event) "
                         "AND " +
                             std::string(condition),
                         bound));
    gone += rows;
    if (rows == 0) return gone;
  }
}

}  // namespace

Result<int64_t> prune_history(Catalog& catalog, int64_t before_ns, int64_t events_kept) {
  Database& database = catalog.database();
  constexpr const char* kStatements[] = {
      "DELETE FROM commit_log WHERE EXISTS (SELECT 1 FROM result r WHERE r.key=commit_log.key AND "
      "r.generation=commit_log.generation AND r.gone_ns<?1 AND EXISTS (SELECT 1 FROM result n "
      "WHERE n.key=r.key AND n.generation>r.generation))",
      "DELETE FROM result WHERE gone_ns<?1 AND EXISTS (SELECT 1 FROM result n WHERE "
      "n.key=result.key AND n.generation>result.generation)",
      "DELETE FROM engine WHERE gone_ns<?1 AND digest NOT IN (SELECT engine FROM tag) AND digest "
      "NOT IN (SELECT engine FROM engine_set)",
      "DELETE FROM blob_lease WHERE until_ns<?1",
  };
  TRY(int64_t gone, prune_events(database, "time_ns<?1", before_ns));
  TRY(const int64_t many,
      prune_events(database, "sequence<=(SELECT max(sequence) FROM event)-?1", events_kept));
  gone += many;
  TRY(Transaction transaction, Transaction::begin(database));
  for (const char* sql : kStatements) {
    TRY(const int64_t rows, database.execute(sql, before_ns));
    gone += rows;
  }
  CHECK_OK(transaction.commit());
  return gone;
}

Status lease_blobs(Catalog& catalog, Catalog& reader, std::span<const Digest> blobs) {
  const Nanoseconds now = catalog.clock().wall_time();
  std::vector<Digest> due;
  for (const Digest& blob : blobs) {
    TRY(const auto until,
        reader.database().find_integer(
            "SELECT until_ns FROM blob_lease WHERE digest=?1 AND owner=''", blob));
    if (until.value_or(0) < (now + kBlobLease / 2).count()) due.push_back(blob);
  }
  if (due.empty()) return {};
  TRY(Transaction transaction, Transaction::begin(catalog.database()));
  for (const Digest& blob : due)
    CHECK_OK(catalog.database().execute(
        "INSERT OR REPLACE INTO blob_lease(digest, owner, until_ns) VALUES(?1, '', ?2)", blob,
        (now + kBlobLease).count()));
  return transaction.commit();
}

}  // namespace enginery
