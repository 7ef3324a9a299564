#include "worker/engine_check.h"

#include <algorithm>

#include "engine/format/engine_reading.h"
#include "engine/format/sections.h"
#include "engine/format/statement.h"

namespace enginery {
namespace {

// Why the file is another engine than the one that was asked for; "" when it is that one.
std::string difference(const EngineFile& file, const UnsignedEngine& engine) {
  if (file.content_digest != engine.content)
    return "its content " + file.content_digest.text() + " is not the one that was built, " +
           engine.content.text();
  if (file.manifest.model_digest != engine.model.text())
    return "it was built from another model, " + file.manifest.model_digest;
  if (file.manifest.sku != engine.sku)
    return "it was built for '" + file.manifest.sku + "', not for '" + engine.sku + "'";
  return "";
}

void state(Properties& facts, const std::string& name, const std::string& value) {
  std::erase_if(facts, [&](const auto& fact) { return fact.first == name; });
  if (!value.empty()) facts.emplace_back(name, value);
}

}  // namespace

Result<EngineToSign> check_engine(std::shared_ptr<const Bytes> file, const UnsignedEngine& engine) {
  const std::string who = engine.worker.empty() ? "a worker" : "worker " + engine.worker;
  auto read = read_unsigned_engine(file);
  if (!read.ok()) return read.error().within(who + " left no engine");
  if (const std::string problem = difference(*read, engine); !problem.empty())
    return Error{ErrorCode::untrusted, who + " left another engine: " + problem};
  TRY(const Sections sections, parse_sections(as_bytes(*file), HashCheck::skip));
  Provenance& provenance = read->provenance;
  state(provenance.facts, "content", engine.content.text());
  state(provenance.facts, "model", engine.model.text());
  state(provenance.facts, "key", engine.key.text());
  state(provenance.facts, "worker", engine.worker);
  std::erase_if(provenance.facts, [](const auto& fact) {
    return fact.first.starts_with(kCalibrationFact) || fact.first.starts_with(kRequestedFact);
  });
  for (const NamedText& known : engine.facts) state(provenance.facts, known.name, known.value);
  provenance.statement = make_statement(*read, engine.signer);
  EngineToSign out;
  out.content_bytes = sections.content_bytes;
  TRY(out.provenance, write_provenance(provenance));
  out.with_key = front_signature_section;
  return out;
}

}  // namespace enginery
