// Who this end of a connection is: a CURVE key, and the coordinator's that it expects to find.
//
// Where: the command line and the agent dial with an identity (zmq_link.cpp), the coordinator binds
// with its own key (coordinator/server). Secrets are in files that nobody but their owner reads.
// Threads: values and free functions.
//
//   identity := "enginery-identity 1\n" ("name " TEXT | "secret " HEX | "coordinator " HEX |
//               "address " URL) "\n" ...                       HEX: 64 digits, 32 bytes
//   token    := "enginery-join-1," URL "," coordinator-HEX "," secret-HEX "," check
//   check    := the first 8 hex digits of the SHA-256 of all before the last comma
#pragma once

#include <filesystem>
#include <string>

#include "engine/base/sign.h"

namespace enginery {

// A Curve25519 key pair, as libzmq uses it. A value; keep copies few.
struct CurveKey {
  std::array<uint8_t, 32> secret{};
  PublicKey public_key{};

  static CurveKey generate();
  static CurveKey of_secret(const std::array<uint8_t, 32>& secret);
  // A file of 64 hex digits. Errors: as read_identity.
  static Result<CurveKey> load(const std::filesystem::path& file);
  static Result<CurveKey> load_or_create(const std::filesystem::path& file);
};

struct FarmIdentity {
  std::string name;         // under which the coordinator knows the key; "" where it says
  CurveKey own;             // of this end
  PublicKey coordinator{};  // of the other end: another coordinator is not spoken to
  std::string address;      // its control address; "" where the caller says
};

// not_found; untrusted: others can read the file (but systemd's credentials, which it protects);
// corrupt_data: it is no identity.
Result<FarmIdentity> read_identity(const std::filesystem::path& file);
// 0600, folders made. storage.
Status write_identity(const std::filesystem::path& file, const FarmIdentity& identity);

// A token is an identity in one word: its secret is used once, for a key of the holder's own.
std::string join_token(const FarmIdentity& identity);
// usage: no token, or damaged on the way.
Result<FarmIdentity> parse_join_token(std::string_view token);

// 64 hex digits. usage otherwise.
Result<PublicKey> parse_key(std::string_view hex);
std::string key_text(const PublicKey& key);

// Whether a file's mode, or systemd's credentials folder that it lies in, keeps others out.
Status check_private(const std::filesystem::path& file);

}  // namespace enginery
