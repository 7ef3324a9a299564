// The actions behind `catalog export` and `catalog import`: an engine with its key and its result
// as a document, and the same back into another catalog, whose blob store has the bytes by then.
//
//   document := what `catalog show` prints of the engine, with
//     "key_bytes": hex of the key's canonical bytes    "tags": [tag, ...]
//     "outcome": text    "outputs": [{"name", "digest", "size_bytes"}, ...]      of the key's
//     result
#include <nlohmann/json.hpp>

#include "coordinator/catalog/catalog_action_list.h"

namespace enginery {
namespace {

Result<CatalogJson> tags_document(Engines& engines, const CatalogJson& engine) {
  TRY(const std::vector<TagRow> tags, engines.tags(engine.at("trust_domain").get<std::string>()));
  const auto digest = engine.at("engine").get<std::string>();
  const auto name = engine.at("name").get<std::string>();
  CatalogJson out = CatalogJson::array();
  for (const TagRow& tag : tags)
    if (tag.engine.text() == digest && tag.name == name) out.push_back(tag.tag);
  return out;
}

struct BundledEngine {
  EngineRow row;
  Bytes key_bytes;
  ActionResult result;
  std::vector<std::string> tags;
};

// What is read from a document of another catalog. Throws CatalogJson::exception where a field is
// missing or of another type.
Result<BundledEngine> read_bundled(const CatalogJson& from) {
  const auto text = [&](const char* field) { return from.at(field).get<std::string>(); };
  BundledEngine out;
  EngineRow& row = out.row;
  TRY(row.digest, Digest::parse(text("engine")));
  TRY(row.content_digest, Digest::parse(text("content_digest")));
  TRY(row.model, Digest::parse(text("model")));
  TRY(row.key, Digest::parse(text("key")));
  row.name = text("name");
  row.sku = text("sku");
  row.precision = text("precision");
  row.size_bytes = from.at("size_bytes").get<uint64_t>();
  row.latency_ms = from.at("latency_ms").is_null() ? 0 : from.at("latency_ms").get<double>();
  row.provisional = from.at("provisional").get<bool>();
  row.created_ns = from.at("created").get<int64_t>();
  TRY(out.key_bytes, from_hex(text("key_bytes")));
  out.result.outcome = text("outcome");
  for (const CatalogJson& output : from.at("outputs")) {
    TRY(const Digest digest, Digest::parse(output.at("digest").get<std::string>()));
    out.result.outputs.push_back({output.at("name").get<std::string>(), digest});
  }
  out.tags = from.at("tags").get<std::vector<std::string>>();
  return out;
}

Result<BundledEngine> bundled_of(const CatalogInput& input) {
  const CatalogJson* document = input.find("engine_document");
  try {
    if (document != nullptr) return read_bundled(*document);
  } catch (const CatalogJson::exception&) {
  }
  return Error{ErrorCode::corrupt_data, "bundle: an engine's document lacks a field"};
}

}  // namespace

Result<CatalogJson> bundle_engine(const CatalogAccess& access, const CatalogInput& input) {
  TRY(CatalogJson document, show_engine(access, input));
  if (!document.contains("engine"))
    return Error{ErrorCode::not_found, "the catalog has no engine " + input.word(0)};
  TRY(const Digest key, Digest::parse(document.at("key").get<std::string>()));
  TRY(const ActionKey action, access.reader.results().find_action(key));
  TRY(const auto result, access.reader.results().lookup(key));
  TRY(const CatalogJson tags, tags_document(access.reader.engines(), document));
  CatalogJson outputs = CatalogJson::array();
  const bool some = result && result->success;
  for (const ResultOutput& output : some ? result->outputs : std::vector<ResultOutput>())
    outputs.push_back({{"name", output.name},
                       {"digest", output.digest.text()},
                       {"size_bytes", output.size_bytes}});
  document["key_bytes"] = to_hex(as_bytes(action.bytes()));
  document["tags"] = tags;
  document["outcome"] = some ? result->outcome : "";
  document["outputs"] = outputs;
  return document;
}

Result<CatalogJson> add_bundled_engine(const CatalogAccess& access, const CatalogInput& input) {
  TRY(BundledEngine engine, bundled_of(input));
  TRY(const ActionKey key, ActionKey::parse(engine.key_bytes));
  if (key.digest() != engine.row.key)
    return Error{ErrorCode::corrupt_data, "bundle: engine " + engine.row.digest.text() +
                                              " and its key do not belong together"};
  Catalog& catalog = access.catalog;
  TRY(Transaction transaction, Transaction::begin(catalog.database()));
  CHECK_OK(catalog.results().record_action(key));
  TRY(const auto known, catalog.results().lookup(engine.row.key));
  if (!known && !engine.result.outputs.empty()) {
    engine.result.key = engine.row.key;
    TRY(engine.result.generation, catalog.results().next_generation(engine.row.key));
    TRY([[maybe_unused]] const Commit done, catalog.results().commit(engine.result));
  }
  CHECK_OK(catalog.engines().add(engine.row));
  for (const std::string& tag : engine.tags)
    CHECK_OK(catalog.engines().set_tag({engine.row.name, tag, engine.row.sku, engine.row.digest}));
  CHECK_OK(transaction.commit());
  return CatalogJson{{"schema", "enginery.catalog.add/1"},
                     {"engine", engine.row.digest.text()},
                     {"name", engine.row.name},
                     {"sku", engine.row.sku},
                     {"new_result", !known && !engine.result.outputs.empty()}};
}

}  // namespace enginery
