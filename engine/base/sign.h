// Ed25519 signatures (RFC 8032) over OpenSSL, and where keys are kept. A key's id is the first 16
// hex digits of the SHA-256 of its public key: what messages and file names show.
//
// Below signed_file, which decides what is signed. Threads: values and free functions without
// state.
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "engine/base/digest.h"

namespace enginery {

using PublicKey = std::array<uint8_t, 32>;
using Signature = std::array<uint8_t, 64>;

// "3f9a..", 16 hex digits.
std::string key_id(const PublicKey& key);

// A private Ed25519 key. A value; keep copies few.
class SigningKey {
 public:
  // From the system's random source; aborts where there is none.
  static SigningKey generate();
  // Reads the secret key (RFC 8032's 32-byte seed) from a file of 64 hex digits. Errors: not_found;
  // untrusted where others can read the file (mode wider than 0600); corrupt_data.
  static Result<SigningKey> load(const std::filesystem::path& file);
  // Loads the key, or makes and stores one (0600, folders created) when the file does not exist.
  static Result<SigningKey> load_or_create(const std::filesystem::path& file);

  const PublicKey& public_key() const { return public_; }
  // Over all bytes of the message; the same message always gives the same signature.
  Signature sign(ByteSpan message) const;

 private:
  std::array<uint8_t, 32> seed_{};
  PublicKey public_{};
};

// Whether `signature` was made with the key's secret half over exactly these bytes.
bool verify_signature(const PublicKey& key, ByteSpan message, const Signature& signature);

// Public keys as files: one line of 64 hex digits. Errors: not_found, corrupt_data, storage.
Result<PublicKey> read_public_key(const std::filesystem::path& file);
Status write_public_key(const std::filesystem::path& file, const PublicKey& key);

// The public keys that this user trusts: the own signing key's and every keys/trusted/*.pub.
struct TrustStore {
  std::vector<PublicKey> keys;
  bool trusts(const PublicKey& key) const;
  // `keys_folder` is $XDG_DATA_HOME/enginery/keys; what is missing there is simply not trusted.
  // A damaged trusted key is warned of and left out. Errors: the own key is there and damaged.
  static Result<TrustStore> load(const std::filesystem::path& keys_folder);
};

}  // namespace enginery
