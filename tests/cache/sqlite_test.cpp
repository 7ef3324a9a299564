#include "cache/sqlite.h"

#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "cache/folder_lock.h"
#include "tests/cache/support.h"

namespace enginery {
namespace {

using test::TemporaryFolder;

constexpr Migration kOne[] = {{1, "CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT);"}};
constexpr Migration kTwo[] = {kOne[0],
                              {2, "ALTER TABLE t ADD COLUMN c TEXT NOT NULL DEFAULT 'new';"}};
constexpr Migration kBroken[] = {kOne[0], {2, "CREATE TABLE u(a); CREATE TABLE t(a);"}};

int64_t count(Database& database) {
  return VALUE(database.find_integer("SELECT count(*) FROM t")).value_or(-1);
}

TEST(Database, SetsUpItsFileAsPromised) {
  TemporaryFolder folder;
  auto database = VALUE(Database::open(folder.path / "a.db"));
  EXPECT_EQ(VALUE(database->find_integer("PRAGMA page_size")), 8192);
  EXPECT_EQ(VALUE(database->find_integer("PRAGMA synchronous")), 2);  // FULL
  EXPECT_EQ(VALUE(database->find_integer("PRAGMA foreign_keys")), 1);
  EXPECT_EQ(VALUE(database->find_integer("PRAGMA application_id")), 0x656e6769);
  Statement mode = VALUE(database->prepare("PRAGMA journal_mode"));
  EXPECT_TRUE(VALUE(mode.step()));
  EXPECT_EQ(mode.text(0), "wal");
}

TEST(Database, KeepsEveryTypeOfValue) {
  auto database = VALUE(Database::open_in_memory());
  EXPECT_OK(database->script("CREATE TABLE v(a, b, c, d, e, f)"));
  Digest digest = sha256("x");
  std::string zero("a\0b", 3);
  EXPECT_OK(database->execute("INSERT INTO v VALUES(?1, ?2, ?3, ?4, ?5, ?6)", int64_t{-7}, 1.5,
                              zero, digest, as_bytes(std::string_view()),
                              std::optional<std::string>()));
  Statement row = VALUE(database->prepare("SELECT a, b, c, d, e, f FROM v"));
  ASSERT_TRUE(VALUE(row.step()));
  EXPECT_EQ(row.integer(0), -7);
  EXPECT_EQ(row.real(1), 1.5);
  EXPECT_EQ(row.text(2), zero);
  EXPECT_EQ(row.digest(3), digest);
  EXPECT_FALSE(row.is_null(4));
  EXPECT_TRUE(row.blob(4).empty());
  EXPECT_TRUE(row.is_null(5));
  EXPECT_FALSE(VALUE(row.step()));
}

TEST(Database, UpgradesFromAnOlderVersionAndKeepsTheRows) {
  TemporaryFolder folder;
  {
    auto database = VALUE(Database::open(folder.path / "a.db"));
    EXPECT_OK(database->migrate("m", kOne));
    EXPECT_OK(database->execute("INSERT INTO t(a, b) VALUES(1, 'old')"));
  }
  auto database = VALUE(Database::open(folder.path / "a.db"));
  EXPECT_OK(database->migrate("m", kTwo));
  EXPECT_OK(database->migrate("m", kTwo));
  EXPECT_EQ(VALUE(database->find_integer("SELECT count(*) FROM t WHERE b='old' AND c='new'")), 1);
  EXPECT_EQ(VALUE(database->find_integer("SELECT version FROM schema_version WHERE module='m'")),
            2);
}

TEST(Database, RefusesTablesOfANewerProgram) {
  auto database = VALUE(Database::open_in_memory());
  EXPECT_OK(database->migrate("m", kTwo));
  EXPECT_ERROR(ErrorCode::incompatible, database->migrate("m", kOne));
}

TEST(Database, LeavesNothingOfAFailedMigration) {
  auto database = VALUE(Database::open_in_memory());
  EXPECT_OK(database->migrate("m", kOne));
  EXPECT_FALSE(database->migrate("m", kBroken).ok());
  EXPECT_EQ(VALUE(database->find_integer("SELECT count(*) FROM sqlite_master WHERE name='u'")), 0);
  EXPECT_EQ(VALUE(database->find_integer("SELECT version FROM schema_version WHERE module='m'")),
            1);
}

TEST(Database, GivesEachModuleItsOwnHistory) {
  constexpr Migration kOther[] = {{1, "CREATE TABLE other(a);"}};
  auto database = VALUE(Database::open_in_memory());
  EXPECT_OK(database->migrate("m", kTwo));
  EXPECT_OK(database->migrate("n", kOther));
  EXPECT_EQ(VALUE(database->find_integer("SELECT version FROM schema_version WHERE module='n'")),
            1);
}

TEST(Database, RefusesAForeignOrDamagedFile) {
  TemporaryFolder folder;
  std::ofstream(folder.path / "text.db") << std::string(10000, 'x');
  EXPECT_ERROR(ErrorCode::corrupt_data, Database::open(folder.path / "text.db"));
  {
    auto database = VALUE(Database::open(folder.path / "other.db"));
    EXPECT_OK(database->script("PRAGMA application_id=77; CREATE TABLE t(a);"));
  }
  EXPECT_ERROR(ErrorCode::corrupt_data, Database::open(folder.path / "other.db"));
  {
    auto database = VALUE(Database::open(folder.path / "newer.db"));
    EXPECT_OK(database->script("PRAGMA user_version=9;"));
  }
  EXPECT_ERROR(ErrorCode::incompatible, Database::open(folder.path / "newer.db"));
}

TEST(Database, FindsADamagedPageAtOpen) {
  TemporaryFolder folder;
  std::filesystem::path file = folder.path / "a.db";
  {
    auto database = VALUE(Database::open(file));
    EXPECT_OK(database->migrate("m", kOne));
    Transaction transaction = VALUE(Transaction::begin(*database));
    for (int i = 0; i < 2000; ++i)
      EXPECT_OK(database->execute("INSERT INTO t(a, b) VALUES(?1, ?2)", i, std::string(50, 'b')));
    EXPECT_OK(transaction.commit());
  }
  for (int at = 0; at < 8; ++at)
    test::flip_byte(file, 3 * 8192 + at);  // the header of a page of the table
  EXPECT_ERROR(ErrorCode::corrupt_data, Database::open(file));
}

TEST(Database, ReportsTheOtherWriterWithinItsPatience) {
  TemporaryFolder folder;
  DatabaseOptions impatient;
  impatient.busy_timeout = std::chrono::milliseconds(100);
  auto a = VALUE(Database::open(folder.path / "a.db"));
  EXPECT_OK(a->migrate("m", kOne));
  auto b = VALUE(Database::open(folder.path / "a.db", impatient));
  Transaction transaction = VALUE(Transaction::begin(*a));
  EXPECT_ERROR(ErrorCode::storage, b->execute("INSERT INTO t(a) VALUES(1)"));
  EXPECT_EQ(count(*b), 0);  // readers never wait
  EXPECT_OK(transaction.commit());
  EXPECT_OK(b->execute("INSERT INTO t(a) VALUES(1)"));
}

TEST(Database, WaitsForTheDiskAtEveryCommit) {
  constexpr int kFull = 2;
  TemporaryFolder folder;
  const auto database = VALUE(Database::open(folder.path / "a.db"));
  EXPECT_EQ(VALUE(database->find_integer("PRAGMA synchronous")), kFull);
}

TEST(Transaction, RollsBackWhenItDiesUncommitted) {
  auto database = VALUE(Database::open_in_memory());
  EXPECT_OK(database->migrate("m", kOne));
  {
    Transaction transaction = VALUE(Transaction::begin(*database));
    EXPECT_OK(database->execute("INSERT INTO t(a) VALUES(1)"));
  }
  EXPECT_EQ(count(*database), 0);
}

TEST(Transaction, NestsAsASavepoint) {
  auto database = VALUE(Database::open_in_memory());
  EXPECT_OK(database->migrate("m", kOne));
  Transaction outer = VALUE(Transaction::begin(*database));
  EXPECT_OK(database->execute("INSERT INTO t(a) VALUES(1)"));
  {
    Transaction dropped = VALUE(Transaction::begin(*database));
    EXPECT_OK(database->execute("INSERT INTO t(a) VALUES(2)"));
  }
  {
    Transaction kept = VALUE(Transaction::begin(*database));
    EXPECT_OK(database->execute("INSERT INTO t(a) VALUES(3)"));
    EXPECT_OK(kept.commit());
  }
  EXPECT_EQ(count(*database), 2);
  EXPECT_OK(outer.commit());
  EXPECT_EQ(VALUE(database->find_integer("SELECT sum(a) FROM t")), 4);
}

TEST(Transaction, TakesBackWhatAnInnerOneCommittedWhenTheOuterDies) {
  auto database = VALUE(Database::open_in_memory());
  EXPECT_OK(database->migrate("m", kOne));
  {
    Transaction outer = VALUE(Transaction::begin(*database));
    Transaction inner = VALUE(Transaction::begin(*database));
    EXPECT_OK(database->execute("INSERT INTO t(a) VALUES(1)"));
    EXPECT_OK(inner.commit());
  }
  EXPECT_EQ(count(*database), 0);
}

// SQLite gives up a whole transaction by itself (a full disk; here a conflict clause): what follows
// must not be committed on its own.
TEST(Transaction, RefusesToGoOnAfterItWasLost) {
  auto database = VALUE(Database::open_in_memory());
  EXPECT_OK(database->migrate("m", kOne));
  {
    Transaction transaction = VALUE(Transaction::begin(*database));
    EXPECT_OK(database->execute("INSERT INTO t(a) VALUES(1)"));
    EXPECT_FALSE(database->execute("INSERT OR ROLLBACK INTO t(a) VALUES(1)").ok());
    EXPECT_ERROR(ErrorCode::storage, database->execute("INSERT INTO t(a) VALUES(2)"));
    EXPECT_ERROR(ErrorCode::storage, database->script("INSERT INTO t(a) VALUES(3)"));
    EXPECT_ERROR(ErrorCode::storage, transaction.commit());
  }
  EXPECT_EQ(count(*database), 0);
  EXPECT_OK(database->execute("INSERT INTO t(a) VALUES(4)"));
}

TEST(Database, LetsThreadsTakeTurns) {
  TemporaryFolder folder;
  DatabaseOptions options;
  options.durable = false;
  auto database = VALUE(Database::open(folder.path / "a.db", options));
  EXPECT_OK(database->migrate("m", kOne));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        Transaction transaction = VALUE(Transaction::begin(*database));
        int64_t before = count(*database);
        EXPECT_OK(database->execute("INSERT INTO t(a) VALUES(?1)", t * 1000 + i));
        EXPECT_EQ(count(*database), before + 1);  // nobody comes between
        EXPECT_OK(transaction.commit());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(count(*database), 200);
}

TEST(FolderLock, NamesTheHolderToTheSecond) {
  TemporaryFolder folder;
  {
    FolderLock first = VALUE(FolderLock::acquire(folder.path, "coordinator"));
    auto second = FolderLock::acquire(folder.path, "coordinator", std::chrono::milliseconds(20));
    ASSERT_FALSE(second.ok());
    EXPECT_EQ(second.error().code, ErrorCode::storage);
    EXPECT_NE(second.error().message.find("process " + std::to_string(getpid())),
              std::string::npos);
    EXPECT_OK(FolderLock::acquire(folder.path, "other"));
  }
  EXPECT_OK(FolderLock::acquire(folder.path, "coordinator"));
}

TEST(FolderLock, SaysWhichFolderIsMissing) {
  EXPECT_ERROR(ErrorCode::storage, FolderLock::acquire("/nonexistent/folder", "x"));
}

}  // namespace
}  // namespace enginery
