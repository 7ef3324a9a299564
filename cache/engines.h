// The engines of the catalog: finished files with their names, and the tags and pins that people
// put on them. Threads: thread-safe.
//
// Names and tags belong to a trust domain, that of the key that made the engine: two tenants may
// use the same ones. A question with a domain finds what has its name or tag in it, one without
// ("") what is there in any.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cache/blob_store.h"
#include "cache/sqlite.h"
#include "engine/base/clock.h"

namespace enginery {

struct EngineRow {
  Digest digest;          // of the file
  Digest content_digest;  // without signature and provenance: what the engine does
  std::string name;       // as submitted; an engine may have several
  Digest model;
  std::string sku;
  std::string precision;
  Digest key;  // the action that made it
  uint64_t size_bytes = 0;
  double latency_ms = 0;  // 0: not measured
  bool provisional = false;
  int64_t created_ns = 0;  // wall time; filled by add when 0
  std::string domain;      // in which it has the name; "" for add: that of its key
};

struct TagRow {
  std::string name;  // the engine's name
  std::string tag;
  std::string sku;
  Digest engine;
  int64_t created_ns = 0;
  std::string domain = {};  // "" for set_tag: that of the engine's key
};

class Engines {
 public:
  Engines(Database& database, BlobStore& blobs, const Clock& clock)
      : database_(database), blobs_(blobs), clock_(clock) {}

  // Adds the engine, or one more name to a known one, which becomes the newest of that name.
  // not_found: no such blob.
  Status add(const EngineRow& engine);

  // By file digest: "sha256:" and at least 8 hex digits, or all 64. invalid_argument: too short,
  // ambiguous.
  Result<EngineRow> find(std::string_view digest_prefix, std::string_view domain = {});
  // The newest engine of that name for the SKU whose file is there.
  Result<EngineRow> newest(std::string_view name, std::string_view sku,
                           std::string_view domain = {});
  // Newest first, those whose file is there of `limit` rows behind the first `skip` ones; an empty
  // name or SKU means all.
  Result<std::vector<EngineRow>> list(std::string_view name, int64_t limit,
                                      std::string_view sku = {}, int64_t skip = 0,
                                      std::string_view domain = {});
  // How many rows there are of the name, or of all.
  Result<int64_t> count(std::string_view name, std::string_view domain = {});

  // Moves or makes the tag of a name for one SKU.
  Status set_tag(const TagRow& tag);
  Result<EngineRow> tagged(std::string_view name, std::string_view tag, std::string_view sku);
  Result<std::vector<TagRow>> tags(std::string_view domain = {});
  // The engines of a tag, one for each SKU (or of one SKU), those whose file is there.
  Result<std::vector<EngineRow>> of_tag(std::string_view name, std::string_view tag,
                                        std::string_view sku, std::string_view domain = {});

  // A pinned blob is a root of the collection.
  Status pin(const Digest& blob, std::string_view reason);
  Status unpin(const Digest& blob);

 private:
  // The trust domain of the action; the default one's where the action is not kept any more.
  Result<std::string> domain_of(const Digest& key);
  // Of the rows those whose file is there: the next one, or all.
  Result<std::optional<EngineRow>> next_present(Statement& rows);
  Result<std::optional<EngineRow>> first_present(Result<Statement> rows);
  Result<std::vector<EngineRow>> all_present(Result<Statement> rows);

  Database& database_;
  BlobStore& blobs_;
  const Clock& clock_;
};

}  // namespace enginery
