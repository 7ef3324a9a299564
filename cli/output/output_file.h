// A file that the user names for a result: `-o`, `--export-times`.
//
// Where: every verb that writes one. A symbolic link is followed, a device or FIFO is written to,
// and a regular file is replaced as a whole (write_file of engine/base). Threads: free functions
// without state.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "engine/base/result.h"

namespace enginery {

// Whether the first bytes of a file are those of what is about to be written over it.
using IsReplaceable = std::function<bool(std::string_view first_bytes)>;

// Files of the kind that begins with `text`.
IsReplaceable files_that_begin_with(std::string text);
// JSON of one line whose first field is this schema.
IsReplaceable documents_of(const std::string& schema);

// Whether a write to `file` can succeed, asked before the work whose result it is; nothing is made
// or opened for writing. An existing file with bytes in it is replaced where `replaceable` takes
// its first 64 bytes (none: always). Errors: storage (no such folder, not permitted, a folder, a
// socket); usage (a file of another kind is there).
Status check_output_file(const std::filesystem::path& file, const IsReplaceable& replaceable = {});

// Writes the bytes. Errors: storage.
Status write_output_file(const std::filesystem::path& file, std::string_view bytes);

}  // namespace enginery
