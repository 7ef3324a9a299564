// The C library's calls that change files, replaced for the whole process: each does what it always
// does and is noted where it concerns the recorded folder.
//
// The functions have names of their own in C++ and the C library's for the linker, so they do not
// meet the declarations of its headers.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <mutex>
#include <optional>
#include <thread>

#include "tests/disk/disk_calls.h"

namespace enginery {
namespace {

struct Recording {
  std::atomic<bool> on = false;
  std::recursive_mutex mutex;
  std::string root;
  std::vector<DiskCall> calls;
};

struct Faults {
  std::atomic<bool> on = false;
  std::mutex mutex;
  std::string root;
  int number = 0;
  std::chrono::milliseconds delay{};
  std::atomic<int> struck = 0;
};

Faults& faults() {
  static Faults* const one = new Faults;
  return *one;
}

Recording& recording() {
  static Recording* const one = new Recording;  // outlives every file that is closed at exit
  return *one;
}

// The path below `root`; nothing for all others.
std::optional<std::string> below(const std::string& path, const std::string& root) {
  if (!path.starts_with(root)) return std::nullopt;
  if (path.size() == root.size()) return "";
  if (path[root.size()] != '/') return std::nullopt;
  return path.substr(root.size() + 1);
}

std::string path_of(int fd) {
  char path[4096];
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  const ssize_t size = readlink(link.c_str(), path, sizeof path);
  return size < 0 ? "" : std::string(path, static_cast<size_t>(size));
}

std::string path_of(const char* path) {
  return path;
}

// Below the recorded folder.
template <typename File>
std::optional<std::string> below(File file) {
  if (!recording().on) return std::nullopt;
  return below(path_of(file), recording().root);
}

enum class Wants { room, durability };

// The error that the disk answers with instead of doing what is wanted; 0: none.
template <typename File>
int fault_of(File file, Wants what) {
  Faults& bad = faults();
  if (!bad.on) return 0;
  const int number_before = errno;
  int number = 0;
  std::chrono::milliseconds delay{};
  {
    const std::lock_guard lock(bad.mutex);
    if (below(path_of(file), bad.root)) {
      number = what == Wants::durability && bad.number == ENOSPC ? 0 : bad.number;
      delay = what == Wants::durability ? bad.delay : std::chrono::milliseconds(0);
    }
  }
  if (number != 0 || delay.count() > 0) ++bad.struck;
  if (delay.count() > 0) std::this_thread::sleep_for(delay);
  errno = number_before;
  return number;
}

template <typename File>
bool refused(File file, Wants what) {
  const int number = fault_of(file, what);
  if (number != 0) errno = number;
  return number != 0;
}

struct stat look_at(int fd) {
  struct stat info {};
  (void)fstat(fd, &info);
  return info;
}

void note(DiskCall call) {
  recording().calls.push_back(std::move(call));
}

template <typename Function>
Function next_of(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

// Makes the call and, when it went well, notes what `describe` makes of it; keeps errno.
template <typename Call, typename Describe>
auto noted(Call call, Describe describe) {
  if (!recording().on) return call();
  const std::lock_guard lock(recording().mutex);
  const auto result = call();
  const int number = errno;
  if (result >= 0) describe(result);
  errno = number;
  return result;
}

bool is_there(const char* path) {
  struct stat info {};
  return lstat(path, &info) == 0;
}

int open_noted(int folder, const char* path, int flags, mode_t mode) {
  if ((flags & O_CREAT) != 0 && !is_there(path) && refused(path, Wants::room)) return -1;
  const bool made = (flags & O_CREAT) != 0 && !is_there(path);
  return noted([&] { return static_cast<int>(syscall(SYS_openat, folder, path, flags, mode)); },
               [&](int fd) {
                 const auto name = below(fd);
                 if (!name || (flags & O_TMPFILE) == O_TMPFILE) return;
                 if (made) note(FileMade{*name, look_at(fd).st_ino});
                 if ((flags & O_TRUNC) != 0) note(Resized{look_at(fd).st_ino, 0});
               });
}

void note_bytes(int fd, const void* bytes, ssize_t size, off_t offset) {
  if (below(fd))
    note(BytesWritten{look_at(fd).st_ino, static_cast<uint64_t>(offset),
                      Bytes(static_cast<const char*>(bytes), static_cast<size_t>(size))});
}

ssize_t write_noted(int fd, const void* bytes, size_t size) {
  if (refused(fd, Wants::room)) return -1;
  return noted([&] { return syscall(SYS_write, fd, bytes, size); },
               [&](ssize_t n) {
                 if (below(fd)) note_bytes(fd, bytes, n, lseek(fd, 0, SEEK_CUR) - n);
               });
}

ssize_t pwrite_noted(int fd, const void* bytes, size_t size, off_t offset) {
  if (refused(fd, Wants::room)) return -1;
  return noted([&] { return syscall(SYS_pwrite64, fd, bytes, size, offset); },
               [&](ssize_t n) { note_bytes(fd, bytes, n, offset); });
}

int truncate_noted(int fd, off_t size) {
  return noted([&] { return static_cast<int>(syscall(SYS_ftruncate, fd, size)); },
               [&](int) {
                 if (below(fd)) note(Resized{look_at(fd).st_ino, static_cast<uint64_t>(size)});
               });
}

int sync_noted(int fd, long number) {
  if (refused(fd, Wants::durability)) return -1;
  return noted([&] { return static_cast<int>(syscall(number, fd)); },
               [&](int) {
                 const auto name = below(fd);
                 if (!name) return;
                 if (S_ISDIR(look_at(fd).st_mode))
                   note(FolderSynced{*name});
                 else
                   note(FileSynced{look_at(fd).st_ino});
               });
}

int rename_noted(const char* from, const char* to, unsigned flags) {
  if (refused(to, Wants::durability)) return -1;
  return noted(
      [&] { return static_cast<int>(syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, flags)); },
      [&](int) {
        const auto old_name = below(from), new_name = below(to);
        if (old_name && new_name) note(NameMoved{*old_name, *new_name});
      });
}

int remove_noted(const char* path, int flags) {
  return noted([&] { return static_cast<int>(syscall(SYS_unlinkat, AT_FDCWD, path, flags)); },
               [&](int) {
                 if (const auto name = below(path)) note(NameRemoved{*name});
               });
}

int make_temporary_noted(char* name, int flags) {
  if (refused(static_cast<const char*>(name), Wants::room)) return -1;
  static const auto next = next_of<int (*)(char*, int)>("mkostemp");
  return noted([&] { return next(name, flags); },
               [&](int fd) {
                 if (const auto path = below(fd)) note(FileMade{*path, look_at(fd).st_ino});
               });
}

// Zero, or the error's number: it does not set errno.
int reserve_noted(int fd, off_t offset, off_t size) {
  static const auto next = next_of<int (*)(int, off_t, off_t)>("posix_fallocate");
  if (const int fault = fault_of(fd, Wants::room); fault != 0) return fault;
  const std::lock_guard lock(recording().mutex);
  const int number = next(fd, offset, size);
  if (number == 0 && below(fd))
    note(Resized{look_at(fd).st_ino, static_cast<uint64_t>(look_at(fd).st_size)});
  return number;
}

}  // namespace

void DiskCalls::begin(const std::filesystem::path& folder) {
  const std::lock_guard lock(recording().mutex);
  recording().root = std::filesystem::canonical(folder).string();
  recording().calls.clear();
  recording().on = true;
}

std::vector<DiskCall> DiskCalls::end() {
  const std::lock_guard lock(recording().mutex);
  recording().on = false;
  return std::exchange(recording().calls, {});
}

void DiskCalls::promise(std::string what) {
  const std::lock_guard lock(recording().mutex);
  note(Promised{std::move(what)});
}

void DiskFaults::begin(const std::filesystem::path& folder, int number,
                       std::chrono::milliseconds delay) {
  const std::lock_guard lock(faults().mutex);
  faults().root = std::filesystem::canonical(folder).string();
  faults().number = number;
  faults().delay = delay;
  faults().struck = 0;
  faults().on = true;
}

void DiskFaults::end() {
  faults().on = false;
}

int DiskFaults::struck() {
  return faults().struck;
}

}  // namespace enginery

