#include "worker/agent/file_transfer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "cache/file_ops.h"
#include "engine/base/file.h"
#include "engine/base/side_hash.h"
#include "worker/runner/runner_output.h"

namespace enginery {
namespace {

namespace fs = std::filesystem;

// Fills `part` from where it ends; whether its bytes are then the blob's.
Result<bool> fill(Client& client, const Digest& digest, const fs::path& part,
                  const TransferProgress& progress) {
  TRY(const Descriptor file, open_file(part, O_RDWR | O_CREAT | O_APPEND, 0600));
  SideHash hash;
  TRY(const uint64_t have, read_chunks(file.get(), part, [&](ByteSpan chunk) {
        hash.update(Bytes(as_text(chunk)));
        return Status();
      }));
  const ChunkSink sink = [&](Bytes chunk) -> Status {
    CHECK_OK(write_all(file.get(), as_bytes(chunk), part));
    hash.update(std::move(chunk));
    return {};
  };
  CHECK_OK(client.get_chunks(digest, have, sink, progress));
  return hash.finish() == digest;
}

Status download(Client& client, const Digest& digest, const fs::path& file,
                const TransferProgress& progress) {
  const fs::path part = file.string() + ".part";
  std::error_code ignored;
  const bool begun = fs::file_size(part, ignored) != 0 && !ignored;
  TRY(bool right, fill(client, digest, part, progress));
  if (!right && begun) {  // what was left of the earlier try may be what is wrong
    fs::remove(part, ignored);
    TRY(right, fill(client, digest, part, progress));
  }
  if (!right) {
    fs::remove(part, ignored);
    return client.wrong_bytes(digest);
  }
  if (chmod(part.c_str(), 0444) != 0 || rename(part.c_str(), file.c_str()) != 0)
    return errno_error("keep " + file.string(), errno);
  return {};
}

}  // namespace

Status download_file(FarmConnection& farm, const Digest& digest, const fs::path& file,
                     const TransferProgress& progress) {
  const Status done =
      farm.call([&](Client& client) { return download(client, digest, file, progress); });
  return done.ok() ? done : Status(done.error().within("download " + digest.text()));
}

Status upload_output(FarmConnection& farm, const fs::path& folder, const NamedBlob& output,
                     const TransferProgress& progress) {
  TRY(const OwnedFd file, open_output(folder, output));
  const ChunkSource source = [&](uint64_t offset, size_t size) {
    return read_at(file.get(), offset, size, folder / output.name);
  };
  return farm.call([&](Client& client) {
    return client.put_chunks(output.digest, output.size_bytes, source, progress);
  });
}

}  // namespace enginery
