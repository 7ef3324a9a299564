#include "engine/format/engine_parts.h"

#include "engine/format/codec.h"
#include "engine/format/plan_check.h"

namespace enginery {
namespace {

ByteSpan optional_section(const Sections& sections, SectionKind kind) {
  auto found = sections.payloads.find(kind);
  return found == sections.payloads.end() ? ByteSpan() : found->second;
}

}  // namespace

Result<ByteSpan> require_section(const Sections& sections, SectionKind kind) {
  auto found = sections.payloads.find(kind);
  if (found == sections.payloads.end())
    return Error{ErrorCode::untrusted, "engine file: a section is missing"};
  return found->second;
}

Status read_content(const Sections& sections, const std::shared_ptr<const void>& keep_alive,
                    EngineFile& file) {
  TRY(ByteSpan manifest, require_section(sections, SectionKind::manifest));
  TRY(ByteSpan plan, require_section(sections, SectionKind::plan));
  TRY(ByteSpan weights, require_section(sections, SectionKind::weights));
  TRY(file.manifest, decode_manifest(manifest));
  TRY(file.plan,
      decode_plan(plan, optional_section(sections, SectionKind::code), weights, keep_alive));
  if (file.manifest.kind != sections.target)
    return Error{ErrorCode::untrusted, "engine file: its header and its manifest name two devices"};
  return check_manifest(file.manifest, file.plan);
}

Status read_provenance(const Sections& sections, Provenance& provenance) {
  if (auto found = sections.payloads.find(SectionKind::provenance);
      found != sections.payloads.end()) {
    TRY(provenance, decode_provenance(found->second));
  }
  provenance.statement = as_text(optional_section(sections, SectionKind::statement));
  return {};
}

}  // namespace enginery
