#include "engine/format/engine_reading.h"

#include <cstring>

#include "engine/format/engine_parts.h"

namespace enginery {
namespace {

// Below it a thread for the hash costs more than it saves.
constexpr size_t kHashAsideBytes = size_t{1} << 20;

ByteSpan body_of(ByteSpan file) {
  return file.first(file.size() - kSignatureTrailerBytes);
}

// Whether the key that signed the file vouches for its front, too.
bool front_is_signed(ByteSpan file, const Sections& sections, const TrustStore& trust) {
  const auto found = sections.payloads.find(SectionKind::front_signature);
  Signature signature;
  if (found == sections.payloads.end() || found->second.size() != signature.size()) return false;
  std::memcpy(signature.data(), found->second.data(), signature.size());
  const auto signer = trusted_signer(file, trust);
  return signer.ok() && verify_front(sha256(file.first(sections.front_bytes)), *signer, signature);
}

}  // namespace

Result<EngineReading> EngineReading::begin(ByteSpan file,
                                           const std::shared_ptr<const void>& keep_alive,
                                           const TrustStore& trust) {
  if (file.size() < kSignatureTrailerBytes) return check_signature(file, trust).error();
  EngineReading out(file, trust);
  // Where sections begin is asked of bytes that nobody vouches for yet, which only says what is
  // hashed; nothing is parsed before a signature's verdict.
  const auto sections = parse_sections(body_of(file), HashCheck::skip);
  const size_t content_bytes = sections.ok() ? sections->content_bytes : 0;
  if (sections.ok() && file.size() >= kHashAsideBytes && front_is_signed(file, *sections, trust)) {
    out.digests_ = std::async(std::launch::async,
                              [file, content_bytes] { return digests_of(file, content_bytes); });
    auto content = read_content(*sections, keep_alive);
    if (!content.ok()) {
      CHECK_OK(out.finish());
      return content.error();
    }
    out.engine_ = std::move(*content);
    return out;
  }
  const SignedDigests digests = digests_of(file, content_bytes);
  CHECK_OK(check_signature(file, trust, digests.body));
  // The signature covers every byte, so the sections' own hashes would say nothing new.
  if (!sections.ok()) return sections.error();
  TRY(out.engine_, read_content(*sections, keep_alive));
  CHECK_OK(out.accept(digests));
  return out;
}

Status EngineReading::finish() {
  return digests_.valid() ? accept(digests_.get()) : Status();
}

Status EngineReading::accept(const SignedDigests& digests) {
  TRY(const SignedParts parts, check_signature(file_, trust_, digests.body));
  TRY(const Sections sections, parse_sections(parts.body, HashCheck::skip));
  CHECK_OK(read_provenance(sections, engine_.provenance));
  engine_.content_digest = digests.prefix;
  engine_.file_digest = digests.whole;
  engine_.signer = parts.signer;
  engine_.file_bytes = static_cast<int64_t>(file_.size());
  return {};
}

Result<Bytes> front_signature_section(ByteSpan unsigned_engine, const SigningKey& key) {
  TRY(const Sections sections, parse_sections(unsigned_engine, HashCheck::skip));
  const Signature signature = sign_front(sha256(unsigned_engine.first(sections.front_bytes)), key);
  Bytes section;
  append_section(section, SectionKind::front_signature, std::as_bytes(std::span(signature)));
  return section;
}

}  // namespace enginery
