#include "pipeline/engine_set.h"

#include <nlohmann/json.hpp>

#include "engine/base/signed_file.h"

namespace enginery {
namespace {

using SetJson = nlohmann::ordered_json;

constexpr const char* kSetSchema = "enginery.set/1";

SetJson engine_json(const EngineView& engine) {
  return {{"sku", engine.sku},
          {"engine", engine.engine.text()},
          {"content_digest", engine.content_digest.text()},
          {"key", engine.key.text()},
          {"precision", engine.precision},
          {"size_bytes", engine.size_bytes},
          {"latency_ms", engine.latency_ms},
          {"provisional", engine.provisional},
          {"created_ns", engine.created_ns}};
}

// Throws nlohmann's exceptions and the one below where a field is missing or of another type.
Digest digest_at(const SetJson& json, const char* name) {
  const Result<Digest> digest = Digest::parse(json.at(name).get<std::string>());
  if (!digest.ok()) throw std::invalid_argument(digest.error().message);
  return *digest;
}

EngineView engine_of(const SetJson& json, const EngineSet& set) {
  EngineView engine;
  engine.name = set.name;
  engine.job = set.job;
  engine.model = set.model;
  engine.sku = json.at("sku").get<std::string>();
  engine.engine = digest_at(json, "engine");
  engine.content_digest = digest_at(json, "content_digest");
  engine.key = digest_at(json, "key");
  engine.precision = json.at("precision").get<std::string>();
  engine.size_bytes = json.at("size_bytes").get<uint64_t>();
  engine.latency_ms = json.at("latency_ms").get<double>();
  engine.provisional = json.at("provisional").get<bool>();
  engine.created_ns = json.at("created_ns").get<int64_t>();
  return engine;
}

EngineSet set_of(const SetJson& json) {
  EngineSet set;
  set.name = json.at("name").get<std::string>();
  set.job = json.at("job").get<std::string>();
  set.model = digest_at(json, "model");
  for (const SetJson& engine : json.at("engines")) set.engines.push_back(engine_of(engine, set));
  for (const SetJson& gap : json.at("missing"))
    set.missing.push_back({gap.at("sku").get<std::string>(), gap.at("reason").get<std::string>()});
  return set;
}

Result<EngineSet> parse_set(std::string_view body) {
  try {
    const SetJson json = SetJson::parse(body);
    if (const std::string schema = json.at("schema").get<std::string>(); schema != kSetSchema)
      return Error{ErrorCode::incompatible, "this enginery reads engine sets of " +
                                                std::string(kSetSchema) + ", not of " +
                                                schema.substr(0, 80)};
    return set_of(json);
  } catch (const std::exception& e) {
    return Error{ErrorCode::untrusted, "signed, but no engine set: " + std::string(e.what())};
  }
}

}  // namespace

Bytes write_set(const EngineSet& set, const SigningKey& key) {
  SetJson engines = SetJson::array(), missing = SetJson::array();
  for (const EngineView& engine : set.engines) engines.push_back(engine_json(engine));
  for (const SetGap& gap : set.missing)
    missing.push_back({{"sku", gap.sku}, {"reason", gap.reason}});
  const SetJson json = {{"schema", kSetSchema},      {"name", set.name},   {"job", set.job},
                        {"model", set.model.text()}, {"engines", engines}, {"missing", missing}};
  const Bytes body = json.dump(-1, ' ', false, SetJson::error_handler_t::replace) + "\n";
  return body + signature_trailer(sha256(body), key);
}

Result<SignedSet> read_set(ByteSpan file, const TrustStore& trust) {
  TRY(const SignedParts parts, check_signature(file, trust));
  TRY(EngineSet set, parse_set(as_text(parts.body)));
  return SignedSet{std::move(set), parts.signer};
}

}  // namespace enginery
