#include "engine/format/engine_file.h"

#include <future>

#include "engine/base/huge_pages.h"
#include "engine/format/codec.h"
#include "engine/format/engine_parts.h"
#include "engine/format/engine_reading.h"

namespace enginery {

Result<Bytes> write_content(const Manifest& manifest, const Plan& plan) {
  const PlanSections sections = encode_plan(plan);
  const Bytes encoded = encode_manifest(manifest);
  Bytes file = file_header(manifest.kind);
  // Weights may be gigabytes: they are copied once.
  constexpr size_t kMaxFrames =
      5 * 2 * kSectionAlignment;  // the header's and four sections', with their padding
  file.reserve(kMaxFrames + encoded.size() + sections.plan.size() + sections.code.size() +
               sections.weights_bytes);
  prefer_huge_pages(file.data(), file.capacity());
  append_section(file, SectionKind::manifest, as_bytes(encoded));
  append_section(file, SectionKind::plan, as_bytes(sections.plan));
  if (!sections.code.empty()) append_section(file, SectionKind::code, as_bytes(sections.code));
  append_section(file, SectionKind::weights, [&](Bytes& to) { append_weights(plan, to); });
  return file;
}

Result<Bytes> write_provenance(const Provenance& provenance) {
  Bytes section;
  append_section(section, SectionKind::provenance, as_bytes(encode_provenance(provenance)));
  if (!provenance.statement.empty())
    append_section(section, SectionKind::statement, as_bytes(provenance.statement));
  return section;
}

Result<EngineFile> read_engine(std::shared_ptr<const Bytes> file, const TrustStore& trust) {
  return read_engine(as_bytes(*file), file, trust);
}

Result<EngineFile> read_engine(ByteSpan file, const std::shared_ptr<const void>& keep_alive,
                               const TrustStore& trust) {
  TRY(EngineReading reading, EngineReading::begin(file, keep_alive, trust));
  CHECK_OK(reading.finish());
  return std::move(reading.engine());
}

Result<EngineFile> read_unsigned_engine(std::shared_ptr<const Bytes> file) {
  ByteSpan body = as_bytes(*file);
  auto whole = std::async(std::launch::async, [body] { return sha256(body); });
  TRY(Sections sections, parse_sections(body, HashCheck::all));
  EngineFile out;
  CHECK_OK(read_content(sections, file, out));
  CHECK_OK(read_provenance(sections, out.provenance));
  const bool has_more = sections.content_bytes < body.size();
  if (has_more) out.content_digest = sha256(body.first(sections.content_bytes));
  out.file_digest = whole.get();
  if (!has_more) out.content_digest = out.file_digest;
  out.file_bytes = static_cast<int64_t>(file->size());
  return out;
}

Result<Manifest> read_manifest(ByteSpan file, const TrustStore& trust) {
  TRY(SignedParts parts, check_signature(file, trust));
  TRY(Sections sections, parse_sections(parts.body, HashCheck::skip));
  TRY(ByteSpan manifest, require_section(sections, SectionKind::manifest));
  return decode_manifest(manifest);
}

}  // namespace enginery
