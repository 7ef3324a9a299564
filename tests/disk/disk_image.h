// What is on the disk after some calls, and what a power cut leaves of it.
//
// The model is the strict one: bytes survive once their file was synced, names once their folder
// was. What was not synced may survive as well, so each cut is tried in several ways.
#pragma once

#include "tests/disk/disk_calls.h"

namespace enginery {

// What survives beside what was synced.
enum class Survives {
  nothing,     // the latest synced content of each file under the names that were synced
  names,       // every name that there was; of the content what was synced: a journal of metadata
  half_write,  // everything, but of the last write only its first half: a torn one
  everything,  // everything: as after kill -9
};
const char* to_string(Survives what);

class DiskImage {
 public:
  // Takes the next call into account.
  void follow(const DiskCall& call);

  // The files (path -> content) and folders (path -> nothing) after a power cut.
  using Tree = std::map<std::string, std::optional<Bytes>>;
  Tree after_cut(Survives what) const;

 private:
  struct Node {
    Bytes now, synced;
  };
  // Names of one folder; a folder's inode is 0, its own entries are under its path.
  using Names = std::map<std::string, Inode>;
  struct Folder {
    Names now, synced;
  };
  void take(const FileMade& call);
  void take(const FolderMade& call);
  void take(const BytesWritten& call);
  void take(const Resized& call);
  void take(const NameMoved& call);
  void take(const NameAdded& call);
  void take(const NameRemoved& call);
  void take(const FileSynced& call);
  void take(const FolderSynced& call);
  void take(const Promised&) {}
  Inode& name(const std::string& path);
  void collect(const std::string& path, Survives what, Tree& out) const;

  std::map<Inode, Node> nodes_;
  std::map<std::string, Folder> folders_{{"", {}}};
  BytesWritten last_write_;  // inode 0: it is synced, or its file was resized since
  Bytes before_last_write_;  // the content of its file
};

// Writes the tree into an empty folder.
void write_tree(const DiskImage::Tree& tree, const std::filesystem::path& folder);
// The tree of what is in a folder.
DiskImage::Tree read_tree(const std::filesystem::path& folder);

}  // namespace enginery
