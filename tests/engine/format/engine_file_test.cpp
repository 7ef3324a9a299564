#include "engine/format/engine_file.h"

#include <gtest/gtest.h>

#include <random>

#include "engine/format/sections.h"
#include "tests/engine/format/small_engine.h"

namespace enginery {
namespace {

using test::small_manifest;
using test::small_plan;

struct Signed {
  SigningKey key = SigningKey::generate();
  TrustStore trust{{key.public_key()}};
  Bytes bytes;
  Digest content;
  explicit Signed(double median_us = 5) {
    bytes = *write_content(small_manifest(), small_plan());
    content = sha256(bytes);
    bytes += *write_provenance(test::small_provenance(median_us));
    bytes += signature_trailer(sha256(bytes), key);
  }
  Result<EngineFile> read(const Bytes& file) const {
    return read_engine(std::make_shared<const Bytes>(file), trust);
  }
};

TEST(EngineFile, ReadsBackWhatItWrote) {
  Signed file;
  auto engine = file.read(file.bytes);
  ASSERT_TRUE(engine) << engine.error().message;
  EXPECT_EQ(engine->manifest.sku, "cpu-avx2");
  EXPECT_EQ(engine->content_digest, file.content);
  EXPECT_EQ(engine->file_digest, sha256(file.bytes));
  EXPECT_EQ(engine->provenance.median_us, 5);
  ASSERT_EQ(engine->plan.steps.size(), 2u);
  Plan plan = small_plan();
  const PlanStep &wrote = plan.steps[1], &read = engine->plan.steps[1];
  EXPECT_EQ(read.problem.key(), wrote.problem.key());
  EXPECT_EQ(tactic_key(read.tactic), tactic_key(wrote.tactic));
  EXPECT_EQ(*read.tactic.code, "device code");
  EXPECT_EQ(read.inputs, wrote.inputs);
  EXPECT_EQ(engine->plan.constants[0].tensor.data<float>()[15], 16);
  EXPECT_EQ(is_reformat(engine->plan.steps[0].problem), true);
}

TEST(EngineFile, HasOneContentDigestForEqualChoices) {
  Signed a(5), b(7);
  EXPECT_NE(a.bytes, b.bytes);
  EXPECT_EQ(a.read(a.bytes)->content_digest, b.read(b.bytes)->content_digest);
}

TEST(EngineFile, RefusesEveryChangedByte) {
  Signed file;
  for (size_t i = 0; i < file.bytes.size(); ++i) {
    Bytes bad = file.bytes;
    bad[i] = static_cast<char>(bad[i] ^ (1 << (i % 8)));
    auto engine = file.read(bad);
    ASSERT_FALSE(engine) << "byte " << i;
    ASSERT_EQ(engine.error().code, ErrorCode::untrusted)
        << "byte " << i << ": " << engine.error().message;
  }
}

TEST(EngineFile, RefusesMissingAndAddedBytes) {
  Signed file;
  for (size_t size = 0; size < file.bytes.size(); size += 7) {
    ASSERT_EQ(file.read(file.bytes.substr(0, size)).error().code, ErrorCode::untrusted) << size;
  }
  EXPECT_EQ(file.read(file.bytes + '\0').error().code, ErrorCode::untrusted);
  EXPECT_EQ(file.read("x" + file.bytes).error().code, ErrorCode::untrusted);
}

TEST(EngineFile, RefusesAStrangersKeyAndSaysHowToTrustIt) {
  Signed file, other;
  auto engine = other.read(file.bytes);
  ASSERT_FALSE(engine);
  EXPECT_EQ(engine.error().code, ErrorCode::untrusted);
  EXPECT_NE(engine.error().message.find(key_id(file.key.public_key())), std::string::npos);
  EXPECT_NE(engine.error().message.find("keys trust"), std::string::npos);
}

// Even a signed file must not be able to harm: random damage under a fresh signature is parsed or
// refused, never worse.
TEST(EngineFile, SurvivesDamageUnderAValidSignature) {
  Signed file;
  Bytes body = file.bytes.substr(0, file.bytes.size() - kSignatureTrailerBytes);
  uint64_t seed = 20261121;
  std::mt19937_64 random(seed);
  int refused = 0;
  for (int i = 0; i < 3000; ++i) {
    SCOPED_TRACE("seed " + std::to_string(seed) + " round " + std::to_string(i));
    Bytes bad = body;
    for (uint64_t n = random() % 4 + 1; n > 0; --n)
      bad[random() % bad.size()] = static_cast<char>(random());
    bad += signature_trailer(sha256(bad), file.key);
    auto engine = file.read(bad);
    if (!engine) ++refused;
  }
  EXPECT_GT(refused, 1000);
}

TEST(Sections, RefuseANewerVersionWithBothNumbers) {
  Bytes file = file_header(DeviceKind::cpu);
  file[8] = 9;
  auto sections = parse_sections(as_bytes(file), HashCheck::all);
  ASSERT_FALSE(sections);
  EXPECT_EQ(sections.error().code, ErrorCode::incompatible);
  EXPECT_NE(sections.error().message.find("version 9"), std::string::npos);
}

}  // namespace
}  // namespace enginery
