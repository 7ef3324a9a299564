#include "coordinator/client/identity.h"

#include <sys/stat.h>
#include <zmq.h>

#include <cstdlib>
#include <cstring>
#include <sstream>

#include "engine/base/file.h"

namespace enginery {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kIdentityHead = "enginery-identity 1", kTokenHead = "enginery-join-1";
constexpr size_t kMaxIdentityBytes = 4096;

PublicKey from_z85(const char* text) {
  PublicKey key{};
  ENSURE(zmq_z85_decode(key.data(), text) != nullptr, "libzmq made a key that it cannot read");
  return key;
}

std::string hex_of(const std::array<uint8_t, 32>& bytes) {
  return to_hex(std::as_bytes(std::span(bytes)));
}

Error damaged(const fs::path& file, const std::string& what) {
  return {ErrorCode::corrupt_data, "key file " + file.string() + ": " + what};
}

}  // namespace

CurveKey CurveKey::generate() {
  char public_text[41], secret_text[41];
  ENSURE(zmq_curve_keypair(public_text, secret_text) == 0, "libzmq was built without CURVE");
  return {from_z85(secret_text), from_z85(public_text)};
}

CurveKey CurveKey::of_secret(const std::array<uint8_t, 32>& secret) {
  char secret_text[41], public_text[41];
  ENSURE(zmq_z85_encode(secret_text, secret.data(), secret.size()) != nullptr &&
             zmq_curve_public(public_text, secret_text) == 0,
         "libzmq was built without CURVE");
  return {secret, from_z85(public_text)};
}

Status check_private(const fs::path& file) {
  struct stat info {};
  if (stat(file.c_str(), &info) != 0 || (info.st_mode & 077) == 0) return {};
  const char* credentials = std::getenv("CREDENTIALS_DIRECTORY");
  std::error_code ignored;
  if (credentials != nullptr && fs::equivalent(file.parent_path(), credentials, ignored)) return {};
  return Error{ErrorCode::untrusted, "key file " + file.string() +
                                         ": others can read it; run: chmod 600 " + file.string()};
}

Result<CurveKey> CurveKey::load(const fs::path& file) {
  CHECK_OK(check_private(file));
  TRY(const Bytes text, read_file(file, kMaxIdentityBytes));
  const auto secret =
      parse_key(std::string_view(text).substr(0, text.find_last_not_of(" \r\n") + 1));
  if (!secret.ok()) return damaged(file, "64 hexadecimal digits expected");
  return of_secret(*secret);
}

Result<CurveKey> CurveKey::load_or_create(const fs::path& file) {
  Result<CurveKey> known = load(file);
  if (known.ok() || known.error().code != ErrorCode::not_found) return known;
  CHECK_OK(make_folder(file.parent_path(), 0700));
  const CurveKey key = generate();
  CHECK_OK(write_file(file, hex_of(key.secret) + "\n", 0600));
  return key;
}

Result<FarmIdentity> read_identity(const fs::path& file) {
  CHECK_OK(check_private(file));
  TRY(const Bytes text, read_file(file, kMaxIdentityBytes));
  std::istringstream lines(text);
  std::string line;
  if (!std::getline(lines, line) || line != kIdentityHead)
    return damaged(file, "this is no key of enginery's; enginery keys client new NAME makes one");
  FarmIdentity identity;
  bool has_secret = false, has_coordinator = false;
  while (std::getline(lines, line)) {
    const std::string word = line.substr(0, line.find(' '));
    const std::string value = line.size() > word.size() ? line.substr(word.size() + 1) : "";
    if (word == "name") identity.name = value;
    if (word == "address") identity.address = value;
    if (word != "secret" && word != "coordinator") continue;
    const auto key = parse_key(value);
    if (!key.ok()) return damaged(file, "its " + word + " is not 64 hexadecimal digits");
    if (word == "secret") identity.own = CurveKey::of_secret(*key);
    if (word == "coordinator") identity.coordinator = *key;
    has_secret = has_secret || word == "secret";
    has_coordinator = has_coordinator || word == "coordinator";
  }
  if (!has_secret || !has_coordinator)
    return damaged(file, has_secret ? "no coordinator's key in it" : "no secret in it");
  return identity;
}

Status write_identity(const fs::path& file, const FarmIdentity& identity) {
  std::string text = std::string(kIdentityHead) + "\nsecret " + hex_of(identity.own.secret) +
                     "\ncoordinator " + key_text(identity.coordinator) + "\n";
  if (!identity.name.empty()) text += "name " + identity.name + "\n";
  if (!identity.address.empty()) text += "address " + identity.address + "\n";
  if (!file.parent_path().empty()) CHECK_OK(make_folder(file.parent_path(), 0700));
  return write_file(file, text, 0600);
}

std::string join_token(const FarmIdentity& identity) {
  const std::string token = std::string(kTokenHead) + "," + identity.address + "," +
                            key_text(identity.coordinator) + "," + hex_of(identity.own.secret);
  return token + "," + sha256(token).hex().substr(0, 8);
}

Result<FarmIdentity> parse_join_token(std::string_view token) {
  const auto wrong = [](const std::string& what) {
    return Error{ErrorCode::usage,
                 "join: this is " + what +
                     "; copy the whole line that `enginery up --listen` or `enginery keys token` "
                     "printed"};
  };
  std::string parts[5];
  std::istringstream stream{std::string(token)};
  size_t count = 0;
  for (std::string part; std::getline(stream, part, ','); ++count)
    if (count < std::size(parts)) parts[count] = part;
  if (parts[0] != kTokenHead) return wrong("no token");
  const std::string_view checked = token.substr(0, token.rfind(','));
  if (count != std::size(parts) || sha256(checked).hex().substr(0, 8) != parts[4])
    return wrong("a token that is not whole");
  FarmIdentity identity;
  identity.address = parts[1];
  const auto coordinator = parse_key(parts[2]), secret = parse_key(parts[3]);
  if (!coordinator.ok() || !secret.ok()) return wrong("a token that is not whole");
  identity.coordinator = *coordinator;
  identity.own = CurveKey::of_secret(*secret);
  return identity;
}

Result<PublicKey> parse_key(std::string_view hex) {
  const Result<Bytes> bytes = from_hex(hex);
  if (!bytes.ok() || bytes->size() != PublicKey{}.size())
    return Error{ErrorCode::usage, "'" + std::string(hex.substr(0, 80)) +
                                       "' is no public key: 64 hexadecimal digits expected"};
  PublicKey key{};
  std::memcpy(key.data(), bytes->data(), key.size());
  return key;
}

std::string key_text(const PublicKey& key) {
  return hex_of(key);
}

}  // namespace enginery
