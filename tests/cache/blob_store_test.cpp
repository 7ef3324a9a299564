// One suite over every blob store: what BlobStore promises, whoever implements it.
#include "cache/blob_store.h"

#include <thread>

#include "cache/memory_blob_store.h"
#include "tests/cache/support.h"

namespace enginery {
namespace {

using test::pattern;
using test::TemporaryFolder;

struct StoreUnderTest {
  virtual ~StoreUnderTest() = default;
  virtual BlobStore& store() = 0;
  virtual void damage(const Digest& digest) = 0;
};

struct MemoryUnderTest final : StoreUnderTest {
  MemoryBlobStore memory;
  BlobStore& store() override { return memory; }
  void damage(const Digest& digest) override { memory.damage(digest); }
};

struct LocalUnderTest final : StoreUnderTest {
  TemporaryFolder folder;
  std::unique_ptr<Catalog> catalog = test::open_catalog(folder.path);
  BlobStore& store() override { return catalog->blobs(); }
  void damage(const Digest& digest) override {
    std::filesystem::path file = catalog->local_blobs()->path_of(digest);
    if (std::filesystem::exists(file)) return test::flip_byte(file, 0);
    EXPECT_OK(catalog->database().execute(
        "UPDATE blob_bytes SET bytes=x'00' || bytes WHERE digest=?1", digest));
  }
};

template <typename T>
std::unique_ptr<StoreUnderTest> make_under_test() {
  return std::make_unique<T>();
}

struct Case {
  const char* name;
  std::unique_ptr<StoreUnderTest> (*make)();
};

class BlobStoreTest : public testing::TestWithParam<Case> {
 protected:
  std::unique_ptr<StoreUnderTest> made_ = GetParam().make();
  BlobStore& store_ = made_->store();
};

INSTANTIATE_TEST_SUITE_P(
    Stores, BlobStoreTest,
    testing::Values(Case{"Memory", [] { return make_under_test<MemoryUnderTest>(); }},
                    Case{"Local", [] { return make_under_test<LocalUnderTest>(); }}),
    [](const auto& tested) { return std::string(tested.param.name); });

// Around the border between database and files, and around the chunk of reading.
const size_t kSizes[] = {0, 1, 99'999, 100'000, 100'001, (1 << 20) - 1, (1 << 20) + 1};

TEST_P(BlobStoreTest, GivesBackWhatWasPut) {
  for (size_t size : kSizes) {
    Bytes bytes = pattern(size, size);
    Digest digest = VALUE(store_.put(as_bytes(bytes)));
    EXPECT_EQ(digest, sha256(bytes));
    EXPECT_EQ(VALUE(store_.get(digest)), bytes) << size;
    EXPECT_EQ(VALUE(store_.size(digest)), size);
    EXPECT_TRUE(VALUE(has_blob(store_, digest)));
  }
  EXPECT_EQ(VALUE(store_.list()).size(), std::size(kSizes));
}

TEST_P(BlobStoreTest, TakesTheSameBytesTwice) {
  for (size_t size : {size_t{10}, size_t{150'000}}) {
    Bytes bytes = pattern(size, 1);
    Digest digest = VALUE(store_.put(as_bytes(bytes)));
    EXPECT_EQ(VALUE(store_.put(as_bytes(bytes))), digest);
    EXPECT_EQ(VALUE(store_.get(digest)), bytes);
  }
  EXPECT_EQ(VALUE(store_.list()).size(), 2u);
}

TEST_P(BlobStoreTest, ReadsRanges) {
  for (size_t size : {size_t{1000}, size_t{300'000}}) {
    Bytes bytes = pattern(size, 2);
    Digest digest = VALUE(store_.put(as_bytes(bytes)));
    EXPECT_EQ(VALUE(store_.read_range(digest, 0, size)), bytes);
    EXPECT_EQ(VALUE(store_.read_range(digest, 17, 100)), bytes.substr(17, 100));
    EXPECT_EQ(VALUE(store_.read_range(digest, size - 5, 100)), bytes.substr(size - 5));
    EXPECT_EQ(VALUE(store_.read_range(digest, size, 10)), "");
    EXPECT_EQ(VALUE(store_.read_range(digest, size + 10, 10)), "");
    EXPECT_EQ(VALUE(store_.read_range(digest, 0, UINT64_MAX)), bytes);
    EXPECT_EQ(VALUE(store_.read_range(digest, 1, UINT64_MAX)), bytes.substr(1));
  }
}

TEST_P(BlobStoreTest, SaysNotFoundForWhatItLacks) {
  Digest digest = sha256("absent");
  EXPECT_ERROR(ErrorCode::not_found, store_.get(digest));
  EXPECT_ERROR(ErrorCode::not_found, store_.size(digest));
  EXPECT_ERROR(ErrorCode::not_found, store_.read_range(digest, 0, 1));
  EXPECT_FALSE(VALUE(has_blob(store_, digest)));
  EXPECT_OK(store_.remove(digest));
}

TEST_P(BlobStoreTest, ForgetsWhatIsRemovedAndTakesItAgain) {
  for (size_t size : {size_t{10}, size_t{150'000}}) {
    Bytes bytes = pattern(size, 3);
    Digest digest = VALUE(store_.put(as_bytes(bytes)));
    EXPECT_OK(store_.remove(digest));
    EXPECT_ERROR(ErrorCode::not_found, store_.get(digest));
    EXPECT_TRUE(VALUE(store_.list()).empty());
    EXPECT_EQ(VALUE(store_.put(as_bytes(bytes))), digest);
    EXPECT_EQ(VALUE(store_.get(digest)), bytes);
    EXPECT_OK(store_.remove(digest));
  }
}

TEST_P(BlobStoreTest, DetectsEveryDamagedReadAndHealsByPuttingAgain) {
  for (size_t size : {size_t{10}, size_t{150'000}}) {
    Bytes bytes = pattern(size, 4);
    Digest digest = VALUE(store_.put(as_bytes(bytes)));
    EXPECT_EQ(VALUE(store_.read_range(digest, 0, 10)), bytes.substr(0, 10));
    made_->damage(digest);
    auto read = store_.get(digest);
    ASSERT_FALSE(read.ok());
    EXPECT_EQ(read.error().code, ErrorCode::corrupt_data);
    EXPECT_NE(read.error().message.find(digest.text()), std::string::npos);
    EXPECT_ERROR(ErrorCode::not_found, store_.get(digest));
    EXPECT_EQ(VALUE(store_.put(as_bytes(bytes))), digest);
    EXPECT_EQ(VALUE(store_.get(digest)), bytes);
  }
}

TEST_P(BlobStoreTest, DetectsDamageInRangesReadBefore) {
  Bytes bytes = pattern(300'000, 5);
  Digest digest = VALUE(store_.put(as_bytes(bytes)));
  EXPECT_EQ(VALUE(store_.read_range(digest, 200'000, 10)), bytes.substr(200'000, 10));
  made_->damage(digest);
  EXPECT_ERROR(ErrorCode::corrupt_data, store_.read_range(digest, 200'000, 10));
}

TEST_P(BlobStoreTest, ListsInDigestOrder) {
  for (int i = 0; i < 20; ++i) EXPECT_OK(store_.put(as_bytes(pattern(20, i))));
  auto blobs = VALUE(store_.list());
  ASSERT_EQ(blobs.size(), 20u);
  for (size_t i = 1; i < blobs.size(); ++i) EXPECT_LT(blobs[i - 1].digest, blobs[i].digest);
}

TEST_P(BlobStoreTest, ServesThreadsThatPutTheSameBlobs) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 10; ++i) {
        Bytes bytes = pattern(i % 2 ? 50 : 120'000, i);
        Digest digest = VALUE(store_.put(as_bytes(bytes)));
        EXPECT_EQ(VALUE(store_.get(digest)), bytes);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(VALUE(store_.list()).size(), 10u);
}

}  // namespace
}  // namespace enginery
