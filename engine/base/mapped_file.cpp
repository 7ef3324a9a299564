#include "engine/base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>

#include "engine/base/file.h"
#include "engine/base/huge_pages.h"
#include "engine/base/parallel.h"

namespace enginery {
namespace {

Result<MappedFile> map_open_file(int fd, const std::string& name) {
  struct stat info {};
  if (fstat(fd, &info) != 0) return errno_error("stat " + name, errno);
  if (!S_ISREG(info.st_mode))
    return Error{ErrorCode::invalid_argument, "map " + name + ": it is not a regular file"};
  const auto size = static_cast<size_t>(info.st_size);
  if (size == 0) return MappedFile();
  void* const data = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (data == MAP_FAILED) {
    const int number = errno;
    Error error = errno_error("map " + name, number);
    if (number == ENOMEM) error.code = ErrorCode::out_of_memory;
    return error;
  }
  std::shared_ptr<const void> keep_alive(data,
                                         [size](void* mapped) { (void)munmap(mapped, size); });
  return MappedFile{{static_cast<const std::byte*>(data), size}, std::move(keep_alive)};
}

// Smaller files are not worth a second thread.
constexpr size_t kReadByAll = size_t{4} << 20;

// Zeros that begin at a page, and in huge pages where there are any.
Result<std::shared_ptr<std::byte>> fresh_memory(size_t size) {
  void* const data =
      mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED)
    return Error{ErrorCode::out_of_memory, "no memory for " + std::to_string(size) + " bytes"};
  prefer_huge_pages(data, size);
  return std::shared_ptr<std::byte>(static_cast<std::byte*>(data),
                                    [size](std::byte* mapped) { (void)munmap(mapped, size); });
}

// 0, or the errno of what went wrong; -1 where the file ends too early.
int read_range(int fd, std::byte* to, size_t begin, size_t end) {
  while (begin < end) {
    const ssize_t n = pread(fd, to + begin, end - begin, static_cast<off_t>(begin));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return n < 0 ? errno : -1;
    begin += static_cast<size_t>(n);
  }
  return 0;
}

Result<MappedFile> read_open_file(int fd, size_t size, const std::string& name) {
  auto memory = fresh_memory(size);
  if (!memory.ok()) return memory.error().within("read " + name);
  std::byte* const to = memory->get();
  std::atomic<int> failure = 0;
  parallel_ranges(static_cast<int64_t>(size), kReadByAll, [&](int64_t begin, int64_t end) {
    if (const int error = read_range(fd, to, static_cast<size_t>(begin), static_cast<size_t>(end)))
      failure = error;
  });
  if (failure == -1)
    return Error{ErrorCode::storage, "read " + name + ": it became shorter meanwhile"};
  if (failure != 0) return errno_error("read " + name, failure);
  return MappedFile{{to, size}, std::move(*memory)};
}

}  // namespace

Result<MappedFile> load_file(const std::filesystem::path& file) {
  struct stat info {};
  const bool large = stat(file.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
                     static_cast<size_t>(info.st_size) >= kReadByAll;
  if (!large) {
    TRY(Bytes bytes, read_file(file));
    const auto kept = std::make_shared<const Bytes>(std::move(bytes));
    return MappedFile{as_bytes(*kept), kept};
  }
  const int fd = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return errno_error("open " + file.string(), errno);
  auto loaded = read_open_file(fd, static_cast<size_t>(info.st_size), file.string());
  close(fd);
  return loaded;
}

Result<MappedFile> map_file(const std::filesystem::path& file) {
  const int fd = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return errno_error("open " + file.string(), errno);
  auto mapped = map_open_file(fd, file.string());
  close(fd);  // the pages stay
  return mapped;
}

void let_pages_go(const MappedFile& file) {
  if (file.bytes.empty()) return;
  // madvise takes no constant; nothing is written.
  (void)madvise(const_cast<std::byte*>(file.bytes.data()), file.bytes.size(), MADV_DONTNEED);
}

}  // namespace enginery
