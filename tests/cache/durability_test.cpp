// What is on the disk before what: a power cut loses whatever was not synced, and killing a process
// does not show it. Every system call that durability rests on is recorded here.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>

#include "cache/blob_writer.h"
#include "cache/file_ops.h"
#include "tests/cache/support.h"

namespace enginery {
namespace {

namespace fs = std::filesystem;
using test::pattern;
using Calls = std::vector<std::string>;

// Notes each call as "sync tmp" or "rename tmp -> sha256/ab", by the folder below the catalog's,
// and fails those that it is told to fail.
class Recorder final : public Durability {
 public:
  explicit Recorder(fs::path root) : root_(std::move(root)) {}

  int sync(int fd) override {
    struct stat info {};
    EXPECT_EQ(fstat(fd, &info), 0);
    const fs::path path = fs::read_symlink("/proc/self/fd/" + std::to_string(fd));
    const bool folder = S_ISDIR(info.st_mode);
    note(folder ? "sync folder " + below(path) : "sync file in " + below(path.parent_path()));
    if (!folder) synced_bytes = static_cast<uint64_t>(info.st_size);
    if (calls.back() == fail) {
      errno = EIO;
      return -1;
    }
    return system_.sync(fd);
  }

  int rename(const fs::path& from, const fs::path& to) override {
    note("rename into " + below(to.parent_path()));
    return system_.rename(from, to);
  }

  Calls calls;
  std::string fail;                // this call fails with EIO
  uint64_t synced_bytes = 0;       // the size that the last synced file had
  std::function<bool()> is_known;  // has the blob its row?
  bool known_early = false;        // it had one at a call already

 private:
  std::string below(const fs::path& path) const { return fs::relative(path, root_).string(); }
  void note(std::string call) {
    calls.push_back(std::move(call));
    if (is_known && is_known()) known_early = true;
  }

  fs::path root_;
  SystemDurability system_;
};

class DurabilityTest : public testing::Test {
 protected:
  static constexpr size_t kSize = 200'000;

  DurabilityTest() {
    CatalogOptions options = test::quick();
    options.durability = &recorder_;
    catalog_ = VALUE(Catalog::open(folder_.path, options));
    EXPECT_EQ(recorder_.calls,
              (Calls{"sync file in sha256", "sync folder sha256", "sync folder ."}));  // the mark
    recorder_.calls.clear();
    recorder_.is_known = [this] {
      return catalog_->database()
          .find_integer("SELECT 1 FROM blob WHERE digest=?1", digest_)
          ->has_value();
    };
  }
  BlobStore& blobs() { return catalog_->blobs(); }

  test::TemporaryFolder folder_;
  Recorder recorder_{fs::canonical(folder_.path)};
  std::unique_ptr<Catalog> catalog_;
  Bytes bytes_ = pattern(kSize, 1);
  Digest digest_ = sha256(bytes_);
  std::string shard_ = "sha256/" + digest_.hex().substr(0, 2);
};

TEST_F(DurabilityTest, ABlobIsSyncedThenNamedThenItsFolderIsSyncedThenItHasItsRow) {
  EXPECT_OK(blobs().put(as_bytes(bytes_)));
  EXPECT_EQ(recorder_.calls, (Calls{"sync file in tmp", "sync folder sha256",
                                    "rename into " + shard_, "sync folder " + shard_}));
  EXPECT_EQ(recorder_.synced_bytes, kSize);  // whole when it was synced
  EXPECT_FALSE(recorder_.known_early);
  EXPECT_TRUE(recorder_.is_known());
}

TEST_F(DurabilityTest, AnUploadIsSyncedBeforeItIsABlob) {
  const auto writer = VALUE(BlobWriter::open(*catalog_->local_blobs()));
  EXPECT_OK(writer->append(digest_, 0, bytes_));
  EXPECT_OK(writer->finish(digest_));
  EXPECT_EQ(recorder_.calls, (Calls{"sync file in partial", "sync folder sha256",
                                    "rename into " + shard_, "sync folder " + shard_}));
  EXPECT_EQ(recorder_.synced_bytes, kSize);
  EXPECT_FALSE(recorder_.known_early);
}

TEST_F(DurabilityTest, AFileThatACrashLeftIsSyncedByItsFolderBeforeItHasItsRow) {
  EXPECT_OK(blobs().put(as_bytes(bytes_)));
  EXPECT_OK(catalog_->database().execute("DELETE FROM blob"));
  recorder_.calls.clear();
  EXPECT_OK(blobs().put(as_bytes(bytes_)));
  EXPECT_EQ(recorder_.calls,
            (Calls{"sync file in tmp", "rename into " + shard_, "sync folder " + shard_}));
  EXPECT_FALSE(recorder_.known_early);
}

// Another process made the blob's folder and may have died before it synced the one above.
TEST_F(DurabilityTest, AFolderThatIsThereIsSyncedOnce) {
  fs::create_directory(folder_.path / shard_);
  EXPECT_OK(blobs().put(as_bytes(bytes_)));
  EXPECT_EQ(recorder_.calls[1], "sync folder sha256");
  EXPECT_OK(blobs().remove(digest_));
  recorder_.calls.clear();
  EXPECT_OK(blobs().put(as_bytes(bytes_)));
  EXPECT_EQ(recorder_.calls,
            (Calls{"sync file in tmp", "rename into " + shard_, "sync folder " + shard_}));
}

TEST_F(DurabilityTest, ASmallBlobIsTheDatabasesBusiness) {
  EXPECT_OK(blobs().put(as_bytes(pattern(100, 2))));
  EXPECT_EQ(recorder_.calls, Calls{});
}

TEST_F(DurabilityTest, WhatCannotBeSyncedIsNoBlob) {
  for (const std::string& call : Calls{"sync file in tmp", "sync folder " + shard_}) {
    recorder_.fail = call;
    EXPECT_ERROR(ErrorCode::storage, blobs().put(as_bytes(bytes_)));
    EXPECT_FALSE(recorder_.is_known()) << call;
    EXPECT_TRUE(fs::is_empty(folder_.path / "tmp")) << call;
  }
  recorder_.fail.clear();
  EXPECT_OK(blobs().put(as_bytes(bytes_)));
  EXPECT_EQ(VALUE(blobs().get(digest_)), bytes_);
}

TEST(SystemDurability, AsksTheSystem) {
  test::TemporaryFolder folder;
  SystemDurability system;
  EXPECT_EQ(system.sync(-1), -1);
  EXPECT_EQ(errno, EBADF);
  std::ofstream(folder.path / "a") << "a";
  std::ofstream(folder.path / "b") << "b";
  EXPECT_EQ(system.rename(folder.path / "a", folder.path / "b"), -1);
  EXPECT_EQ(errno, EEXIST);
  EXPECT_EQ(system.rename(folder.path / "a", folder.path / "c"), 0);
  EXPECT_FALSE(fs::exists(folder.path / "a"));
  EXPECT_TRUE(fs::exists(folder.path / "c"));
}

}  // namespace
}  // namespace enginery
