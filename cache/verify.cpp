#include "cache/verify.h"

#include <fcntl.h>

#include <algorithm>
#include <random>
#include <set>

#include "cache/completeness.h"
#include "cache/file_ops.h"
#include "cache/local_blob_store.h"

namespace enginery {
namespace {

// One examination; each check adds what it finds to the report.
class Examination {
 public:
  Examination(Catalog& catalog, const VerifyOptions& options)
      : catalog_(catalog), options_(options) {}

  Result<VerifyReport> run() {
    CHECK_OK(check_database());
    if (!report_.clean())
      return report_;  // what a broken database says about the rest means nothing
    if (catalog_.local_blobs()) CHECK_OK(check_folder());
    if (!report_.clean() && !options_.repair) return report_;  // every blob would count as lost
    CHECK_OK(check_blobs());
    if (catalog_.local_blobs()) CHECK_OK(check_orphans());
    CHECK_OK(check_references());
    CHECK_OK(check_commits());
    CHECK_OK(check_keys("SELECT key, bytes FROM action"));
    CHECK_OK(check_keys("SELECT digest, bytes FROM timing_key"));
    return report_;
  }

 private:
  void found(std::string kind, std::string subject, std::string detail) {
    report_.problems.push_back({std::move(kind), std::move(subject), std::move(detail)});
  }

  Status check_database() {
    TRY(auto problems, catalog_.database().check());
    for (std::string& problem : problems)
      found("database", catalog_.database().name(), std::move(problem));
    return {};
  }

  Status check_folder() {
    const LocalBlobStore& blobs = *catalog_.local_blobs();
    const Status here = blobs.check_folder();
    if (here.ok()) return {};
    found("folder_away", (blobs.folder() / "sha256").string(), here.error().message);
    return options_.repair ? blobs.accept_folder() : Status();
  }

  Status check_blobs() {
    TRY(auto blobs, catalog_.blobs().list());
    report_.blobs = static_cast<int64_t>(blobs.size());
    size_t count = options_.rehash_at_most < 0
                       ? blobs.size()
                       : std::min<size_t>(blobs.size(), options_.rehash_at_most);
    size_t start = blobs.empty() ? 0 : std::mt19937_64(options_.seed)() % blobs.size();
    for (size_t i = 0; i < blobs.size(); ++i) {
      const BlobInfo& blob = blobs[(start + i) % blobs.size()];
      CHECK_OK(check_blob(blob.digest, i < count));
    }
    return {};
  }

  Result<uint64_t> examine(const Digest& digest, bool hash) {
    if (!hash) return catalog_.blobs().size(digest);
    if (catalog_.local_blobs()) return catalog_.local_blobs()->rehash(digest);
    TRY(Bytes bytes, catalog_.blobs().get(digest));
    return static_cast<uint64_t>(bytes.size());
  }

  Status check_blob(const Digest& digest, bool hash) {
    Result<uint64_t> size_bytes = examine(digest, hash);
    if (size_bytes.ok()) {
      if (hash) ++report_.blobs_hashed, report_.bytes_hashed += *size_bytes;
      return {};
    }
    const Error& error = size_bytes.error();
    if (error.code == ErrorCode::not_found) {
      TRY(auto row, catalog_.database().find_integer("SELECT 1 FROM blob WHERE digest=?1", digest));
      if (!row) return {};  // removed since the list was made
      found("missing_blob", digest.text(), error.message);
    } else {
      found(error.code == ErrorCode::corrupt_data ? "corrupt_blob" : "unreadable_blob",
            digest.text(), error.message);
    }
    return options_.repair ? give_up(digest) : Status();
  }

  // Sets the damaged blob aside and stops answering with what needs it.
  Status give_up(const Digest& digest) {
    if (catalog_.local_blobs()) CHECK_OK(catalog_.local_blobs()->set_aside(digest));
    CHECK_OK(forget_blob(catalog_.database(), catalog_.blobs(), catalog_.clock(), digest));
    ++report_.repaired;
    return {};
  }

