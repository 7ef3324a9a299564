#include "cli/local/user_keys.h"

#include <algorithm>
#include <optional>
#include <span>

#include "engine/base/file.h"

namespace enginery {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMinIdDigits = 4;

fs::path trusted_folder() {
  return keys_folder() / "trusted";
}

fs::path trusted_file(const PublicKey& key) {
  return trusted_folder() / (key_id(key) + ".pub");
}

Status remove_file(const fs::path& file) {
  std::error_code failed;
  fs::remove(file, failed);
  if (!failed) return {};
  return Error{ErrorCode::storage, "remove " + file.string() + ": " + failed.message()};
}

// Nothing where there is no key yet.
Result<std::optional<KnownKey>> own_key() {
  const auto own = SigningKey::load(signing_key_file());
  if (own.ok()) return std::optional(KnownKey{KeyRole::own, own->public_key(), signing_key_file()});
  if (own.error().code != ErrorCode::not_found) return own.error();
  return std::optional<KnownKey>();
}

}  // namespace

fs::path keys_folder() {
  return data_folder() / "keys";
}

fs::path signing_key_file() {
  return keys_folder() / "signing.key";
}

Result<TrustStore> load_trust() {
  return TrustStore::load(keys_folder());
}

const char* to_string(KeyRole role) {
  return role == KeyRole::own ? "own" : "trusted";
}

std::string KnownKey::hex() const {
  return to_hex(std::as_bytes(std::span(key)));
}

Result<std::vector<KnownKey>> known_keys() {
  std::vector<KnownKey> keys;
  TRY(const auto own, own_key());
  if (own) keys.push_back(*own);
  std::vector<fs::path> files;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(trusted_folder(), ignored)) {
    if (entry.path().extension() == ".pub") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) {
    TRY(const PublicKey key, read_public_key(file));
    keys.push_back({KeyRole::trusted, key, file});
  }
  return keys;
}

Result<PublicKey> parse_public_key(const std::string& file_or_hex) {
  std::error_code ignored;
  if (fs::exists(file_or_hex, ignored)) return read_public_key(file_or_hex);
  const auto bytes = from_hex(file_or_hex);
  if (!bytes.ok() || bytes->size() != PublicKey{}.size()) {
    return Error{ErrorCode::not_found, "trust " + file_or_hex +
                                           ": no such file, and not the 64 hex digits of a public "
                                           "key"};
  }
  PublicKey key{};
  std::copy(bytes->begin(), bytes->end(), key.begin());
  return key;
}

Result<KnownKey> make_own_key(ExistingKey existing) {
  TRY(const auto old, own_key());
  if (old && existing == ExistingKey::keep) {
    return Error{ErrorCode::usage, "there is a key already, " + old->id() +
                                       "; --replace makes another and keeps trusting this one"};
  }
  if (old) {
    // Trusted first: a crash in between loses no key that engines were signed with.
    CHECK_OK(write_public_key(trusted_file(old->key), old->key));
    CHECK_OK(remove_file(old->file));
  }
  TRY(const SigningKey key, SigningKey::load_or_create(signing_key_file()));
  return KnownKey{KeyRole::own, key.public_key(), signing_key_file()};
}

Result<KnownKey> trust_key(const PublicKey& key) {
  CHECK_OK(write_public_key(trusted_file(key), key));
  return KnownKey{KeyRole::trusted, key, trusted_file(key)};
}

Result<KnownKey> untrust_key(const std::string& id_prefix) {
  TRY(const auto keys, known_keys());
  std::vector<KnownKey> matching;
  for (const KnownKey& key : keys) {
    const bool matches = id_prefix.size() >= kMinIdDigits && key.id().starts_with(id_prefix);
    if (matches && key.role == KeyRole::trusted) matching.push_back(key);
  }
  if (matching.empty()) {
    return Error{ErrorCode::not_found,
                 "no trusted key has the id " + id_prefix + " (enginery keys show lists them)"};
  }
  if (matching.size() > 1)
    return Error{ErrorCode::usage, "more than one trusted key begins with " + id_prefix};
  CHECK_OK(remove_file(matching.front().file));
  return matching.front();
}

}  // namespace enginery
