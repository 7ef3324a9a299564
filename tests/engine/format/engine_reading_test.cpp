#include "engine/format/engine_reading.h"

#include <gtest/gtest.h>

#include "engine/format/sections.h"
#include "tests/engine/format/small_engine.h"

namespace enginery {
namespace {

using test::small_plan;

// An engine of a little more than 1 MiB, so that its hash is taken aside, with a front signature
// and its parts.
struct Large {
  SigningKey key = SigningKey::generate();
  TrustStore trust{{key.public_key()}};
  Bytes body;
  size_t front_bytes = 0;

  explicit Large(float weight = 1) {
    Plan plan = small_plan();
    Tensor spare(DataType::float32, {512, 520});
    for (float& v : spare.mutable_data<float>()) v = weight;
    plan.constants.push_back({"spare", spare});
    body = test::unsigned_engine(plan);
    front_bytes = parse_sections(as_bytes(body), HashCheck::all)->front_bytes;
  }

  Bytes with_trailer(const Bytes& sections) const {
    return sections + signature_trailer(sha256(sections), key);
  }
  Bytes with_front() const { return with_front(key); }
  Bytes with_front(const SigningKey& signer) const {
    return with_trailer(body + *front_signature_section(as_bytes(body), signer));
  }
  Result<EngineReading> begin(const Bytes& file) const {
    return EngineReading::begin(as_bytes(file), nullptr, trust);
  }
};

TEST(EngineReading, KnowsManifestAndPlanBeforeTheVerdictAndTheRestAfterIt) {
  const Large large;
  const Bytes file = large.with_front();
  auto reading = large.begin(file);
  ASSERT_TRUE(reading.ok()) << reading.error().message;
  EXPECT_TRUE(reading->is_hashing());
  EXPECT_EQ(reading->engine().manifest.sku, "cpu-avx2");
  EXPECT_EQ(reading->engine().plan.steps.size(), 2u);
  EXPECT_EQ(reading->engine().plan.constants[1].tensor.data<float>()[7], 1);
  EXPECT_EQ(reading->engine().file_digest, Digest());
  EXPECT_EQ(reading->engine().provenance.median_us, 0);
  ASSERT_TRUE(reading->finish().ok());
  EXPECT_FALSE(reading->is_hashing());
  EXPECT_EQ(reading->engine().file_digest, sha256(file));
  EXPECT_EQ(reading->engine().signer, large.key.public_key());
  EXPECT_EQ(reading->engine().file_bytes, static_cast<int64_t>(file.size()));
  EXPECT_EQ(reading->engine().provenance.median_us, 5);
  EXPECT_TRUE(reading->finish().ok());  // again
}

// A file from before the front signature, or with somebody else's, is hashed before it is parsed.
TEST(EngineReading, HashesFirstWithoutAFrontSignatureOfTheSigner) {
  const Large large;
  for (const Bytes& file :
       {large.with_trailer(large.body), large.with_front(SigningKey::generate())}) {
    auto reading = large.begin(file);
    ASSERT_TRUE(reading.ok()) << reading.error().message;
    EXPECT_FALSE(reading->is_hashing());
    EXPECT_EQ(reading->engine().file_digest, sha256(file));
    EXPECT_EQ(reading->engine().provenance.median_us, 5);
    EXPECT_TRUE(reading->finish().ok());
  }
}

TEST(EngineReading, HasTheContentDigestOfTheSameEngineWithoutAFrontSignature) {
  const Large large;
  const auto with = read_engine(std::make_shared<const Bytes>(large.with_front()), large.trust);
  const auto without =
      read_engine(std::make_shared<const Bytes>(large.with_trailer(large.body)), large.trust);
  ASSERT_TRUE(with.ok() && without.ok());
  EXPECT_EQ(with->content_digest, without->content_digest);
  EXPECT_NE(with->file_digest, without->file_digest);
}

// One byte in every section, in the weights at both ends and in the middle.
TEST(EngineReading, RefusesAChangedByteWhereverItIs) {
  const Large large;
  const Bytes file = large.with_front();
  const size_t front = large.front_bytes, content = large.body.size();
  for (const size_t at : {size_t{0}, size_t{64}, size_t{200}, front - 100, front - 10, front,
                          front + (1 << 19), content - 200, content - 1, content + 10, content + 70,
                          file.size() - 100, file.size() - 40, file.size() - 1}) {
    Bytes bad = file;
    bad[at] = static_cast<char>(bad[at] ^ 0x10);
    const auto engine = read_engine(std::make_shared<const Bytes>(bad), large.trust);
    ASSERT_FALSE(engine.ok()) << "byte " << at;
    EXPECT_EQ(engine.error().code, ErrorCode::untrusted) << "byte " << at;
  }
}

// Both parts are vouched for by one key, but not together.
TEST(EngineReading, RefusesOneEnginesFrontBeforeAnothersWeights) {
  const Large one(1);
  Large other(2);
  other.key = one.key;
  const Bytes a = one.with_front(), b = other.with_front();
  ASSERT_EQ(a.size(), b.size());
  // The front of `a`, its front signature, and everything else of `b`.
  Bytes mixed = a.substr(0, one.front_bytes) + b.substr(one.front_bytes);
  mixed.replace(one.body.size(), a.size() - kSignatureTrailerBytes - one.body.size(),
                a.substr(one.body.size(), a.size() - kSignatureTrailerBytes - one.body.size()));
  auto reading = one.begin(mixed);
  ASSERT_TRUE(reading.ok()) << reading.error().message;  // so far all is well
  const Status verdict = reading->finish();
  ASSERT_FALSE(verdict.ok());
  EXPECT_EQ(verdict.error().code, ErrorCode::untrusted);
  EXPECT_NE(verdict.error().message.find("changed after key"), std::string::npos);
}

// What is signed of a front cannot stand in a trailer: the front alone is no signed file.
TEST(EngineReading, AFrontSignatureIsNoSignatureOfAFile) {
  const Large large;
  const Bytes front = large.body.substr(0, large.front_bytes);
  const Signature signature = sign_front(sha256(front), large.key);
  EXPECT_TRUE(verify_front(sha256(front), large.key.public_key(), signature));
  Bytes forged = large.with_trailer(front);
  ASSERT_TRUE(check_signature(as_bytes(forged), large.trust).ok());
  forged.replace(forged.size() - signature.size(), signature.size(),
                 reinterpret_cast<const char*>(signature.data()), signature.size());
  EXPECT_FALSE(check_signature(as_bytes(forged), large.trust).ok());
}

TEST(EngineReading, SignsNoFrontOfWhatIsNoEngine) {
  const auto section = front_signature_section(as_bytes("no engine"), SigningKey::generate());
  ASSERT_FALSE(section.ok());
  EXPECT_EQ(section.error().code, ErrorCode::untrusted);
}

}  // namespace
}  // namespace enginery
