#include "worker/agent/blob_cache.h"

#include <gtest/gtest.h>

#include "engine/base/file.h"
#include "tests/worker/farm_fixture.h"

namespace enginery {
namespace {

class BlobCacheTest : public testing::Test {
 protected:
  FarmConnection connection() {
    return FarmConnection({farm_.address(), "tester", make_zmq_dial()}, [] { return false; });
  }
  Digest stored(const Bytes& bytes) {
    auto digest = farm_.client()->put_blob(as_bytes(bytes));
    EXPECT_TRUE(digest.ok());
    return *digest;
  }
  std::filesystem::path cache_folder() const { return farm_.folder() / "cache"; }

  test::SmallFarm farm_;
};

TEST_F(BlobCacheTest, FetchesOnceAndChecksEachTime) {
  const Bytes bytes(3 << 20, 'x');
  const Digest digest = stored(bytes);
  BlobCache cache(cache_folder(), 1 << 30);
  auto farm = connection();
  auto file = cache.fetch(farm, digest, {});
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_EQ(*read_file(*file), bytes);
  std::filesystem::remove(*file);
  ASSERT_TRUE(write_file(*file, Bytes(3 << 20, 'y')).ok());  // damaged on this disk
  file = cache.fetch(farm, digest, {});
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(*read_file(*file), bytes);
  farm_.stop();  // and now the coordinator is not needed any more
  EXPECT_TRUE(cache.fetch(farm, digest, {}).ok());
}

TEST_F(BlobCacheTest, ForgetsTheOldestButNothingInUse) {
  const Digest a = stored(Bytes(400, 'a')), b = stored(Bytes(400, 'b')),
               c = stored(Bytes(400, 'c'));
  BlobCache cache(cache_folder(), 900);
  auto farm = connection();
  cache.begin_step();
  auto first = cache.fetch(farm, a, {});
  ASSERT_TRUE(first.ok());
  cache.begin_step();
  ASSERT_TRUE(cache.fetch(farm, b, {}).ok());
  ASSERT_TRUE(cache.fetch(farm, c, {}).ok());
  EXPECT_FALSE(std::filesystem::exists(*first));
  BlobCache tiny(cache_folder(), 10);
  auto kept = tiny.fetch(farm, b, {}), also = tiny.fetch(farm, c, {});
  ASSERT_TRUE(kept.ok() && also.ok());
  EXPECT_TRUE(std::filesystem::exists(*kept) && std::filesystem::exists(*also));
}

TEST_F(BlobCacheTest, SaysWhatTheFarmLacks) {
  BlobCache cache(cache_folder(), 1 << 20);
  auto farm = connection();
  auto file = cache.fetch(farm, sha256("nobody stored this"), {});
  ASSERT_FALSE(file.ok());
  EXPECT_EQ(file.error().code, ErrorCode::not_found) << file.error().message;
}

TEST(FarmConnection, WaitsForACoordinatorUntilTold) {
  int asked = 0;
  FarmConnection farm({"ipc:///tmp/enginery-nobody-listens.sock", "tester", make_zmq_dial()},
                      [&] { return ++asked > 10; });
  auto answer = farm.call([](Client& client) { return client.skus(); });
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, ErrorCode::cancelled);
}

}  // namespace
}  // namespace enginery
