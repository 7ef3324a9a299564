// The thread that signs: every task has its answer, in order, and what cannot be signed says why.
#include "coordinator/server/signer.h"

#include <gtest/gtest.h>

#include "cache/memory_blob_store.h"
#include "engine/base/signed_file.h"
#include "tests/coordinator/farm_fixture.h"

namespace enginery {
namespace {

struct SignerTest : testing::Test {
  TemporaryFolder folder;
  SigningKey key = must(SigningKey::load_or_create(folder.path / "signing.key"));
  MemoryBlobStore blobs;
  std::mutex mutex;
  std::condition_variable changed;
  int done = 0;
  Signer signer{blobs, key, accept_engine, [this] {
                  {
                    const std::lock_guard lock(mutex);
                    ++done;
                  }
                  changed.notify_all();
                }};

  Digest store(const std::string& content) { return must(blobs.put(as_bytes(content))); }
  // The answers once so many are there.
  std::vector<SignAnswer> wait_for(int count) {
    std::unique_lock lock(mutex);
    EXPECT_TRUE(changed.wait_for(lock, std::chrono::seconds(20), [&] { return done >= count; }));
    return signer.take();
  }
};

TEST_F(SignerTest, AnswersEveryTaskInItsOrder) {
  for (uint64_t step = 1; step <= 20; ++step)
    signer.post({step, step + 100, {store("engine " + std::to_string(step))}});
  const std::vector<SignAnswer> answers = wait_for(20);
  ASSERT_EQ(answers.size(), 20u);
  for (uint64_t i = 0; i < 20; ++i) {
    EXPECT_EQ(answers[i].step, i + 1);
    EXPECT_EQ(answers[i].epoch, i + 101);
    EXPECT_TRUE(answers[i].engine);
  }
  EXPECT_TRUE(signer.take().empty());
}

TEST_F(SignerTest, ASignedEngineIsTheUnsignedOneWithItsTrailer) {
  const Digest unsigned_engine = store("content");
  signer.post({1, 1, {unsigned_engine}});
  const std::vector<SignAnswer> answers = wait_for(1);
  ASSERT_TRUE(answers.at(0).engine);
  EXPECT_EQ(answers[0].engine->name, "engine");
  EXPECT_EQ(must(blobs.get(answers[0].engine->digest)),
            "content" + signature_trailer(unsigned_engine, key));
}

TEST_F(SignerTest, SaysWhetherTheUnsignedEngineIsGoneOrDamaged) {
  const Digest damaged = store("damaged");
  blobs.damage(damaged);
  signer.post({1, 1, {sha256("never stored")}});
  signer.post({2, 1, {damaged}});
  signer.post({3, 1, {store("right")}});
  const std::vector<SignAnswer> answers = wait_for(3);
  ASSERT_EQ(answers.size(), 3u);
  EXPECT_EQ(answers[0].fault.code, ErrorCode::not_found);
  EXPECT_TRUE(answers[0].fault.message.starts_with("sign: "));
  EXPECT_EQ(answers[1].fault.code, ErrorCode::corrupt_data);
  EXPECT_FALSE(answers[1].engine);
  EXPECT_TRUE(answers[2].engine);  // the thread goes on
}

TEST_F(SignerTest, EndsWithTasksThatNobodyTakes) {
  Signer other(blobs, key, accept_engine, [] {});
  for (uint64_t step = 1; step <= 100; ++step) other.post({step, 1, {sha256("x")}});
  // The destructor returns: what waits is dropped.
}

}  // namespace
}  // namespace enginery
