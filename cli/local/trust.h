// The user's keys: where they are and which engines they let in.
#pragma once

#include <filesystem>

#include "engine/base/sign.h"

namespace enginery {

std::filesystem::path keys_folder();       // $XDG_DATA_HOME/enginery/keys
std::filesystem::path signing_key_file();  // the user's own, which signs local builds

// The keys that this user trusts. storage: the folder cannot be read.
Result<TrustStore> load_trust();

}  // namespace enginery
