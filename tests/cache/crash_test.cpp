// Death, full disks and neighbours: the catalog stays clean whatever happens to its process.
#include <poll.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <random>
#include <thread>

#include "cache/verify.h"
#include "engine/base/file.h"
#include "tests/cache/support.h"

namespace enginery {
namespace {

namespace fs = std::filesystem;
using test::key_of;
using test::pattern;
using test::result_of;
using test::TemporaryFolder;

CatalogOptions durable() {
  CatalogOptions options;
  options.database.quick_check = true;
  return options;
}

// Stores a large and a small blob and commits them as the result of action `number`.
Status commit_one(Catalog& catalog, int number) {
  ActionKey key = key_of(number);
  TRY(Digest large, catalog.blobs().put(as_bytes(pattern(120'000 + number, number))));
  TRY(Digest small, catalog.blobs().put(as_bytes(pattern(500, number))));
  TRY(Commit done,
      catalog.results().commit(key, result_of(key, {{"engine", large}, {"log", small}})));
  (void)done;
  return {};
}

// Runs `body` in a child; its return value is the exit code.
template <typename Body>
pid_t in_child(Body body) {
  pid_t child = fork();
  if (child == 0) _exit(body());
  return child;
}

int wait_for(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

void expect_clean(Catalog& catalog) {
  VerifyReport report = VALUE(verify(catalog));
  for (const VerifyProblem& problem : report.problems) {
    ADD_FAILURE() << problem.kind << " " << problem.subject << ": " << problem.detail;
  }
}

// R1's part of the catalog: what was acknowledged is there after kill -9, once, and nothing is
// half-written.
TEST(Crash, KillInTheMiddleOfWritesLosesNothingThatWasAcknowledged) {
  constexpr uint64_t kSeed = 99;
  std::mt19937_64 random(kSeed);
  TemporaryFolder folder;
  int acknowledged = 0;
  for (int round = 0; round < 20; ++round) {
    int pipes[2];
    ASSERT_EQ(pipe(pipes), 0);
    pid_t child = in_child([&] {
      auto catalog = Catalog::open(folder.path, durable());
      if (!catalog.ok()) return 2;
      for (int number = acknowledged;; ++number) {
        if (!commit_one(**catalog, number).ok()) return 3;
        if (write(pipes[1], &number, sizeof number) != sizeof number) return 4;
      }
    });
    close(pipes[1]);
    // Every other child lives until it has acknowledged something, however slow the machine is.
    pollfd first{pipes[0], POLLIN, 0};
    if (round % 2) poll(&first, 1, 60'000);
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 80'000));
    kill(child, SIGKILL);
    int status = wait_for(child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "round " << round << " exit " << WEXITSTATUS(status);
    int number = 0;
    while (read(pipes[0], &number, sizeof number) == sizeof number) acknowledged = number + 1;
    close(pipes[0]);
    auto catalog = VALUE(Catalog::open(folder.path, durable()));
    for (int i = 0; i < acknowledged; ++i) {
      ASSERT_TRUE(VALUE(catalog->results().lookup(key_of(i).digest())))
          << "seed " << kSeed << " round " << round;
      ASSERT_EQ(VALUE(catalog->results().commits(key_of(i).digest(), 1)), 1);
    }
    expect_clean(*catalog);
  }
  EXPECT_GT(acknowledged, 0);
}

TEST(Crash, TwoProcessesWriteTheSameFolderAtOnce) {
  constexpr int kResults = 30;
  TemporaryFolder folder;
  std::vector<pid_t> children;
  for (int offset : {0, 10, 20}) {  // they overlap: the same blobs and keys at the same time
    children.push_back(in_child([&] {
      auto catalog = Catalog::open(folder.path, durable());
      if (!catalog.ok()) return 2;
      for (int i = 0; i < kResults; ++i) {
        if (!commit_one(**catalog, offset + i).ok()) return 3;
      }
      return 0;
    }));
  }
  for (pid_t child : children) EXPECT_EQ(wait_for(child), 0);
  auto catalog = VALUE(Catalog::open(folder.path, durable()));
  expect_clean(*catalog);
  VerifyReport report = VALUE(verify(*catalog));
  EXPECT_EQ(report.results, kResults + 20);
  EXPECT_EQ(report.blobs, 2 * (kResults + 20));
  for (int i = 0; i < kResults + 20; ++i)
    EXPECT_EQ(VALUE(catalog->results().commits(key_of(i).digest(), 1)), 1);
}

TEST(Crash, ManyProcessesMakeTheCatalogAtOnce) {
  for (int round = 0; round < 5; ++round) {
    TemporaryFolder folder;
    int gate[2];
    ASSERT_EQ(pipe(gate), 0);
    std::vector<pid_t> children;
    for (int i = 0; i < 6; ++i) {
      children.push_back(in_child([&] {
        close(gate[1]);
        char byte;
        (void)!read(gate[0], &byte,
                    1);  // returns when the parent closes its end: all start together
        auto catalog = Catalog::open(folder.path, durable());
        if (!catalog.ok()) return fprintf(stderr, "%s\n", catalog.error().message.c_str()), 2;
        return commit_one(**catalog, i).ok() ? 0 : 3;
      }));
    }
    close(gate[1]);
    for (pid_t child : children) EXPECT_EQ(wait_for(child), 0);
    close(gate[0]);
    auto catalog = VALUE(Catalog::open(folder.path, durable()));
    expect_clean(*catalog);
    EXPECT_EQ(VALUE(catalog->database().find_integer("PRAGMA page_size")), 8192);
  }
}

// R12 for the database: a power cut after any prefix of the log leaves a catalog that opens clean.
TEST(Crash, EveryPrefixOfTheWriteAheadLogOpensClean) {
  TemporaryFolder folder, copies;
  auto catalog = VALUE(Catalog::open(folder.path, test::quick()));
  EXPECT_OK(
      catalog->database().script("PRAGMA wal_autocheckpoint=0; PRAGMA wal_checkpoint(TRUNCATE);"));
  for (int i = 0; i < 10; ++i) {
    ActionKey key = key_of(i);
    Digest blob = VALUE(catalog->blobs().put(as_bytes(pattern(3000, i))));
    EXPECT_OK(catalog->results().commit(key, result_of(key, {{"engine", blob}})));
  }
  Bytes log = VALUE(read_file(folder.path / "catalog.db-wal")),
        main = VALUE(read_file(folder.path / "catalog.db"));
  ASSERT_GT(log.size(), 100'000u);
  int64_t last = 0;
  for (size_t size = 0; size <= log.size();
       size += std::min<size_t>(log.size() / 40, std::max<size_t>(1, log.size() - size))) {
    fs::path copy = copies.path / std::to_string(size);
    fs::create_directory(copy);
    EXPECT_OK(write_file(copy / "catalog.db", main));
    EXPECT_OK(write_file(copy / "catalog.db-wal", log.substr(0, size)));
    CatalogOptions options = test::quick();
    options.database.quick_check = true;
    auto opened = VALUE(Catalog::open(copy, options));
    expect_clean(*opened);
    int64_t results = VALUE(verify(*opened)).results;
    EXPECT_GE(results, last) << "prefix of " << size;
    last = results;
    fs::remove_all(copy);
  }
  EXPECT_EQ(last, 10);
}

TEST(FullDisk, AFileSizeLimitIsAStorageErrorThatPasses) {
  TemporaryFolder folder;
  pid_t child = in_child([&] {
    signal(SIGXFSZ, SIG_IGN);
    auto catalog = Catalog::open(folder.path, durable());
    if (!catalog.ok()) return 2;
    rlimit before{}, small{};
    getrlimit(RLIMIT_FSIZE, &before);
    small = before;
    small.rlim_cur = 1 << 20;
    setrlimit(RLIMIT_FSIZE, &small);
    auto refused = (*catalog)->blobs().put(as_bytes(pattern(3 << 20, 1)));
    if (refused.ok() || refused.error().code != ErrorCode::storage) return 3;
    setrlimit(RLIMIT_FSIZE, &before);
    return (*catalog)->blobs().put(as_bytes(pattern(3 << 20, 1))).ok() ? 0 : 4;
  });
  EXPECT_EQ(wait_for(child), 0);
  auto catalog = VALUE(Catalog::open(folder.path, durable()));
  expect_clean(*catalog);
  EXPECT_TRUE(fs::is_empty(folder.path / "tmp"));
}

// A small tmpfs for the length of a test; not mounted without the right to.
struct SmallDisk {
  TemporaryFolder folder;
  bool mounted = mount("tmpfs", folder.path.c_str(), "tmpfs", 0, "size=6m") == 0;
  ~SmallDisk() {
    if (mounted) umount2(folder.path.c_str(), MNT_DETACH);
  }
};

// R11: a typed error, nothing corrupted, works again without a restart.
TEST(FullDisk, RefusesTypedKeepsWhatItHasAndRecovers) {
  SmallDisk disk;
  if (!disk.mounted) GTEST_SKIP() << "needs the right to mount a tmpfs";
  auto catalog = VALUE(Catalog::open(disk.folder.path / "data", durable()));
  int stored = 0;
  Status status;
  while (status.ok() && stored < 1000) {
    status = commit_one(*catalog, stored);
    if (status.ok()) ++stored;
  }
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(to_string(status.error().code), std::string("storage")) << status.error().message;
  // Blobs in the database hit the wall as well.
  for (int i = 0; status.error().code == ErrorCode::storage && i < 200; ++i) {
    auto small = catalog->blobs().put(as_bytes(pattern(90'000, 5000 + i)));
    if (!small.ok()) {
      EXPECT_EQ(to_string(small.error().code), std::string("storage")) << small.error().message;
      break;
    }
  }
  EXPECT_TRUE(fs::is_empty(disk.folder.path / "data/tmp"));
  expect_clean(*catalog);
  for (int i = 0; i < 4; ++i)
    fs::remove(catalog->local_blobs()->path_of(sha256(pattern(120'000 + i, i))));
  for (int i = 0; i < 4; ++i) EXPECT_FALSE(VALUE(catalog->results().lookup(key_of(i).digest())));
  EXPECT_OK(commit_one(*catalog, 2000));
  for (int i = 4; i < stored; ++i)
    EXPECT_TRUE(VALUE(catalog->results().lookup(key_of(i).digest()))) << i;
  VerifyOptions repair;
  repair.repair = true;
  // And, where the disk was full between a file and its row, the file.
  const int64_t orphans = VALUE(verify(*catalog)).orphans;
  EXPECT_EQ(VALUE(verify(*catalog, repair)).repaired, 4 + orphans);
  expect_clean(*catalog);
}

TEST(FullDisk, OpeningOnAFullOrReadOnlyDiskIsOneStorageErrorWithinSeconds) {
  SmallDisk disk;
  if (!disk.mounted) GTEST_SKIP() << "needs the right to mount a tmpfs";
  fs::create_directory(disk.folder.path / "data");
  fs::create_directory(disk.folder.path / "good");
  EXPECT_OK(Catalog::open(disk.folder.path / "good", durable()));
  {
    std::ofstream filler(disk.folder.path / "filler");
    while (filler << Bytes(65536, 'x') << std::flush) {
    }
  }
  auto started = std::chrono::steady_clock::now();
  EXPECT_ERROR(ErrorCode::storage, Catalog::open(disk.folder.path / "data", durable()));
  fs::remove(disk.folder.path / "filler");
  ASSERT_EQ(mount(nullptr, disk.folder.path.c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr), 0);
  for (const char* name : {"data", "good", "new"}) {
    EXPECT_ERROR(ErrorCode::storage, Catalog::open(disk.folder.path / name, durable()));
  }
  EXPECT_LT(std::chrono::steady_clock::now() - started, std::chrono::seconds(20));
}

TEST(LockedCatalog, IsAStorageErrorThatEndsTheWait) {
  TemporaryFolder folder;
  auto holder = VALUE(Catalog::open(folder.path, test::quick()));
  CatalogOptions impatient = test::quick();
  impatient.database.busy_timeout = std::chrono::milliseconds(100);
  auto other = VALUE(Catalog::open(folder.path, impatient));
  Transaction transaction = VALUE(Transaction::begin(holder->database()));
  EXPECT_ERROR(ErrorCode::storage, commit_one(*other, 1));
  auto reader = VALUE(Catalog::open(folder.path, impatient));  // who only reads is not held up
  EXPECT_FALSE(VALUE(reader->results().lookup(key_of(1).digest())));
}

TEST(LockedCatalog, AFileInTheWayIsAStorageError) {
  TemporaryFolder folder;
  std::ofstream(folder.path / "file") << "x";
  EXPECT_ERROR(ErrorCode::storage, Catalog::open(folder.path / "file", durable()));
  EXPECT_ERROR(ErrorCode::storage, Catalog::open(folder.path / "file/below", durable()));
}

}  // namespace
}  // namespace enginery
