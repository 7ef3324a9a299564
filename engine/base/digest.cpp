#include "engine/base/digest.h"

#include <openssl/evp.h>

#include <new>

namespace enginery {
namespace {

int nibble(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

struct Sha256::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  ~State() { EVP_MD_CTX_free(context); }
};

Sha256::Sha256() : state_(std::make_unique<State>()) {
  // Its only reason to refuse is that there is no memory.
  if (!state_->context || EVP_DigestInit_ex(state_->context, EVP_sha256(), nullptr) != 1)
    throw std::bad_alloc();
}
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

void Sha256::update(ByteSpan bytes) {
  ENSURE(EVP_DigestUpdate(state_->context, bytes.data(), bytes.size()) == 1,
         "SHA-256 update failed");
}

Digest Sha256::finish() {
  Digest digest;
  ENSURE(EVP_DigestFinal_ex(state_->context, digest.bytes.data(), nullptr) == 1,
         "SHA-256 final failed");
  return digest;
}

Digest sha256(ByteSpan bytes) {
  Sha256 hash;
  hash.update(bytes);
  return hash.finish();
}

Digest sha256(std::string_view bytes) {
  return sha256(as_bytes(bytes));
}

std::string Digest::hex() const {
  return to_hex(std::as_bytes(std::span(bytes)));
}

Result<Digest> Digest::parse(std::string_view text) {
  constexpr std::string_view kPrefix = "sha256:";
  const std::string_view hex = text.starts_with(kPrefix) ? text.substr(kPrefix.size()) : text;
  const auto raw = from_hex(hex);
  if (!raw || raw->size() != 32) {
    return Error{
        ErrorCode::invalid_argument,
        "'" + std::string(text) + "' is not a SHA-256 digest (64 hexadecimal digits expected)"};
  }
  Digest digest;
  for (size_t i = 0; i < 32; ++i) digest.bytes[i] = static_cast<uint8_t>((*raw)[i]);
  return digest;
}

std::string to_hex(ByteSpan bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  out.reserve(bytes.size() * 2);
  for (std::byte b : bytes) {
    out += kDigits[static_cast<uint8_t>(b) >> 4];
    out += kDigits[static_cast<uint8_t>(b) & 15];
  }
  return out;
}

Result<Bytes> from_hex(std::string_view hex) {
  if (hex.size() % 2 != 0)
    return Error{ErrorCode::invalid_argument, "odd number of hexadecimal digits"};
  Bytes out;
  out.reserve(hex.size() / 2);
  for (size_t i = 0; i < hex.size(); i += 2) {
    const int high = nibble(hex[i]), low = nibble(hex[i + 1]);
    if (high < 0 || low < 0) return Error{ErrorCode::invalid_argument, "not a hexadecimal digit"};
    out += static_cast<char>(high * 16 + low);
  }
  return out;
}

}  // namespace enginery
