#include "engine/base/sign.h"

#include <openssl/evp.h>
#include <openssl/rand.h>
#include <sys/stat.h>

#include <algorithm>
#include <memory>

#include "engine/base/file.h"
#include "engine/base/log.h"

namespace enginery {
namespace {

using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using Context = std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)>;

Key private_key(const std::array<uint8_t, 32>& seed) {
  return {EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, seed.data(), seed.size()),
          EVP_PKEY_free};
}

Result<PublicKey> public_of(const std::array<uint8_t, 32>& seed) {
  Key key = private_key(seed);
  PublicKey out{};
  size_t size = out.size();
  if (key && EVP_PKEY_get_raw_public_key(key.get(), out.data(), &size) == 1) return out;
  return Error{ErrorCode::out_of_memory, "OpenSSL has no room for an Ed25519 key, or knows none"};
}

// The 32 bytes of a file that holds one line of 64 hex digits.
Result<std::array<uint8_t, 32>> read_key_file(const std::filesystem::path& file) {
  TRY(Bytes text, read_file(file, 4096));
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' '))
    text.pop_back();
  const auto raw = from_hex(text);
  if (!raw || raw->size() != 32) {
    return Error{ErrorCode::corrupt_data,
                 "read key " + file.string() + ": 64 hexadecimal digits expected"};
  }
  std::array<uint8_t, 32> out;
  std::copy(raw->begin(), raw->end(), out.begin());
  return out;
}

}  // namespace

std::string key_id(const PublicKey& key) {
  return sha256(std::as_bytes(std::span(key))).hex().substr(0, 16);
}

SigningKey SigningKey::generate() {
  SigningKey key;
  ENSURE(RAND_bytes(key.seed_.data(), static_cast<int>(key.seed_.size())) == 1, "no random bytes");
  auto own = public_of(key.seed_);
  ENSURE(own.ok(), "Ed25519 is not available");
  key.public_ = *own;
  return key;
}

Result<SigningKey> SigningKey::load(const std::filesystem::path& file) {
  struct stat info {};
  if (stat(file.c_str(), &info) == 0 && (info.st_mode & 077) != 0) {
    return Error{ErrorCode::untrusted, "read signing key " + file.string() +
                                           ": others can read it; run 'chmod 600 " + file.string() +
                                           "'"};
  }
  TRY(const auto seed, read_key_file(file));
  SigningKey key;
  key.seed_ = seed;
  TRY(key.public_, public_of(seed));
  return key;
}

Result<SigningKey> SigningKey::load_or_create(const std::filesystem::path& file) {
  auto loaded = load(file);
  if (loaded || loaded.error().code != ErrorCode::not_found) return loaded;
  CHECK_OK(make_folder(file.parent_path(), 0700));
  SigningKey key = generate();
  CHECK_OK(write_file(file, to_hex(std::as_bytes(std::span(key.seed_))) + "\n", 0600));
  return key;
}

Signature SigningKey::sign(ByteSpan message) const {
  Key key = private_key(seed_);
  Context context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  Signature out{};
  size_t size = out.size();
  const bool ok =
      EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key.get()) == 1 &&
      EVP_DigestSign(context.get(), out.data(), &size,
                     reinterpret_cast<const uint8_t*>(message.data()), message.size()) == 1;
  ENSURE(ok && size == out.size(), "Ed25519 signing failed");
  return out;
}

bool verify_signature(const PublicKey& key, ByteSpan message, const Signature& signature) {
  Key handle(EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, key.data(), key.size()),
             EVP_PKEY_free);
  Context context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  return handle &&
         EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, handle.get()) == 1 &&
         EVP_DigestVerify(context.get(), signature.data(), signature.size(),
                          reinterpret_cast<const uint8_t*>(message.data()), message.size()) == 1;
}

Result<PublicKey> read_public_key(const std::filesystem::path& file) {
  return read_key_file(file);
}

Status write_public_key(const std::filesystem::path& file, const PublicKey& key) {
  CHECK_OK(make_folder(file.parent_path(), 0700));
  return write_file(file, to_hex(std::as_bytes(std::span(key))) + "\n");
}

bool TrustStore::trusts(const PublicKey& key) const {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

Result<TrustStore> TrustStore::load(const std::filesystem::path& keys_folder) {
  TrustStore store;
  const auto own = SigningKey::load(keys_folder / "signing.key");
  if (own) store.keys.push_back(own->public_key());
  if (!own && own.error().code != ErrorCode::not_found) return own.error();
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(keys_folder / "trusted", ignored)) {
    if (entry.path().extension() != ".pub") continue;
    const auto key = read_public_key(entry.path());
    if (key)
      store.keys.push_back(*key);
    else
      log_warning(key.error().message + "; what it signed is not trusted");
  }
  return store;
}

}  // namespace enginery
