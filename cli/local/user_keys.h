// The user's keys: the own one that signs what `build` makes, and the public keys of others whose
// engines this user runs.
//
// Where: `keys` shows and changes them; `build`, `fetch`, `verify` ask which are trusted. All of
// them are files in keys_folder(): signing.key (the own one) and trusted/ID.pub. Threads: free
// functions over files; two processes that change them at once may each see the other's half.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/base/sign.h"

namespace enginery {

std::filesystem::path keys_folder();       // data_folder()/keys
std::filesystem::path signing_key_file();  // keys_folder()/signing.key

// The keys that this user trusts, the own one among them. Errors: storage (a file that cannot be
// read, or a signing key that others can read).
Result<TrustStore> load_trust();

// What a key is to this user.
enum class KeyRole { own, trusted };
const char* to_string(KeyRole role);  // "own", "trusted"

struct KnownKey {
  KeyRole role = KeyRole::trusted;
  PublicKey key{};
  std::filesystem::path file;

  std::string id() const { return key_id(key); }
  std::string hex() const;  // 64 hex digits
};

// The own key first, where there is one, then the trusted ones in the order of their files' names.
// Errors: as load_trust.
Result<std::vector<KnownKey>> known_keys();

// A public key given as a file or as its 64 hex digits. Errors: not_found (neither of both).
Result<PublicKey> parse_public_key(const std::string& file_or_hex);

// Makes the own key. `existing`: what happens to one that is there already. Keeping it is the error
// usage; a retired one gives its place up and stays trusted.
enum class ExistingKey { keep, retire };
Result<KnownKey> make_own_key(ExistingKey existing);

Result<KnownKey> trust_key(const PublicKey& key);

// Removes a trusted key by at least four digits of its id. The own key is never removed. Errors:
// not_found (no trusted key's id begins so), usage (more than one does).
Result<KnownKey> untrust_key(const std::string& id_prefix);

}  // namespace enginery
