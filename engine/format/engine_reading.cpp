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
  auto sections = parse_sections(body_of(file), HashCheck::skip);
  if (sections.ok()) out.sections_ = std::move(*sections);
  const size_t content_bytes = out.sections_.content_bytes;
  if (file.size() >= kHashAsideBytes && front_is_signed(file, out.sections_, trust)) {
    out.digests_ = std::async(std::launch::async,
                              [file, content_bytes] { return digests_of(file, content_bytes); });
    if (const Status read = read_content(out.sections_, keep_alive, out.engine_); !read.ok()) {
      CHECK_OK(out.finish());
      return read.error();
    }
    return out;
  }
  CHECK_OK(out.accept(digests_of(file, content_bytes)));
  // The signature covers every byte, so the sections' own hashes would say nothing new.
  if (!sections.ok()) return sections.error();
  CHECK_OK(read_content(out.sections_, keep_alive, out.engine_));
  CHECK_OK(read_provenance(out.sections_, out.engine_.provenance));
  return out;
}

Status EngineReading::finish() {
  if (!digests_.valid()) return {};
  CHECK_OK(accept(digests_.get()));
  return read_provenance(sections_, engine_.provenance);
}

Status EngineReading::accept(const SignedDigests& digests) {
  TRY(const SignedParts parts, check_signature(file_, trust_, digests.body));
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
