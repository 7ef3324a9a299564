// The actions on engines: ls, show, pin, unpin, tag.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "coordinator/catalog/catalog_action_list.h"

namespace enginery {
namespace {

// What the engine's key says of its shapes; "" is the model's own.
std::string shapes_of(Catalog& catalog, const EngineRow& engine) {
  const auto key = catalog.results().find_action(engine.key);
  const std::string* shapes = key.ok() ? key->find("shapes") : nullptr;
  return shapes ? *shapes : "";
}

// Which share of the device other programs used while the latency was measured; null where it is
// not known.
CatalogJson foreign_load_of(Catalog& catalog, const EngineRow& engine) {
  const auto result = catalog.results().lookup(engine.key);
  if (!result.ok() || !result->has_value()) return nullptr;
  const CatalogJson outcome = CatalogJson::parse((*result)->outcome, nullptr, false);
  const auto place = CatalogJson::json_pointer("/metrics/foreign_load");
  const bool is_known =
      outcome.is_object() && outcome.contains(place) && outcome[place].is_number();
  return is_known ? outcome[place] : CatalogJson(nullptr);
}

CatalogJson engine_document(Catalog& catalog, const EngineRow& engine) {
  return {{"engine", engine.digest.text()},
          {"content_digest", engine.content_digest.text()},
          {"name", engine.name},
          {"sku", engine.sku},
          {"precision", engine.precision},
          {"model", engine.model.text()},
          {"key", engine.key.text()},
          {"size_bytes", engine.size_bytes},
          {"latency_ms",
           engine.latency_ms == 0 ? CatalogJson(nullptr) : CatalogJson(engine.latency_ms)},
          {"provisional", engine.provisional},
          {"created", engine.created_ns},
          {"trust_domain", engine.domain},
          {"shapes", shapes_of(catalog, engine)},
          {"foreign_load", foreign_load_of(catalog, engine)}};
}

CatalogJson fields_document(const ActionKey& key) {
  CatalogJson fields = CatalogJson::array();
  for (const KeyField& field : key.fields())
    fields.push_back({{"field", field.name}, {"value", field.value}});
  return fields;
}

// The engine that the first word names: a digest, or a name for the first of the SKUs that has one.
// Who sees every domain gets its own engine of a name before another domain's.
Result<EngineRow> find_engine(Catalog& catalog, const DomainSight& sight,
                              const CatalogInput& input) {
  const std::string word = input.word(0);
  if (word.starts_with("sha256:")) return catalog.engines().find(word, sight.narrowed());
  const auto skus = input.texts("skus").value_or(std::vector<std::string>());
  for (const std::string& domain : {sight.own, std::string()}) {
    if (domain.empty() && !sight.all) break;
    for (const std::string& sku : skus) {
      auto found = catalog.engines().newest(word, sku, domain);
      if (found.ok() || found.error().code != ErrorCode::not_found) return found;
    }
  }
  std::string asked;
  for (const std::string& sku : skus) asked += (asked.empty() ? "" : ", ") + sku;
  return Error{ErrorCode::not_found, "the catalog has no engine called " + word + " for " + asked +
                                         " (enginery catalog ls lists them)"};
}

Result<CatalogJson> key_document(Catalog& catalog, const Digest& digest, const ActionKey& key) {
  TRY(const auto result, catalog.results().lookup(digest));
  CatalogJson outputs = CatalogJson::array();
  for (const ResultOutput& output : result ? result->outputs : std::vector<ResultOutput>())
    outputs.push_back({{"name", output.name},
                       {"digest", output.digest.text()},
                       {"size_bytes", output.size_bytes}});
  return CatalogJson{{"schema", "enginery.catalog.key/1"},
                     {"key", digest.text()},
                     {"fields", fields_document(key)},
                     {"present", result.has_value()},
                     {"success", result ? CatalogJson(result->success) : CatalogJson(nullptr)},
                     {"outcome", result ? result->outcome : ""},
                     {"outputs", outputs}};
}

}  // namespace

Result<CatalogJson> list_engines(const CatalogAccess& access, const CatalogInput& input) {
  const int64_t limit = input.number("limit").value_or(kMaxListed);
  const int64_t skip = std::max<int64_t>(input.number("skip").value_or(0), 0);
  const std::string seen = access.sight.narrowed();
  TRY(const auto engines, access.reader.engines().list(input.word(0), limit, "", skip, seen));
  TRY(const int64_t rows, access.reader.engines().count(input.word(0), seen));
  TRY(const auto tags, access.reader.engines().tags(seen));
  std::set<Digest> listed;
  for (const EngineRow& engine : engines) listed.insert(engine.digest);
  CatalogJson engine_rows = CatalogJson::array(), tag_rows = CatalogJson::array();
  for (const EngineRow& engine : engines)
    engine_rows.push_back(engine_document(access.reader, engine));
  for (const TagRow& tag : tags)
    if (listed.count(tag.engine) != 0)
      tag_rows.push_back(
          {{"name", tag.name}, {"tag", tag.tag}, {"sku", tag.sku}, {"engine", tag.engine.text()}});
  return CatalogJson{{"schema", "enginery.catalog/1"},
                     {"engines", engine_rows},
                     {"tags", tag_rows},
                     {"rows", rows}};
}

Result<CatalogJson> show_engine(const CatalogAccess& access, const CatalogInput& input) {
  const auto engine = find_engine(access.reader, access.sight, input);
  if (!engine.ok()) {
    const auto digest = access.reader.results().find_key(input.word(0));
    if (!digest.ok()) return engine.error();
    TRY(const ActionKey known, access.reader.results().find_action(*digest));
    if (!access.sight.sees(known.trust_domain())) return engine.error();
    return key_document(access.reader, *digest, known);
  }
  const auto key = access.reader.results().find_action(engine->key);
  CatalogJson document = {{"schema", "enginery.catalog.engine/1"}};
  document.update(engine_document(access.reader, *engine));
  document["fields"] = key.ok() ? fields_document(*key) : CatalogJson::array();
  return document;
}

Result<CatalogJson> pin_engine(const CatalogAccess& access, const CatalogInput& input) {
  TRY(const EngineRow engine, find_engine(access.catalog, access.sight, input));
  CHECK_OK(access.catalog.engines().pin(engine.digest, input.text("reason")));
  return CatalogJson{
      {"schema", "enginery.catalog.pin/1"}, {"engine", engine.digest.text()}, {"pinned", true}};
}

Result<CatalogJson> unpin_engine(const CatalogAccess& access, const CatalogInput& input) {
  TRY(const EngineRow engine, find_engine(access.catalog, access.sight, input));
  CHECK_OK(access.catalog.engines().unpin(engine.digest));
  return CatalogJson{
      {"schema", "enginery.catalog.pin/1"}, {"engine", engine.digest.text()}, {"pinned", false}};
}

Result<CatalogJson> tag_engine(const CatalogAccess& access, const CatalogInput& input) {
  TRY(const EngineRow engine, find_engine(access.catalog, access.sight, input));
  CHECK_OK(access.catalog.engines().set_tag(
      {engine.name, input.word(1), engine.sku, engine.digest, 0, engine.domain}));
  return CatalogJson{{"schema", "enginery.catalog.tag/1"},
                     {"name", engine.name},
                     {"tag", input.word(1)},
                     {"sku", engine.sku},
                     {"engine", engine.digest.text()}};
}

}  // namespace enginery
