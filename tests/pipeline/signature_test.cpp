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

  // Takes everything for an engine.
  static Result<EngineToSign> accept(const std::shared_ptr<const Bytes>& file,
                                     const UnsignedEngine&) {
    return EngineToSign{file->size(), {}};
  }

  std::string folder_;
  std::optional<SigningKey> key_;
  std::unique_ptr<BlobStore> blobs_ = std::make_unique<MemoryBlobStore>();
};

TEST_F(Signature, IsTheTrailerBehindTheUnsignedBytes) {
  const Bytes unsigned_bytes = "content and provenance";
  const auto stored = blobs_->put(as_bytes(unsigned_bytes));
  ASSERT_TRUE(stored.ok());
  const auto engine = sign_engine(*blobs_, *key_, accept, {*stored});
  ASSERT_TRUE(engine.ok()) << engine.error().message;
  EXPECT_EQ(engine->name, "engine");
  EXPECT_EQ(engine->size_bytes, unsigned_bytes.size() + kSignatureTrailerBytes);
  const auto file = blobs_->get(engine->digest);
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(*file, unsigned_bytes + signature_trailer(*stored, *key_));
}

TEST(FactsOfARequest, AreThoseOfItsCalibration) {
  BuildOptions options;
  options.precisions.insert(Precision::int8);
  EXPECT_TRUE(facts_of_request(options).empty()) << "a model that is quantised";
  options.calibration = sha256("table").text();
  EXPECT_EQ(facts_of_request(options),
            (std::vector<NamedText>{{"requested.precisions", "fp32,int8"}}));
  options.calib_data = sha256("rows").text();
  EXPECT_EQ(facts_of_request(options),
            (std::vector<NamedText>{{"requested.precisions", "fp32,int8"},
                                    {"calibration.data", sha256("rows").text()}}));
}

TEST_F(Signature, SaysThatTheUnsignedEngineIsGone) {
  const auto engine = sign_engine(*blobs_, *key_, accept, {sha256("never stored")});
  ASSERT_FALSE(engine.ok());
  EXPECT_EQ(engine.error().code, ErrorCode::not_found);
}

TEST_F(Signature, IsTrustedByWhoHoldsTheKeyAndByNobodyElse) {
  const auto stored = blobs_->put(as_bytes("content"));
  const auto engine = sign_engine(*blobs_, *key_, accept, {*stored});
  ASSERT_TRUE(engine.ok());
  const Bytes file = *blobs_->get(engine->digest);
  const auto trust = TrustStore::load(folder_);
  ASSERT_TRUE(trust.ok()) << trust.error().message;
  const auto checked = check_signature(as_bytes(file), *trust);
  ASSERT_TRUE(checked.ok()) << checked.error().message;
  EXPECT_EQ(as_text(checked->body), "content");
  const std::string elsewhere = folder_ + "/other";
  ASSERT_TRUE(SigningKey::load_or_create(std::filesystem::path(elsewhere) / "signing.key").ok());
  const auto others = TrustStore::load(elsewhere);
  ASSERT_TRUE(others.ok());
  const auto refused = check_signature(as_bytes(file), *others);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::untrusted);
}

// A signature that was asked for twice is one engine: the second result is the first one's.
TEST_F(Signature, OfTheSameBytesIsTheSameEngine) {
  const auto stored = blobs_->put(as_bytes("content"));
  const auto first = sign_engine(*blobs_, *key_, accept, {*stored});
  const auto second = sign_engine(*blobs_, *key_, accept, {*stored});
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(first->digest, second->digest);
  EXPECT_EQ(blobs_->list()->size(), 2u);
}

TEST_F(Signature, IsNotPutUnderDamagedBytes) {
  MemoryBlobStore damaged;
  const auto stored = damaged.put(as_bytes("content"));
  damaged.damage(*stored);
  const auto engine = sign_engine(damaged, *key_, accept, {*stored});
  ASSERT_FALSE(engine.ok());
  EXPECT_EQ(engine.error().code, ErrorCode::corrupt_data);
}

// What a worker wrote behind the content is replaced before the signature covers it.
TEST_F(Signature, CoversTheContentAndTheProvenanceThatTheReaderStates) {
  const auto stored = blobs_->put(as_bytes("content, built by me"));
  ASSERT_TRUE(stored.ok());
  const UnsignedEngine known{*stored,       sha256("content"), sha256("model"),
                             sha256("key"), "a sku",           "a worker"};
  UnsignedEngine told;
  const auto restate = [&](const std::shared_ptr<const Bytes>&,
                           const UnsignedEngine& engine) -> Result<EngineToSign> {
    told = engine;
    return EngineToSign{7, ", built by a worker"};
  };
  const auto engine = sign_engine(*blobs_, *key_, restate, known);
  ASSERT_TRUE(engine.ok()) << engine.error().message;
  UnsignedEngine with_signer = known;
  with_signer.signer = key_id(key_->public_key());
  EXPECT_EQ(told, with_signer);
  const Bytes body = "content, built by a worker";
  EXPECT_EQ(*blobs_->get(engine->digest), body + signature_trailer(sha256(body), *key_));
}

TEST_F(Signature, CoversWhatTheKeyAddsToContentAndProvenance) {
  const auto stored = blobs_->put(as_bytes("content, built by me"));
  const auto add = [&](ByteSpan before, const SigningKey& key) -> Result<Bytes> {
    return " and what " + key_id(key.public_key()) + " says of " + std::string(as_text(before));
  };
  const auto restate = [&](const std::shared_ptr<const Bytes>&, const UnsignedEngine&) {
    return Result<EngineToSign>({7, ", built by a worker", add});
  };
  const auto engine = sign_engine(*blobs_, *key_, restate, {*stored});
  ASSERT_TRUE(engine.ok()) << engine.error().message;
  const Bytes before = "content, built by a worker";
  const Bytes body = before + *add(as_bytes(before), *key_);
  EXPECT_EQ(*blobs_->get(engine->digest), body + signature_trailer(sha256(body), *key_));
}

TEST_F(Signature, IsNotGivenToWhatTheReaderRefuses) {
  const Bytes no_engine = "a worker's word";
  const auto stored = blobs_->put(as_bytes(no_engine));
  ASSERT_TRUE(stored.ok());
  Bytes seen;
  const auto refuse = [&](const std::shared_ptr<const Bytes>& file,
                          const UnsignedEngine&) -> Result<EngineToSign> {
    seen = *file;
    return Error{ErrorCode::untrusted, "engine file: this is not an engine"};
  };
  const auto engine = sign_engine(*blobs_, *key_, refuse, {*stored});
  ASSERT_FALSE(engine.ok());
  EXPECT_EQ(engine.error().code, ErrorCode::untrusted);
  EXPECT_EQ(engine.error().message, "engine file: this is not an engine");
  EXPECT_EQ(seen, no_engine);
}

}  // namespace
}  // namespace enginery
