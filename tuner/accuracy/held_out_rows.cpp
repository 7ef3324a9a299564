#include "tuner/accuracy/held_out_rows.h"

#include "engine/base/digest.h"
#include "engine/data/npy.h"

namespace enginery {
namespace {

constexpr std::string_view kMagic = "ENGROWS1";
constexpr size_t kNumberBytes = 8, kDigestBytes = 32;

void put(Bytes& out, std::string_view bytes) {
  for (size_t i = 0; i < kNumberBytes; ++i)
    out.push_back(static_cast<char>((bytes.size() >> (8 * i)) & 0xff));
  out.append(bytes);
}

Error damaged() {
  return {ErrorCode::invalid_argument, "the held-out rows are damaged"};
}

// Takes a length and as many bytes off the front.
Result<std::string_view> take(std::string_view& rest) {
  if (rest.size() < kNumberBytes) return damaged();
  uint64_t length = 0;
  for (size_t i = 0; i < kNumberBytes; ++i)
    length |= uint64_t{static_cast<uint8_t>(rest[i])} << (8 * i);
  rest.remove_prefix(kNumberBytes);
  if (length > rest.size()) return damaged();
  const std::string_view out = rest.substr(0, length);
  rest.remove_prefix(length);
  return out;
}

std::string_view text_of(const Digest& digest) {
  return {reinterpret_cast<const char*>(digest.bytes.data()), digest.bytes.size()};
}

}  // namespace

Bytes encode_rows(const HeldOutRows& rows) {
  Bytes out(kMagic);
  for (const auto& [name, tensor] : rows) {
    put(out, name);
    put(out, to_npy(tensor));
  }
  const Digest digest = sha256(out);
  out.append(text_of(digest));
  return out;
}

Result<HeldOutRows> decode_rows(std::string_view bytes) {
  if (!bytes.starts_with(kMagic) || bytes.size() < kMagic.size() + kDigestBytes) return damaged();
  const size_t end = bytes.size() - kDigestBytes;
  if (text_of(sha256(bytes.substr(0, end))) != bytes.substr(end)) return damaged();
  std::string_view rest = bytes.substr(kMagic.size(), end - kMagic.size());
  HeldOutRows out;
  while (!rest.empty()) {
    TRY(const std::string_view name, take(rest));
    TRY(const std::string_view array, take(rest));
    TRY(Tensor tensor, parse_npy(array));
    if (!out.emplace(name, std::move(tensor)).second) return damaged();
  }
  return out;
}

}  // namespace enginery
