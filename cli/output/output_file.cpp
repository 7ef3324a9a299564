#include "cli/output/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "engine/base/file.h"

namespace enginery {
namespace {

namespace fs = std::filesystem;

Error cannot_write(const fs::path& file, const std::string& why) {
  return {ErrorCode::storage, "write " + file.string() + ": " + why};
}

// Links resolved, also one whose target is not there yet.
fs::path target_of(const fs::path& file) {
  constexpr int kMaxLinks = 40;  // as the kernel's
  fs::path target = file;
  std::error_code failed;
  for (int i = 0; i < kMaxLinks && fs::is_symlink(target, failed); ++i) {
    const fs::path next = fs::read_symlink(target, failed);
    target = next.is_absolute() ? next : target.parent_path() / next;
  }
  return target;
}

fs::path folder_of(const fs::path& file) {
  return file.has_parent_path() ? file.parent_path() : fs::path(".");
}

// Permission is not enough: /proc gives it and takes none.
bool takes_files(const fs::path& folder) {
  std::string temporary = (folder / ".enginery.XXXXXX").string();
  const int fd = mkostemp(temporary.data(), O_CLOEXEC);
  if (fd < 0) return false;
  close(fd);
  unlink(temporary.c_str());
  return true;
}

// Of the file that `named` comes to.
Status check_folder(const fs::path& named) {
  const fs::path folder = folder_of(target_of(named));
  std::error_code failed;
  if (!fs::exists(folder, failed))
    return cannot_write(named, "the folder " + folder.string() +
                                   " does not exist; make it, or name another file with -o");
  if (!fs::is_directory(folder, failed))
    return cannot_write(named, folder.string() + " is not a folder");
  const std::string elsewhere = "; name a file elsewhere with -o";
  if (access(folder.c_str(), W_OK | X_OK) != 0)
    return cannot_write(named, std::string(std::strerror(errno)) + " (the folder " +
                                   folder.string() + ")" + elsewhere);
  if (takes_files(folder)) return {};
  return cannot_write(named, "the folder " + folder.string() + " takes no new files" + elsewhere);
}

std::string first_bytes_of(const fs::path& file) {
  std::string bytes(64, '\0');
  std::ifstream in(file, std::ios::binary);
  in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<size_t>(in.gcount()));
  return bytes;
}

// A FIFO or a device: what is written goes to whoever reads it.
bool is_stream(const struct stat& info) {
  return S_ISFIFO(info.st_mode) || S_ISCHR(info.st_mode) || S_ISBLK(info.st_mode);
}

Status write_stream(const fs::path& file, std::string_view bytes) {
  const int fd = open(file.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
  if (fd < 0) return cannot_write(file, std::strerror(errno));
  int failure = 0;
  while (!bytes.empty() && failure == 0) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n >= 0) bytes.remove_prefix(static_cast<size_t>(n));
    if (n < 0 && errno != EINTR) failure = errno;
  }
  if (close(fd) != 0 && failure == 0) failure = errno;
  return failure == 0 ? Status() : Status(cannot_write(file, std::strerror(failure)));
}

}  // namespace

IsReplaceable files_that_begin_with(std::string text) {
  return [text = std::move(text)](std::string_view bytes) { return bytes.starts_with(text); };
}

IsReplaceable documents_of(const std::string& schema) {
  return files_that_begin_with(R"({"schema":")" + schema + '"');
}

Status check_output_file(const fs::path& file, const IsReplaceable& replaceable) {
  struct stat info {};
  if (stat(file.c_str(), &info) != 0) {
    if (errno != ENOENT && errno != ENOTDIR) return cannot_write(file, std::strerror(errno));
    return check_folder(file);
  }
  if (S_ISDIR(info.st_mode))
    return cannot_write(
        file, "it is a folder; name a file in it, such as " + (file / "model.engine").string());
  if (S_ISSOCK(info.st_mode)) return cannot_write(file, "it is a socket");
  if (access(file.c_str(), W_OK) != 0)
    return cannot_write(file, std::string(std::strerror(errno)) + "; name another file with -o");
  if (is_stream(info)) return {};
  if (info.st_size > 0 && replaceable && !replaceable(first_bytes_of(file)))
    return Error{ErrorCode::usage,
                 "write " + file.string() +
                     ": a file of another kind is there, and it is not overwritten; name another "
                     "one with -o, or remove it"};
  return check_folder(file);
}

Status write_output_file(const fs::path& file, std::string_view bytes) {
  struct stat info {};
  if (stat(file.c_str(), &info) == 0 && is_stream(info)) return write_stream(file, bytes);
  return write_file(target_of(file), bytes);
}

}  // namespace enginery
