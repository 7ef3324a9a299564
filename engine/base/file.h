// Whole-file reading and atomic writing, and the folders that enginery keeps its things in.
// Errors: not_found (no such file), storage (permission, full, read-only), invalid_argument (a
// folder, too large).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "engine/base/digest.h"

namespace enginery {

Result<Bytes> read_file(const std::filesystem::path& file, uint64_t max_bytes = UINT64_MAX);

// Writes through a temporary file in the same folder, fsync and rename: readers see the old bytes
// or the new ones, a failure leaves neither a half-written file nor the temporary. `mode` is the
// file's permission bits.
Status write_file(const std::filesystem::path& file, std::string_view bytes, unsigned mode = 0644);

// mkdir -p. A failure is a storage error that names the folder and the reason.
Status make_folder(const std::filesystem::path& folder, unsigned mode = 0755);

// ENGINERY_HOME overrides all three (its sub-folders data, state, run); otherwise the XDG base
// directories.
std::filesystem::path data_folder();     // $XDG_DATA_HOME/enginery, ~/.local/share/enginery
std::filesystem::path state_folder();    // $XDG_STATE_HOME/enginery, ~/.local/state/enginery
std::filesystem::path runtime_folder();  // $XDG_RUNTIME_DIR/enginery, else the state folder

// errno as a storage (or not_found) error: "open /x/y: Permission denied".
Error errno_error(const std::string& what, int error_number);

}  // namespace enginery
