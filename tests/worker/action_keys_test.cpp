#include "pipeline/action_keys.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "pipeline/timing_keys.h"

namespace enginery {
namespace {

KeySubject subject() {
  KeySubject out;
  out.model = sha256("model");
  out.structure = sha256("structure");
  out.name = "net";
  out.sku = "cpu-avx2";
  out.toolchain = "enginery=0.1.0;onednn=2.6.3";
  out.options.threads = 2;
  return out;
}

std::string field(const std::vector<NamedText>& fields, const std::string& name) {
  for (const NamedText& f : fields) {
    if (f.name == name) return f.value;
  }
  return "absent";
}

TEST(ActionKeys, TuningKnowsNoWeights) {
  KeySubject one = subject(), other = subject();
  other.model = sha256("retrained");
  other.name = "net2";
  EXPECT_EQ(tune_key(one), tune_key(other));
  EXPECT_NE(engine_key(one), engine_key(other));
}

TEST(ActionKeys, EveryFactOfABuildChangesTheEnginesKey) {
  const auto changed = [](const std::function<void(KeySubject&)>& change) {
    KeySubject other = subject();
    change(other);
    return engine_key(other) != engine_key(subject());
  };
  EXPECT_TRUE(changed([](KeySubject& s) { s.sku = "cpu-avx"; }));
  EXPECT_TRUE(changed([](KeySubject& s) { s.toolchain = "enginery=0.1.0;onednn=2.6.4"; }));
  EXPECT_TRUE(changed([](KeySubject& s) { s.options.threads = 3; }));
  EXPECT_TRUE(changed([](KeySubject& s) { s.options.level = 4; }));
  EXPECT_TRUE(changed([](KeySubject& s) { s.options.precisions.insert(Precision::fp16); }));
  EXPECT_TRUE(changed([](KeySubject& s) { s.options.shapes["x"] = {1, 3, 8, 8}; }));
  EXPECT_TRUE(changed([](KeySubject& s) { s.options.skip_passes.insert("fold"); }));
  EXPECT_TRUE(changed([](KeySubject& s) { s.options.without_sources.insert("onednn"); }));
  EXPECT_TRUE(changed([](KeySubject& s) { s.options.provisional = true; }));
}

TEST(ActionKeys, NameTheLibraryThatDiffers) {
  KeySubject other = subject();
  other.toolchain = "enginery=0.1.0;onednn=3.2.1";
  const auto differs =
      difference(action_key("tune", tune_key(subject())), action_key("tune", tune_key(other)));
  ASSERT_EQ(differs.size(), 1u);
  EXPECT_EQ(differs[0].field, "toolchain.onednn");
  EXPECT_EQ(differs[0].wanted, "2.6.3");
  EXPECT_EQ(differs[0].had, "3.2.1");
}

TEST(ActionKeys, ThreadsAreANumberForACpuAndNoFactOfAGpu) {
  EXPECT_GT(options_for("cpu-avx2", {}).threads, 0);
  BuildOptions four;
  four.threads = 4;
  EXPECT_EQ(options_for("cpu-avx2", four).threads, 4);
  EXPECT_EQ(options_for("h200", four).threads, 0);
  KeySubject gpu = subject();
  gpu.sku = "h200";
  EXPECT_EQ(field(engine_key(gpu), "threads"), "absent");
  EXPECT_EQ(field(engine_key(subject()), "threads"), "2");
}

TEST(ActionKeys, ChainedKeysFollowNamesNotOrder) {
  const NamedBlob a{"choices", sha256("a"), 1}, b{"content", sha256("b"), 1};
  EXPECT_EQ(chained_key("verify", sha256("e"), {a, b}), chained_key("verify", sha256("e"), {b, a}));
  EXPECT_FALSE(chained_key("verify", sha256("e"), {a}) ==
               chained_key("verify", sha256("e"), {a, b}));
}

TEST(TimingKeys, TakeAnyLine) {
  const ActionKey key = timing_device_key("sku=h200\nL2 Bytes=1\nl2 bytes=2\nname=A = B\nodd\n");
  EXPECT_EQ(*key.find("l2_bytes"), "1");
  EXPECT_EQ(*key.find("l2_bytes.2"), "2");
  EXPECT_EQ(*key.find("name"), "A = B");
  EXPECT_EQ(*key.find("odd"), "");
}

}  // namespace
}  // namespace enginery