  Status check_orphans() {
    LocalBlobStore& blobs = *catalog_.local_blobs();
    TRY(auto orphans, blobs.orphans());
    for (const auto& orphan : orphans) {
      Result<Descriptor> descriptor = open_file(orphan, O_RDONLY);
      if (!descriptor.ok() && descriptor.error().code == ErrorCode::not_found)
        continue;  // just taken away
      if (!descriptor.ok()) return descriptor.error();
      TRY(HashedFile hashed, hash_file(descriptor->get(), orphan));
      if (blobs.path_of(hashed.digest) == orphan) {
        ++report_.orphans;
      } else {
        found("corrupt_orphan", orphan.string(),
              "a file without a row whose content does not match its name");
      }
      if (options_.repair) {
        CHECK_OK(blobs.take_up(orphan));
        ++report_.repaired;
      }
    }
    return {};
  }

  Status check_references() {
    std::set<Digest> missing;
    TRY(report_.results, count("SELECT count(*) FROM result WHERE gone_ns IS NULL"));
    TRY(report_.engines, count("SELECT count(*) FROM engine WHERE gone_ns IS NULL"));
    CHECK_OK(
        collect_missing("SELECT DISTINCT o.digest, 'result of ' || lower(hex(o.key)) FROM "
                        "result_output o JOIN result r "
                        "ON r.key=o.key AND r.generation=o.generation WHERE r.gone_ns IS NULL",
                        missing));
    CHECK_OK(collect_missing("SELECT digest, 'engine' FROM engine WHERE gone_ns IS NULL", missing));
    CHECK_OK(collect_missing(
        "SELECT histograms, 'calibration' FROM calibration WHERE gone_ns IS NULL", missing));
    if (!options_.repair) return {};
    for (const Digest& digest : missing) CHECK_OK(give_up(digest));
    return {};
  }

  Status collect_missing(const char* sql, std::set<Digest>& missing) {
    TRY(auto references, digests_and_text(sql));
    for (const auto& [digest, user] : references) {
      TRY(bool there, has_blob(catalog_.blobs(), digest));
      if (there) continue;
      found("missing_blob", digest.text(), "needed by " + user);
      missing.insert(digest);
    }
    return {};
  }

  Status check_commits() {
    TRY(auto doubled,
        digests_and_text(
            "SELECT key, 'generation ' || generation || ': committed ' || count(*) || ' times' "
            "FROM commit_log GROUP BY key, generation HAVING count(*) > 1"));
    for (const auto& [key, text] : doubled) found("double_commit", key.text(), text);
    TRY(auto unlogged,
        digests_and_text(
            "SELECT key, 'generation ' || generation || ': never committed' FROM result r WHERE "
            "NOT EXISTS (SELECT 1 FROM commit_log c WHERE c.key=r.key AND "
            "c.generation=r.generation)"));
    for (const auto& [key, text] : unlogged) found("double_commit", key.text(), text);
    return {};
  }

  Status check_keys(const char* sql) {
    TRY(Statement row, catalog_.database().prepare(sql));
    while (true) {
      TRY(bool more, row.step());
      if (!more) return {};
      Result<ActionKey> key = ActionKey::parse(as_text(row.blob(1)));
      if (!key.ok()) {
        found("bad_key", row.digest(0).text(), key.error().message);
      } else if (sha256(row.blob(1)) != row.digest(0)) {
        found("bad_key", row.digest(0).text(), "the key's bytes have another hash");
      }
    }
  }

  Result<int64_t> count(const char* sql) {
    TRY(auto value, catalog_.database().find_integer(sql));
    return value.value_or(0);
  }

  Result<std::vector<std::pair<Digest, std::string>>> digests_and_text(const char* sql) {
    std::vector<std::pair<Digest, std::string>> out;
    TRY(Statement row, catalog_.database().prepare(sql));
    while (true) {
      TRY(bool more, row.step());
      if (!more) return out;
      out.emplace_back(row.digest(0), row.text(1));
    }
  }

  Catalog& catalog_;
  const VerifyOptions& options_;
  VerifyReport report_;
};

}  // namespace

Result<VerifyReport> verify(Catalog& catalog, const VerifyOptions& options) {
  Result<VerifyReport> report = Examination(catalog, options).run();
  if (!report.ok()) return report.error().within("verify catalog " + catalog.folder().string());
  return report;
}

}  // namespace enginery
