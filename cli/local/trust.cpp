#include "cli/local/trust.h"

#include "engine/base/file.h"

namespace enginery {

std::filesystem::path keys_folder() {
  return data_folder() / "keys";
}

std::filesystem::path signing_key_file() {
  return keys_folder() / "signing.key";
}

Result<TrustStore> load_trust() {
  return TrustStore::load(keys_folder());
}

}  // namespace enginery
