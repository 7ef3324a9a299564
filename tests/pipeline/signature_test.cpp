#include "pipeline/signature.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <optional>

#include "cache/memory_blob_store.h"
#include "engine/base/signed_file.h"

namespace enginery {
namespace {

class Signature : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "enginery-signature-test";
    std::filesystem::remove_all(folder_);
    auto key = SigningKey::load_or_create(std::filesystem::path(folder_) / "signing.key");
    ASSERT_TRUE(key.ok()) << key.error().message;
    key_.emplace(std::move(*key));
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string folder_;
  std::optional<SigningKey> key_;
  std::unique_ptr<BlobStore> blobs_ = std::make_unique<MemoryBlobStore>();
};

TEST_F(Signature, IsTheTrailerBehindTheUnsignedBytes) {
  const Bytes unsigned_bytes = "content and provenance";
  const auto stored = blobs_->put(as_bytes(unsigned_bytes));
  ASSERT_TRUE(stored.ok());
  const auto engine = sign_engine(*blobs_, *key_, *stored);
  ASSERT_TRUE(engine.ok()) << engine.error().message;
  EXPECT_EQ(engine->name, "engine");
  EXPECT_EQ(engine->size_bytes, unsigned_bytes.size() + kSignatureTrailerBytes);
  const auto file = blobs_->get(engine->digest);
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(*file, unsigned_bytes + signature_trailer(*stored, *key_));
}

TEST_F(Signature, SaysThatTheUnsignedEngineIsGone) {
  const auto engine = sign_engine(*blobs_, *key_, sha256("never stored"));
  ASSERT_FALSE(engine.ok());
  EXPECT_EQ(engine.error().code, ErrorCode::not_found);
}

}  // namespace
}  // namespace enginery
