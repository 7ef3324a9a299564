// One engine file that was written and signed once: it must load for ever. Everything else here
// reads what the same code has just written, so a change of both sides at once would go unseen.
#include <gtest/gtest.h>

#include "engine/base/file.h"
#include "tests/engine/format/small_engine.h"

namespace enginery {
namespace {

const std::filesystem::path kFolder = ENGINERY_TEST_DATA;

TEST(CommittedEngine, LoadsUnderTheKeyThatSignedIt) {
  const auto key = read_public_key(kFolder / "version-1.pub");
  ASSERT_TRUE(key.ok()) << key.error().message;
  const auto bytes = read_file(kFolder / "version-1.engine");
  ASSERT_TRUE(bytes.ok()) << bytes.error().message;
  const auto engine = read_engine(std::make_shared<const Bytes>(*bytes), TrustStore{{*key}});
  ASSERT_TRUE(engine.ok()) << engine.error().message;
  EXPECT_EQ(engine->manifest.sku, "cpu-avx2");
  EXPECT_EQ(engine->manifest.software, (Properties{{"onednn", "2.6.3"}}));
  EXPECT_EQ(engine->provenance.median_us, 5);
  EXPECT_EQ(engine->provenance.facts, (Properties{{"worker", "me"}}));
  EXPECT_EQ(engine->signer, *key);
  ASSERT_EQ(engine->plan.steps.size(), 2u);
  const Plan plan = test::small_plan();
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(engine->plan.steps[i].problem.key(), plan.steps[i].problem.key());
    EXPECT_EQ(tactic_key(engine->plan.steps[i].tactic), tactic_key(plan.steps[i].tactic));
  }
  EXPECT_EQ(engine->plan.constants[0].tensor.data<float>()[15], 16);
}

// What is written today is what was written then, byte for byte.
TEST(CommittedEngine, IsWrittenAgainWithTheSameBytes) {
  const auto bytes = read_file(kFolder / "version-1.engine");
  ASSERT_TRUE(bytes.ok());
  const Bytes written = test::unsigned_engine();
  EXPECT_TRUE(bytes->substr(0, written.size()) == written);
  EXPECT_EQ(bytes->size(), written.size() + kSignatureTrailerBytes);
}

TEST(CommittedEngine, IsRefusedWithoutItsKeyAndWithAnyLastByteChanged) {
  const auto key = read_public_key(kFolder / "version-1.pub");
  const auto bytes = read_file(kFolder / "version-1.engine");
  ASSERT_TRUE(key.ok() && bytes.ok());
  EXPECT_EQ(read_engine(std::make_shared<const Bytes>(*bytes), TrustStore{}).error().code,
            ErrorCode::untrusted);
  // The last eight bytes that are signed, and the last eight of the signature.
  for (size_t back = 1; back <= 8; ++back) {
    for (const size_t end : {bytes->size(), bytes->size() - kSignatureTrailerBytes}) {
      Bytes bad = *bytes;
      bad[end - back] = static_cast<char>(bad[end - back] ^ 1);
      const auto engine = read_engine(std::make_shared<const Bytes>(bad), TrustStore{{*key}});
      ASSERT_FALSE(engine.ok()) << "byte " << end - back;
      EXPECT_EQ(engine.error().code, ErrorCode::untrusted);
    }
  }
}

}  // namespace
}  // namespace enginery
