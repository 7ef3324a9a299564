// The keys of a farm that is on the network, on its coordinator's own host: the coordinator's,
// those that it lets in, and tokens.
//
// Where: `keys` and `up --listen`, over the coordinator's data folder; a coordinator that runs sees
// the change at once. `join` keeps the key that it got in this user's keys folder. Threads: free
// functions over files.
#pragma once

#include <filesystem>
#include <optional>

#include "coordinator/access/principals.h"
#include "coordinator/client/identity.h"

namespace enginery {

// What a new key is to be.
struct NewKey {
  std::string name;
  Roles roles;
  std::string tenant;   // "": the default one
  std::string address;  // of the coordinator, into the key's file; "": as it last listened
};

// DATA/keys.
Principals farm_principals(const std::filesystem::path& data);

// The coordinator's own public key; made where there is none. Errors: as CurveKey::load_or_create.
Result<PublicKey> make_coordinator_key(const std::filesystem::path& data);

// Makes a key, lets it in and writes it to the file. usage: there is a file already, or another key
// has the name; not_found: the folder is no coordinator's with a key.
Result<Principal> make_farm_key(const std::filesystem::path& data, const NewKey& wanted,
                                const std::filesystem::path& file);

// A token for one host, good for 24 hours. Errors: as make_farm_key; usage: the address is not
// known.
Result<std::string> make_token(const std::filesystem::path& data, const std::string& tenant,
                               const std::string& address);

// Remembers at which address of the network the coordinator listens, and what was remembered; "".
Status remember_address(const std::filesystem::path& data, const std::string& address);
std::string known_address(const std::filesystem::path& data);

// The host's name in place of "every interface", which no other host can dial.
std::string dialable(const std::string& address);

// Exchanges the token for a key of this host, over the network, and keeps the key's file in this
// user's keys folder; the file. The same token again gives the same file. Errors: as
// Client::connect; untrusted: the coordinator refuses the token.
Result<std::filesystem::path> redeem_token(const std::string& token, const std::string& name);
// The file of the last redeem_token. not_found: there was none.
Result<std::filesystem::path> joined_key();

}  // namespace enginery
