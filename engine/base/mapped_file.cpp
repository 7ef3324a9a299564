#include "engine/base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "engine/base/file.h"

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

}  // namespace

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
