#include "tests/disk/disk_image.h"

#include <fstream>
#include <sstream>

namespace enginery {
namespace {

namespace fs = std::filesystem;

std::string folder_of(const std::string& path) {
  return fs::path(path).parent_path().string();
}

std::string name_of(const std::string& path) {
  return fs::path(path).filename().string();
}

void put(Bytes& content, const BytesWritten& write) {
  if (content.size() < write.offset + write.bytes.size())
    content.resize(write.offset + write.bytes.size());
  content.replace(write.offset, write.bytes.size(), write.bytes);
}

}  // namespace

const char* to_string(Survives what) {
  switch (what) {
    case Survives::nothing:
      return "only what was synced";
    case Survives::names:
      return "all names, and of the bytes those that were synced";
    case Survives::half_write:
      return "everything but half of the last write";
    case Survives::everything:
      return "everything";
  }
  return "";
}

void DiskImage::follow(const DiskCall& call) {
  std::visit([this](const auto& one) { take(one); }, call);
}

Inode& DiskImage::name(const std::string& path) {
  return folders_[folder_of(path)].now[name_of(path)];
}

// An inode may be one that a removed file had.
void DiskImage::take(const FileMade& call) {
  nodes_[call.inode] = {};
  name(call.path) = call.inode;
}

void DiskImage::take(const FolderMade& call) {
  name(call.path) = 0;
  folders_[call.path] = {};
}

void DiskImage::take(const BytesWritten& call) {
  Bytes& content = nodes_[call.inode].now;
  before_last_write_ = content;
  put(content, call);
  last_write_ = call;
}

void DiskImage::take(const Resized& call) {
  nodes_[call.inode].now.resize(call.size_bytes);
  if (call.inode == last_write_.inode) last_write_.inode = 0;
}

void DiskImage::take(const NameMoved& call) {
  const Inode inode = name(call.from);
  name(call.to) = inode;
  folders_[folder_of(call.from)].now.erase(name_of(call.from));
}

void DiskImage::take(const NameAdded& call) {
  name(call.to) = name(call.from);
}

void DiskImage::take(const NameRemoved& call) {
  folders_[folder_of(call.path)].now.erase(name_of(call.path));
}

void DiskImage::take(const FileSynced& call) {
  Node& node = nodes_[call.inode];
  node.synced = node.now;
  if (call.inode == last_write_.inode) last_write_.inode = 0;
}

void DiskImage::take(const FolderSynced& call) {
  Folder& folder = folders_[call.path];
  folder.synced = folder.now;
}

DiskImage::Tree DiskImage::after_cut(Survives what) const {
  Tree out;
  collect("", what, out);
  return out;
}

void DiskImage::collect(const std::string& path, Survives what, Tree& out) const {
  const Folder& folder = folders_.at(path);
  for (const auto& [entry, inode] : what == Survives::nothing ? folder.synced : folder.now) {
    const std::string full = path.empty() ? entry : path + "/" + entry;
    if (inode == 0) {
      out[full] = std::nullopt;
      collect(full, what, out);
      continue;
    }
    const Node& node = nodes_.at(inode);
    const bool keeps = what == Survives::everything || what == Survives::half_write;
    out[full] = keeps ? node.now : node.synced;
    if (what != Survives::half_write || inode != last_write_.inode) continue;
    BytesWritten half = last_write_;
    half.bytes.resize(half.bytes.size() / 2);
    out[full] = before_last_write_;
    put(*out[full], half);
  }
}

void write_tree(const DiskImage::Tree& tree, const fs::path& folder) {
  for (const auto& [path, content] : tree)  // a folder comes before what is in it
    if (!content)
      fs::create_directory(folder / path);
    else
      std::ofstream(folder / path, std::ios::binary) << *content;
}

DiskImage::Tree read_tree(const fs::path& folder) {
  DiskImage::Tree out;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    const std::string path = fs::relative(entry.path(), folder).string();
    out[path] = std::nullopt;
    if (entry.is_directory()) continue;
    std::ostringstream content;
    content << std::ifstream(entry.path(), std::ios::binary).rdbuf();
    out[path] = content.str();
  }
  return out;
}

}  // namespace enginery
