// What this process does to the files below one folder: every call that changes them or makes them
// durable, in order, and between the calls what the program has promised.
//
// Where: disk_hooks.cpp stands in front of the C library's calls (SQLite's as well as the blob
// store's) and notes them here; disk_image.h says what a power cut leaves of them. Files are known
// by their inode, so a rename moves no content. Threads: thread-safe.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "engine/base/digest.h"

namespace enginery {

using Inode = uint64_t;

// Paths are relative to the recorded folder, "" is the folder itself.
struct FileMade {
  std::string path;
  Inode inode = 0;
};
struct FolderMade {
  std::string path;
};
struct BytesWritten {
  Inode inode = 0;
  uint64_t offset = 0;
  Bytes bytes;
};
struct Resized {  // cut, or made longer with zeros
  Inode inode = 0;
  uint64_t size_bytes = 0;
};
struct NameMoved {  // replaces what had the name
  std::string from, to;
};
struct NameAdded {  // a hard link
  std::string from, to;
};
struct NameRemoved {
  std::string path;
};
struct FileSynced {
  Inode inode = 0;
};
struct FolderSynced {
  std::string path;
};
// Not a call: from here on the program must be able to keep the promise.
struct Promised {
  std::string what;
};
using DiskCall = std::variant<FileMade, FolderMade, BytesWritten, Resized, NameMoved, NameAdded,
                              NameRemoved, FileSynced, FolderSynced, Promised>;

// The recording of this process, off until begin().
class DiskCalls {
 public:
  // Records what happens below `folder` (an existing, empty folder) from now on.
  static void begin(const std::filesystem::path& folder);
  static std::vector<DiskCall> end();
  static void promise(std::string what);
};

// A disk that fails: calls below one folder are refused or slow, in whatever thread they are made.
class DiskFaults {
 public:
  // ENOSPC refuses what needs room, EIO also every sync, 0 nothing; each sync takes `delay` longer.
  static void begin(const std::filesystem::path& folder, int number,
                    std::chrono::milliseconds delay = {});
  static void end();
  // How many calls were refused or slowed down since begin().
  static int struck();
};

}  // namespace enginery
