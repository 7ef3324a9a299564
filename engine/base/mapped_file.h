// A file as memory: its pages are read when they are first touched, and the system may drop them
// again, so that a file may be larger than the memory that is free.
//
// Where: beside file.h, which reads whole files. Values: safe to move between threads.
#pragma once

#include <filesystem>
#include <memory>

#include "engine/base/digest.h"

namespace enginery {

// Read-only bytes that begin at a page; `keep_alive` unmaps them with its last owner.
struct MappedFile {
  ByteSpan bytes;
  std::shared_ptr<const void> keep_alive;
};

// The file must not be changed while it is mapped: what is read would change too, and a file that
// is cut ends the process that reads beyond its end (SIGBUS). A file that is replaced (written
// beside it and renamed) is no change. Errors: not_found, storage, invalid_argument (not a regular
// file), out_of_memory (no room for its addresses).
Result<MappedFile> map_file(const std::filesystem::path& file);

// The file's bytes in memory of their own, read by all cores at once: what happens to the file
// later changes nothing. Also of pipes. Errors: those of read_file (file.h), storage (the file is
// cut while it is read), out_of_memory.
Result<MappedFile> load_file(const std::filesystem::path& file);

// What was read of it counts no longer as this process's memory; it is read again where it is
// touched again.
void let_pages_go(const MappedFile& file);

}  // namespace enginery
