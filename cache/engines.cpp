#include "cache/engines.h"

#include "cache/action_key.h"
#include "cache/completeness.h"

namespace enginery {
namespace {

// Rows in read_engine's order; `rest` is what follows FROM. `name` is the table with the name that
// is asked for.
std::string select_engines(const std::string& name, const std::string& rest) {
  return "SELECT engine.digest, content_digest, " + name +
         ".name, model, engine.sku, precision, key, size_bytes, " +
         "latency_ms, provisional, engine.created_ns, " + name + ".domain FROM " + rest;
}

EngineRow read_engine(const Statement& row) {
  EngineRow engine;
  engine.digest = row.digest(0);
  engine.content_digest = row.digest(1);
  engine.name = row.text(2);
  engine.model = row.digest(3);
  engine.sku = row.text(4);
  engine.precision = row.text(5);
  engine.key = row.digest(6);
  engine.size_bytes = static_cast<uint64_t>(row.integer(7));
  engine.latency_ms = row.real(8);
  engine.provisional = row.integer(9) != 0;
  engine.created_ns = row.integer(10);
  engine.domain = row.text(11);
  return engine;
}

Error no_engine(const std::string& wanted) {
  return {ErrorCode::not_found, "engine " + wanted + ": not in the catalog"};
}

}  // namespace

Result<std::string> Engines::domain_of(const Digest& key) {
  TRY(Statement row, database_.prepare("SELECT trust_domain FROM action WHERE key=?1", key));
  TRY(const bool found, row.step());
  return found ? row.text(0) : std::string(kTrustDomain);
}

Status Engines::add(const EngineRow& engine) {
  TRY(Transaction transaction, Transaction::begin(database_));
  TRY(bool there, has_blob(blobs_, engine.digest));
  if (!there) return no_engine(engine.digest.text()).within("add engine '" + engine.name + "'");
  int64_t created_ns =
      engine.created_ns != 0 ? engine.created_ns : static_cast<int64_t>(clock_.wall_time().count());
  CHECK_OK(database_.execute(
      "INSERT INTO engine(digest, content_digest, model, sku, precision, key, size_bytes, "
      "latency_ms, "
      "provisional, created_ns) "
      "VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) ON CONFLICT(digest) DO UPDATE SET "
      "gone_ns=NULL",
      engine.digest, engine.content_digest, engine.model, engine.sku, engine.precision, engine.key,
      engine.size_bytes, engine.latency_ms, engine.provisional, created_ns));
  std::string domain = engine.domain;
  if (domain.empty()) {
    TRY(domain, domain_of(engine.key));
  }
  // A new row, so that the name's newest engine is the one added last.
  CHECK_OK(database_.execute("DELETE FROM engine_name WHERE name=?1 AND digest=?2 AND domain=?3",
                             engine.name, engine.digest, domain));
  CHECK_OK(database_.execute("INSERT INTO engine_name(name, digest, domain) VALUES(?1, ?2, ?3)",
                             engine.name, engine.digest, domain));
  return transaction.commit();
}

Result<std::optional<EngineRow>> Engines::next_present(Statement& rows) {
  while (true) {
    TRY(const bool found, rows.step());
    if (!found) return std::optional<EngineRow>();
    EngineRow engine = read_engine(rows);
    TRY(const auto size_bytes, size_if_there(blobs_, engine.digest));
    if (size_bytes) return std::optional<EngineRow>(std::move(engine));
  }
}

Result<std::optional<EngineRow>> Engines::first_present(Result<Statement> rows) {
  if (!rows.ok()) return rows.error();
  return next_present(*rows);
}

Result<std::vector<EngineRow>> Engines::all_present(Result<Statement> rows) {
  if (!rows.ok()) return rows.error();
  std::vector<EngineRow> out;
  while (true) {
    TRY(auto engine, next_present(*rows));
    if (!engine) return out;
    out.push_back(std::move(*engine));
  }
}

Result<EngineRow> Engines::find(std::string_view prefix, std::string_view domain) {
  TRY(DigestRange range, digest_range(prefix));
  TRY(auto count,
      database_.find_integer(
          "SELECT count(*) FROM engine WHERE digest BETWEEN ?1 AND ?2 AND gone_ns IS NULL AND "
          "(?3='' OR digest IN (SELECT digest FROM engine_name WHERE domain=?3))",
          range.first, range.last, domain));
  if (count.value_or(0) > 1) {
    return Error{ErrorCode::invalid_argument, "engine " + std::string(prefix) + ": " +
                                                  std::to_string(*count) +
                                                  " engines begin so, give more digits"};
  }
  std::string sql =
      select_engines("engine_name",
                     "engine JOIN engine_name USING(digest) WHERE digest BETWEEN ?1 AND ?2 "
                     "AND gone_ns IS NULL AND (?3='' OR domain=?3) ORDER BY sequence DESC");
  TRY(auto engine, first_present(database_.prepare(sql, range.first, range.last, domain)));
  if (!engine) return no_engine(std::string(prefix));
  return *engine;
}

Result<EngineRow> Engines::newest(std::string_view name, std::string_view sku,
                                  std::string_view domain) {
  std::string sql = select_engines("engine_name",
                                   "engine_name JOIN engine USING(digest) WHERE name=?1 AND sku=?2 "
                                   "AND gone_ns IS NULL AND (?3='' OR domain=?3) "
                                   "ORDER BY sequence DESC");
  TRY(auto engine, first_present(database_.prepare(sql, name, sku, domain)));
  if (!engine) return no_engine("'" + std::string(name) + "' for " + std::string(sku));
  return *engine;
}

Result<std::vector<EngineRow>> Engines::list(std::string_view name, int64_t limit,
                                             std::string_view sku, int64_t skip,
                                             std::string_view domain) {
  std::string sql = select_engines("engine_name",
                                   "engine_name JOIN engine USING(digest) WHERE (?1='' OR name=?1) "
                                   "AND (?3='' OR sku=?3) AND gone_ns IS NULL "
                                   "AND (?5='' OR domain=?5) "
                                   "ORDER BY sequence DESC LIMIT ?2 OFFSET ?4");
  return all_present(database_.prepare(sql, name, limit, sku, skip, domain));
}

Result<int64_t> Engines::count(std::string_view name, std::string_view domain) {
  TRY(const auto rows,
      database_.find_integer("SELECT count(*) FROM engine_name JOIN engine USING(digest) "
                             "WHERE (?1='' OR name=?1) AND gone_ns IS NULL "
                             "AND (?2='' OR domain=?2)",
                             name, domain));
  return rows.value_or(0);
}

// ---- tags

Status Engines::set_tag(const TagRow& tag) {
  TRY(Statement known, database_.prepare("SELECT key FROM engine WHERE digest=?1", tag.engine));
  TRY(const bool found, known.step());
  if (!found) return no_engine(tag.engine.text()).within("tag '" + tag.tag + "'");
  std::string domain = tag.domain;
  if (domain.empty()) {
    TRY(domain, domain_of(known.digest(0)));
  }
  CHECK_OK(database_.execute(
      "INSERT INTO tag(name, tag, sku, engine, created_ns, domain) VALUES(?1, ?2, ?3, ?4, ?5, ?6) "
      "ON CONFLICT(domain, name, tag, sku) DO UPDATE SET engine=excluded.engine, "
      "created_ns=excluded.created_ns",
      tag.name, tag.tag, tag.sku, tag.engine, clock_.wall_time().count(), domain));
  return {};
}

Result<EngineRow> Engines::tagged(std::string_view name, std::string_view tag,
                                  std::string_view sku) {
  // The engine may be known under other names only; the tag's own name is the answer's.
  std::string sql =
      select_engines("tag",
                     "tag JOIN engine ON engine.digest=tag.engine "
                     "WHERE tag.name=?1 AND tag=?2 AND tag.sku=?3 AND gone_ns IS NULL");
  TRY(auto engine, first_present(database_.prepare(sql, name, tag, sku)));
  if (!engine)
    return no_engine("'" + std::string(name) + "@" + std::string(tag) + "' for " +
                     std::string(sku));
  return *engine;
}

Result<std::vector<EngineRow>> Engines::of_tag(std::string_view name, std::string_view tag,
                                               std::string_view sku, std::string_view domain) {
  std::string sql = select_engines("tag",
                                   "tag JOIN engine ON engine.digest=tag.engine WHERE tag.name=?1 "
                                   "AND tag=?2 AND (?3='' OR tag.sku=?3) AND gone_ns IS NULL "
                                   "AND (?4='' OR tag.domain=?4) ORDER BY tag.sku");
  return all_present(database_.prepare(sql, name, tag, sku, domain));
}

Result<std::vector<TagRow>> Engines::tags(std::string_view domain) {
  std::vector<TagRow> out;
  TRY(Statement row, database_.prepare("SELECT name, tag, sku, engine, created_ns, domain FROM tag "
                                       "WHERE ?1='' OR domain=?1 ORDER BY name, tag, sku, domain",
                                       domain));
  while (true) {
    TRY(bool found, row.step());
    if (!found) return out;
    out.push_back(
        {row.text(0), row.text(1), row.text(2), row.digest(3), row.integer(4), row.text(5)});
  }
}

// ---- pins

Status Engines::pin(const Digest& blob, std::string_view reason) {
  TRY(bool there, has_blob(blobs_, blob));
  if (!there) return Error{ErrorCode::not_found, "pin " + blob.text() + ": not in the store"};
  CHECK_OK(
      database_.execute("INSERT INTO pin(blob, reason, created_ns) VALUES(?1, ?2, ?3) "
                        "ON CONFLICT(blob) DO UPDATE SET reason=excluded.reason",
                        blob, reason, clock_.wall_time().count()));
  return {};
}

Status Engines::unpin(const Digest& blob) {
  TRY(int64_t removed, database_.execute("DELETE FROM pin WHERE blob=?1", blob));
  if (removed == 0) return Error{ErrorCode::not_found, "unpin " + blob.text() + ": not pinned"};
  return {};
}

}  // namespace enginery
