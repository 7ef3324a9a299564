// Ed25519 signatures (RFC 8032) over OpenSSL. A key's id is the first 16 hex digits of the SHA-256
// of its public key.
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "engine/base/digest.h"

namespace enginery {

using PublicKey = std::array<uint8_t, 32>;
using Signature = std::array<uint8_t, 64>;

std::string key_id(const PublicKey& key);

// A private Ed25519 key. A value; keep copies few.
class SigningKey {
 public:
  static SigningKey generate();
  // Reads a key from a file of 64 hex digits; refuses one that others can read (mode wider than
  // 0600).
  static Result<SigningKey> load(const std::filesystem::path& file);
  // Loads the key, or makes and stores one (0600, folders created) when the file does not exist.
  static Result<SigningKey> load_or_create(const std::filesystem::path& file);

  const PublicKey& public_key() const { return public_; }
  Signature sign(ByteSpan message) const;

 private:
  std::array<uint8_t, 32> seed_{};
  PublicKey public_{};
};

bool verify_signature(const PublicKey& key, ByteSpan message, const Signature& signature);

// Public keys as files: one line of 64 hex digits.
Result<PublicKey> read_public_key(const std::filesystem::path& file);
Status write_public_key(const std::filesystem::path& file, const PublicKey& key);

// The public keys that this user trusts: the own signing key's and every keys/trusted/*.pub.
struct TrustStore {
  std::vector<PublicKey> keys;
  bool trusts(const PublicKey& key) const;
  // `keys_folder` is $XDG_DATA_HOME/enginery/keys; what is missing there is simply not trusted.
  static Result<TrustStore> load(const std::filesystem::path& keys_folder);
};

}  // namespace enginery
