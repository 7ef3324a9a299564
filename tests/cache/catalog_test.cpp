// Opening a catalog: what is made, who may share it, and which folders are refused.
#include "cache/catalog.h"

#include <fstream>

#include "cache/memory_blob_store.h"
#include "tests/cache/support.h"

namespace enginery {
namespace {

namespace fs = std::filesystem;
using test::key_of;
using test::result_of;

TEST(Catalog, MakesItsFolderWithEverythingInIt) {
  const test::TemporaryFolder folder;
  const fs::path place = folder.path / "deep" / "catalog";
  const auto catalog = test::open_catalog(place);
  ASSERT_NE(catalog, nullptr);
  EXPECT_EQ(catalog->folder(), place);
  for (const char* name : {"catalog.db", "sha256", "tmp", "quarantine"})
    EXPECT_TRUE(fs::exists(place / name)) << name;
}

TEST(Catalog, KeepsWhatIsStoredWhenItIsOpenedAgain) {
  const test::TemporaryFolder folder;
  const ActionKey key = key_of(1);
  {
    const auto catalog = test::open_catalog(folder.path);
    const Digest blob = VALUE(catalog->blobs().put(as_bytes("engine")));
    EXPECT_OK(catalog->results().commit(key, result_of(key, {{"engine", blob}})));
    EXPECT_OK(catalog->events().append({0, "j1", 1, "done", "{}"}));
  }
  const auto catalog = test::open_catalog(folder.path);
  ASSERT_TRUE(VALUE(catalog->results().lookup(key.digest())));
  EXPECT_EQ(VALUE(catalog->events().list("j1", 0, 10)).size(), 1u);
}

TEST(Catalog, TwoOpeningsOfAFolderSeeEachOthersResults) {
  const test::TemporaryFolder folder;
  const auto one = test::open_catalog(folder.path), two = test::open_catalog(folder.path);
  const ActionKey key = key_of(1);
  EXPECT_EQ(VALUE(one->results().commit(key, result_of(key, {}))), Commit::committed);
  EXPECT_EQ(VALUE(two->results().commit(key, result_of(key, {}))), Commit::already_there);
  EXPECT_EQ(VALUE(two->results().commits(key.digest(), 1)), 1);
}

TEST(Catalog, DatesComeFromItsClock) {
  const test::TemporaryFolder folder;
  test::FakeClock clock;
  const auto catalog = test::open_catalog(folder.path, &clock);
  const ActionKey key = key_of(1);
  EXPECT_OK(catalog->results().commit(key, result_of(key, {})));
  EXPECT_EQ(VALUE(catalog->results().lookup(key.digest()))->created_ns, clock.now.count());
}

TEST(Catalog, OfMemoryHasNoFolder) {
  const SystemClock clock;
  MemoryBlobStore blobs;
  const auto catalog = VALUE(Catalog::open_in_memory(blobs, clock));
  EXPECT_EQ(catalog->local_blobs(), nullptr);
  EXPECT_EQ(&catalog->blobs(), &blobs);
}

TEST(Catalog, RefusesAFolderThatIsAFileAndNamesIt) {
  const test::TemporaryFolder folder;
  const fs::path file = folder.path / "file";
  std::ofstream(file) << "x";
  const auto catalog = Catalog::open(file, test::quick());
  ASSERT_FALSE(catalog.ok());
  EXPECT_EQ(catalog.error().code, ErrorCode::storage);
  EXPECT_NE(catalog.error().message.find("open catalog " + file.string()), std::string::npos);
}

TEST(Catalog, RefusesADatabaseThatIsNone) {
  const test::TemporaryFolder folder;
  std::ofstream(folder.path / "catalog.db") << "not a database, but long enough to look like one";
  const auto catalog = Catalog::open(folder.path, test::quick());
  ASSERT_FALSE(catalog.ok());
  EXPECT_EQ(catalog.error().code, ErrorCode::corrupt_data);
}

TEST(Catalog, RefusesTheTablesOfANewerEnginery) {
  const test::TemporaryFolder folder;
  {
    const auto catalog = test::open_catalog(folder.path);
    EXPECT_OK(catalog->database().execute("UPDATE schema_version SET version=99"));
  }
  const auto catalog = Catalog::open(folder.path, test::quick());
  ASSERT_FALSE(catalog.ok());
  EXPECT_EQ(catalog.error().code, ErrorCode::incompatible);
}

// A large database takes long to read: once a day is enough.
TEST(Catalog, ExaminesTheWholeDatabaseOnceADay) {
  test::TemporaryFolder folder;
  CatalogOptions options = test::quick();
  options.database.quick_check = true;
  const std::filesystem::path checked = folder.path / "checked";
  const auto opened_after = [&](std::chrono::hours age) {
    const auto before = std::filesystem::file_time_type::clock::now() - age;
    std::filesystem::last_write_time(checked, before);
    EXPECT_OK(Catalog::open(folder.path, options));
    return std::filesystem::last_write_time(checked) != before;
  };
  EXPECT_OK(Catalog::open(folder.path, options));
  ASSERT_TRUE(std::filesystem::exists(checked));
  EXPECT_FALSE(opened_after(std::chrono::hours(23)));
  EXPECT_TRUE(opened_after(std::chrono::hours(25)));
  EXPECT_TRUE(opened_after(std::chrono::hours(-5)));  // from the future
  options.check_every = std::chrono::hours(0);
  EXPECT_TRUE(opened_after(std::chrono::hours(1)));
}

TEST(Catalog, AReaderSeesWhatIsCommittedAndWaitsForNobody) {
  test::TemporaryFolder folder;
  const auto catalog = test::open_catalog(folder.path);
  const auto reader = VALUE(Catalog::open_reader(*catalog));
  const Digest before = VALUE(catalog->blobs().put(as_bytes(test::pattern(200'000, 1))));
  const Transaction writing = VALUE(Transaction::begin(catalog->database()));
  const Digest during = VALUE(catalog->blobs().put(as_bytes(test::pattern(100, 2))));
  EXPECT_EQ(VALUE(reader->blobs().get(before)), test::pattern(200'000, 1));
  EXPECT_FALSE(VALUE(has_blob(reader->blobs(), during)));
  EXPECT_FALSE(reader->timings().record_key(test::key_of(1)).ok());
}

}  // namespace
}  // namespace enginery
