// SHA-256 digests: the name of every blob, engine and key. Wraps OpenSSL, which uses the CPU's SHA
// instructions.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "engine/base/result.h"

namespace enginery {

using Bytes = std::string;                    // owned raw bytes
using ByteSpan = std::span<const std::byte>;  // borrowed raw bytes

inline ByteSpan as_bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}
inline std::string_view as_text(ByteSpan bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// 32 bytes of SHA-256. A value; ordered and hashable so that it can key containers.
struct Digest {
  std::array<uint8_t, 32> bytes{};

  std::string hex() const;                                // 64 lower-case hex digits
  std::string text() const { return "sha256:" + hex(); }  // the form people and scripts see
  auto operator<=>(const Digest&) const = default;

  // Accepts 64 hex digits with or without the "sha256:" prefix.
  static Result<Digest> parse(std::string_view text);
};

Digest sha256(std::string_view bytes);
Digest sha256(ByteSpan bytes);

// Incremental SHA-256, for data that streams past. Not thread-safe; finish() ends its use.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;
  void update(ByteSpan bytes);
  void update(std::string_view bytes) { update(as_bytes(bytes)); }
  Digest finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

std::string to_hex(ByteSpan bytes);
Result<Bytes> from_hex(std::string_view hex);

}  // namespace enginery

template <>
struct std::hash<enginery::Digest> {
  size_t operator()(const enginery::Digest& d) const noexcept {
    size_t h;
    static_assert(sizeof h <= sizeof d.bytes);
    __builtin_memcpy(&h, d.bytes.data(), sizeof h);
    return h;
  }
};
