#include "worker/runner/runner_output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "engine/base/file.h"
#include "engine/base/huge_pages.h"
#include "pipeline/result.h"

namespace enginery {
namespace {

Error refused(const NamedBlob& output, const std::string& why) {
  return {ErrorCode::internal, "the runner's output '" + output.name.substr(0, 100) + "' " + why};
}

Error changed(const NamedBlob& output, const std::string& how) {
  return {ErrorCode::corrupt_data,
          "the output '" + output.name + "' changed on this worker's disk" + how};
}

// A link or a pipe in the file's place is not followed and not waited for.
Result<OwnedFd> open_plain(const std::filesystem::path& folder, const NamedBlob& output) {
  OwnedFd at(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (at.get() < 0) return errno_error("open " + folder.string(), errno);
  OwnedFd file(
      openat(at.get(), output.name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (file.get() >= 0) return file;
  if (errno == ELOOP) return refused(output, "is a link");
  if (errno == ENOENT) return refused(output, "is not there");
  return errno_error("open the runner's output " + (folder / output.name).string(), errno);
}

Status check_file(int file, const NamedBlob& output) {
  struct stat info {};
  if (fstat(file, &info) != 0) return errno_error("stat a runner's output", errno);
  if (!S_ISREG(info.st_mode)) return refused(output, "is no regular file");
  if (info.st_nlink != 1) return refused(output, "has another name elsewhere");
  if (static_cast<uint64_t>(info.st_size) != output.size_bytes)
    return changed(output, ": it has " + std::to_string(info.st_size) + " bytes, not the " +
                               std::to_string(output.size_bytes) + " that were reported");
  return {};
}

}  // namespace

Result<OwnedFd> open_output(const std::filesystem::path& folder, const NamedBlob& output) {
  if (!is_output_name(output.name)) return refused(output, "has a bad name");
  if (output.size_bytes > kMaxOutputBytes) return refused(output, "is too large");
  TRY(OwnedFd file, open_plain(folder, output));
  CHECK_OK(check_file(file.get(), output));
  return file;
}

Result<Bytes> read_output(const std::filesystem::path& folder, const NamedBlob& output) {
  TRY(const OwnedFd file, open_output(folder, output));
  Bytes bytes;
  bytes.reserve(output.size_bytes);
  prefer_huge_pages(bytes.data(), output.size_bytes);  // before resize() touches the pages
  bytes.resize(output.size_bytes);
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t n = read(file.get(), bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno_error("read the runner's output " + output.name, errno);
    if (n == 0) return changed(output, " while it was read");
    done += static_cast<size_t>(n);
  }
  if (sha256(bytes) != output.digest) return changed(output, "");
  return bytes;
}

}  // namespace enginery
