#include "engine/format/engine_file.h"

#include <future>

#include "engine/base/signed_digests.h"
#include "engine/format/codec.h"
#include "engine/format/plan_check.h"
#include "engine/format/sections.h"

namespace enginery {
namespace {

Result<ByteSpan> require(const Sections& sections, SectionKind kind) {
  auto found = sections.payloads.find(kind);
  if (found == sections.payloads.end())
    return Error{ErrorCode::untrusted, "engine file: a section is missing"};
  return found->second;
}

ByteSpan optional(const Sections& sections, SectionKind kind) {
  auto found = sections.payloads.find(kind);
  return found == sections.payloads.end() ? ByteSpan() : found->second;
}

Result<EngineFile> parse_body(const Sections& sections,
                              const std::shared_ptr<const void>& keep_alive,
                              const Digest& of_content) {
  EngineFile out;
  TRY(ByteSpan manifest, require(sections, SectionKind::manifest));
  TRY(ByteSpan plan, require(sections, SectionKind::plan));
  TRY(ByteSpan weights, require(sections, SectionKind::weights));
  TRY(out.manifest, decode_manifest(manifest));
  TRY(out.plan, decode_plan(plan, optional(sections, SectionKind::code), weights, keep_alive));
  if (out.manifest.kind != sections.target)
    return Error{ErrorCode::untrusted, "engine file: its header and its manifest name two devices"};
  CHECK_OK(check_manifest(out.manifest, out.plan));
  if (auto provenance = sections.payloads.find(SectionKind::provenance);
      provenance != sections.payloads.end()) {
    TRY(out.provenance, decode_provenance(provenance->second));
  }
  out.provenance.statement = as_text(optional(sections, SectionKind::statement));
  out.content_digest = of_content;
  return out;
}

// 0 where the bytes are no engine.
size_t content_bytes_of(ByteSpan body) {
  const auto sections = parse_sections(body, HashCheck::skip);
  return sections.ok() ? sections->content_bytes : 0;
}

}  // namespace

Result<Bytes> write_content(const Manifest& manifest, const Plan& plan) {
  const PlanSections sections = encode_plan(plan);
  const Bytes encoded = encode_manifest(manifest);
  Bytes file = file_header(manifest.kind);
  // Weights may be gigabytes: they are copied once.
  constexpr size_t kMaxFrames =
      5 * 2 * kSectionAlignment;  // the header's and four sections', with their padding
  file.reserve(kMaxFrames + encoded.size() + sections.plan.size() + sections.code.size() +
               sections.weights.size());
  append_section(file, SectionKind::manifest, as_bytes(encoded));
  append_section(file, SectionKind::plan, as_bytes(sections.plan));
  if (!sections.code.empty()) append_section(file, SectionKind::code, as_bytes(sections.code));
  append_section(file, SectionKind::weights, as_bytes(sections.weights));
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
  if (file.size() < kSignatureTrailerBytes) return check_signature(file, trust).error();
  // Three digests of a large file (signature, content, name) in one pass. Where the content ends is
  // asked of bytes that nobody vouches for yet, which only says what is hashed; nothing is parsed
  // before the signature's verdict.
  const ByteSpan body = file.first(file.size() - kSignatureTrailerBytes);
  const SignedDigests digests = digests_of(file, content_bytes_of(body));
  TRY(SignedParts parts, check_signature(file, trust, digests.body));
  // The signature covers every byte, so the sections' own hashes would say nothing new.
  TRY(Sections sections, parse_sections(parts.body, HashCheck::skip));
  TRY(EngineFile out, parse_body(sections, keep_alive, digests.prefix));
  out.file_digest = digests.whole;
  out.signer = parts.signer;
  out.file_bytes = static_cast<int64_t>(file.size());
  return out;
}

Result<EngineFile> read_unsigned_engine(std::shared_ptr<const Bytes> file) {
  ByteSpan body = as_bytes(*file);
  auto whole = std::async(std::launch::async, [body] { return sha256(body); });
  TRY(Sections sections, parse_sections(body, HashCheck::all));
  TRY(EngineFile out, parse_body(sections, file, sha256(body.first(sections.content_bytes))));
  out.file_digest = whole.get();
  out.file_bytes = static_cast<int64_t>(file->size());
  return out;
}

Result<Manifest> read_manifest(ByteSpan file, const TrustStore& trust) {
  TRY(SignedParts parts, check_signature(file, trust));
  TRY(Sections sections, parse_sections(parts.body, HashCheck::skip));
  TRY(ByteSpan manifest, require(sections, SectionKind::manifest));
  return decode_manifest(manifest);
}

}  // namespace enginery
