// An engine set: its bytes both ways, and that nothing but a signed set is one.
#include "pipeline/engine_set.h"

#include <gtest/gtest.h>

#include "engine/base/signed_file.h"

namespace enginery {
namespace {

EngineSet example() {
  EngineSet set{"net", "j7", sha256("model"), {}, {{"h200", "failed: no memory"}}};
  EngineView engine{"net",         "cpu-avx2", sha256("engine"), sha256("content"), sha256("model"),
                    sha256("key"), "fp32"};
  engine.size_bytes = 12345;
  engine.latency_ms = 1.25;
  engine.provisional = true;
  engine.created_ns = 1'763'707'812'345'678'901;
  engine.job = "j7";
  set.engines.push_back(engine);
  return set;
}

TEST(EngineSet, ReadsBackWhatWasWritten) {
  const SigningKey key = SigningKey::generate();
  const Bytes bytes = write_set(example(), key);
  EXPECT_TRUE(bytes.starts_with(kSetBeginning));
  EXPECT_EQ(bytes, write_set(example(), key)) << "the same set has the same bytes";
  const auto read = read_set(as_bytes(bytes), {{key.public_key()}});
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->set, example());
  EXPECT_EQ(read->signer, key.public_key());
}

TEST(EngineSet, RefusesEveryChangedByteAndAnUnknownKey) {
  const SigningKey key = SigningKey::generate();
  const Bytes bytes = write_set(example(), key);
  const TrustStore trust{{key.public_key()}};
  for (size_t at = 0; at < bytes.size(); ++at) {
    Bytes bad = bytes;
    bad[at] = static_cast<char>(bad[at] ^ 1);
    const auto read = read_set(as_bytes(bad), trust);
    ASSERT_FALSE(read.ok()) << at;
    EXPECT_EQ(read.error().code, ErrorCode::untrusted) << at;
  }
  EXPECT_EQ(read_set(as_bytes(bytes + "x"), trust).error().code, ErrorCode::untrusted);
  EXPECT_EQ(read_set(as_bytes(bytes), {}).error().code, ErrorCode::untrusted);
}

TEST(EngineSet, RefusesWhatIsSignedAndNoSet) {
  const SigningKey key = SigningKey::generate();
  const struct {
    const char* body;
    ErrorCode code;
  } rows[] = {
      {"", ErrorCode::untrusted},
      {"[]", ErrorCode::untrusted},
      {R"({"schema":"enginery.set/2"})", ErrorCode::incompatible},
      {R"({"schema":"enginery.set/1"})", ErrorCode::untrusted},
      {R"({"schema":"enginery.set/1","name":"n","job":"","model":"x","engines":[],"missing":[]})",
       ErrorCode::untrusted},
      {R"({"schema":"enginery.set/1","name":7,"job":"","model":"x","engines":[],"missing":[]})",
       ErrorCode::untrusted},
  };
  for (const auto& row : rows) {
    const Bytes body = row.body;
    const auto read =
        read_set(as_bytes(body + signature_trailer(sha256(body), key)), {{key.public_key()}});
    ASSERT_FALSE(read.ok()) << row.body;
    EXPECT_EQ(read.error().code, row.code) << row.body << ": " << read.error().message;
  }
}

}  // namespace
}  // namespace enginery