// The C library's names. Every call of the list below gets here, from whatever library.
#define ENGINERY_HOOK(type, name, parameters, ...)        \
  extern "C" __attribute__((used, visibility("default"))) \
  type hook_##name parameters __asm__(#name);             \
  type hook_##name parameters {                           \
    return __VA_ARGS__;                                   \
  }

ENGINERY_HOOK(int, open, (const char* path, int flags, mode_t mode),
              enginery::open_noted(AT_FDCWD, path, flags, mode))
ENGINERY_HOOK(int, open64, (const char* path, int flags, mode_t mode),
              enginery::open_noted(AT_FDCWD, path, flags, mode))
ENGINERY_HOOK(ssize_t, write, (int fd, const void* bytes, size_t size),
              enginery::write_noted(fd, bytes, size))
ENGINERY_HOOK(ssize_t, pwrite, (int fd, const void* bytes, size_t size, off_t offset),
              enginery::pwrite_noted(fd, bytes, size, offset))
ENGINERY_HOOK(ssize_t, pwrite64, (int fd, const void* bytes, size_t size, off_t offset),
              enginery::pwrite_noted(fd, bytes, size, offset))
ENGINERY_HOOK(int, ftruncate, (int fd, off_t size), enginery::truncate_noted(fd, size))
ENGINERY_HOOK(int, ftruncate64, (int fd, off_t size), enginery::truncate_noted(fd, size))
ENGINERY_HOOK(int, fsync, (int fd), enginery::sync_noted(fd, SYS_fsync))
ENGINERY_HOOK(int, fdatasync, (int fd), enginery::sync_noted(fd, SYS_fdatasync))
ENGINERY_HOOK(int, rename, (const char* from, const char* to), enginery::rename_noted(from, to, 0))
ENGINERY_HOOK(int, renameat2, (int, const char* from, int, const char* to, unsigned flags),
              enginery::rename_noted(from, to, flags))
ENGINERY_HOOK(int, unlink, (const char* path), enginery::remove_noted(path, 0))
ENGINERY_HOOK(int, rmdir, (const char* path), enginery::remove_noted(path, AT_REMOVEDIR))
ENGINERY_HOOK(int, mkostemp, (char* name, int flags), enginery::make_temporary_noted(name, flags))
ENGINERY_HOOK(int, posix_fallocate, (int fd, off_t offset, off_t size),
              enginery::reserve_noted(fd, offset, size))
ENGINERY_HOOK(int, link, (const char* from, const char* to),
              enginery::noted(
                  [&] {
                    return static_cast<int>(syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0));
                  },
                  [&](int) {
                    const auto old_name = enginery::below(from), new_name = enginery::below(to);
                    if (old_name && new_name)
                      enginery::note(enginery::NameAdded{*old_name, *new_name});
                  }))
ENGINERY_HOOK(
    int, mkdir, (const char* path, mode_t mode),
    enginery::noted([&] { return static_cast<int>(syscall(SYS_mkdirat, AT_FDCWD, path, mode)); },
                    [&](int) {
                      if (const auto name = enginery::below(path))
                        enginery::note(enginery::FolderMade{*name});
                    }))
