// Folders and files that nobody but their owner reads: models, engines, logs and keys lie in them.
//
// Where: whoever opens a data folder. Threads: free functions.
#pragma once

#include <filesystem>

#include "engine/base/result.h"

namespace enginery {

// mkdir -p, the last one with mode 0700. One that is there and this user's loses the permissions of
// group and others, unless it is more than a folder of ours may be: the root, the user's home, or a
// shared one (sticky, as /tmp). Errors: storage.
Status make_private_folder(const std::filesystem::path& folder);

// The same, and removes what is in it. The folder itself stays: a sandbox may have it open.
Status make_empty_folder(const std::filesystem::path& folder);

// A file that is there and this user's loses the permissions of group and others; one that is not
// there is passed over. Errors: storage.
Status make_private_file(const std::filesystem::path& file);

}  // namespace enginery
