// The blob store of one machine: small blobs in SQLite, large ones as read-only files
// sha256/ab/cdef....
//
// A write reserves its space, goes to a temporary file of the same filesystem, is hashed and
// fsynced, renamed without replacing, and only then gets its row. A crash leaves at most a file
// without a row (complete, taken up by the next put of it) or a temporary, which a later open
// removes once its writer is gone.
#pragma once

#include <bitset>
#include <filesystem>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "cache/blob_store.h"
#include "cache/file_ops.h"
#include "cache/sqlite.h"
#include "engine/base/clock.h"

namespace enginery {

inline constexpr uint64_t kInlineBlobBytes = 100 * 1000;  // below this a blob lives in SQLite

// Where a stored blob's content is; a part is the beginning of another blob's file.
enum class BlobPlace : int { database = 0, file = 1, part = 2 };

struct LocalBlob {
  BlobInfo info;
  BlobPlace place = BlobPlace::database;
  Digest file = {};         // whose file holds its bytes, unless they are in the database
  uint64_t file_bytes = 0;  // of that file
};

class LocalBlobStore final : public BlobStore {
  struct Opened {
    explicit Opened() = default;
  };

 public:
  // `database` has the catalog's schema. It, `clock` and `durability` outlive the store. Makes the
  // folders, removes stale temporaries. A new store marks sha256/ with a file; without that mark
  // the folder counts as away (a volume that is not mounted), and then no blob is taken for lost.
  // storage: the folder is read-only or full.
  static Result<std::unique_ptr<LocalBlobStore>> open(const std::filesystem::path& folder,
                                                      Database& database, const Clock& clock,
                                                      Durability& durability);

  // The store of a folder that another one of this process has opened, over its own connection.
  static std::unique_ptr<LocalBlobStore> over(const std::filesystem::path& folder,
                                              Database& database, const Clock& clock,
                                              Durability& durability);

  Result<Digest> put(ByteSpan bytes) override;
  Result<Bytes> get(const Digest& digest) override;
  Result<Bytes> read_range(const Digest& digest, uint64_t offset, uint64_t size) override;
  Result<uint64_t> size(const Digest& digest) override;
  Status remove(const Digest& digest) override;
  Result<std::vector<BlobInfo>> list() override;

  // Takes over a complete file of the same filesystem (it disappears from where it was). With the
  // hash that its bytes had when they were written the file is not read again. corrupt_data when
  // its hash is not `expected`; the file then stays.
  Status adopt(const std::filesystem::path& file, const Digest& expected,
               const std::optional<Digest>& written = std::nullopt);

  // Keeps `part` as the beginning of `whole`, so that its own file can go: an engine's content and
  // its unsigned form are beginnings of the engine. False when it is none, or when one of the two
  // has no file of its own. storage.
  Result<bool> share(const Digest& part, const Digest& whole);

  // read_range for a receiver that hashes the whole itself: the content of a file is not checked.
  Result<Bytes> read_unchecked(const Digest& digest, uint64_t offset, uint64_t size);

  // For verify: every row, every file that has no row, and whether a blob's content hashes to its
  // name (nothing is set aside). not_found and corrupt_data as get.
  Result<std::vector<LocalBlob>> rows();
  Result<std::vector<std::filesystem::path>> orphans();
  Result<uint64_t> rehash(const Digest& digest);  // the number of bytes hashed

  // Gives an orphan whose content is right its row, and sets aside one whose content is wrong.
  Status take_up(const std::filesystem::path& orphan);

  // ok when sha256/ has its mark; storage otherwise, with what to do about it.
  Status check_folder() const;
  // For `verify --repair`: marks sha256/ as it is, so that what it lacks counts as lost.
  Status accept_folder() const;

  // Moves a damaged blob to quarantine/ (or drops its bytes from SQLite) and forgets its row.
  Status set_aside(const Digest& digest);

  // Drops evidence of 30 days and more, and all but the newest 1000 files of it.
  void prune_quarantine();

  std::filesystem::path path_of(const Digest& digest) const;
  const std::filesystem::path& folder() const { return folder_; }
  const Clock& clock() const { return clock_; }

  // For open(), which alone can make the key.
  LocalBlobStore(Opened, std::filesystem::path folder, Database& database, const Clock& clock,
                 Durability& durability)
      : folder_(std::move(folder)), database_(database), clock_(clock), durability_(durability) {}

 private:
  // What a file looked like when its content was last known to be right.
  struct Seen {
    uint64_t inode = 0, size_bytes = 0;
    int64_t modified_ns = 0, changed_ns = 0;
    bool operator==(const Seen&) const = default;
  };

  static Error missing(const Digest& digest, const std::string& why);
  static Error damaged(const Digest& digest, const std::string& why);
  Result<LocalBlob> find(const Digest& digest);
  Result<Descriptor> open_content(LocalBlob& blob);
  Status mark_known_folder();
  // What it means that the blob's file is not there.
  Error absent(const Digest& digest) const;
  Result<bool> intact(const Digest& digest);
  Status delete_rows(const Digest& digest);
  Status put_inline(const Digest& digest, ByteSpan bytes);
  Status publish(const std::filesystem::path& file, int fd, const Digest& digest,
                 uint64_t size_bytes);
  Status provide_folder_of(const Digest& digest);
  Status move_in(const std::filesystem::path& file, const Digest& digest);
  Status add_row(const Digest& digest, uint64_t size_bytes, BlobPlace place);
  Result<Bytes> inline_bytes(const Digest& digest);
  Result<Bytes> checked_inline(const Digest& digest);
  Result<Bytes> checked_file(LocalBlob blob);
  Result<Bytes> read_content(const LocalBlob& blob, int fd, uint64_t offset, uint64_t size) const;
  Status check_file(const LocalBlob& blob, int fd);
  Status move_to_quarantine(const std::filesystem::path& file);
  Error set_aside_as(const Digest& digest, const std::string& why);
  static Result<Seen> look_at(int fd, const std::filesystem::path& file);
  bool seen_right(const Digest& digest, const Seen& seen);
  void remember(const Digest& digest, const Seen& seen);
  void forget(const Digest& digest);

  std::filesystem::path folder_;
  Database& database_;
  const Clock& clock_;
  Durability& durability_;
  std::mutex mutex_;  // guards what follows
  std::unordered_map<Digest, Seen> seen_;
  std::bitset<256> durable_folders_;  // sha256/ab that sha256/ was synced with
};

}  // namespace enginery
