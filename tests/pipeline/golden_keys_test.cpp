// The bytes of every kind of key, as the program made them before pipeline/ existed (commit
// 8f9d275): stored results are found by them, so a difference here means that every existing
// catalog becomes a miss. A new fact is a new field at the end of its kind and a new golden line,
// never an edited one.
#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "tests/pipeline/key_subject.h"

namespace enginery {
namespace {

constexpr char kBuilder[] = "enginery 0.1.0";

struct GoldenKey {
  std::string digest, hex;
};

const std::map<std::string, GoldenKey>& golden_keys() {
  static const std::map<std::string, GoldenKey> keys = [] {
    std::map<std::string, GoldenKey> out;
    std::ifstream file(ENGINERY_GOLDEN_KEYS);
    std::string name;
    GoldenKey key;
    while (file >> name >> key.digest >> key.hex) out[name] = key;
    return out;
  }();
  return keys;
}

std::string hex_of(const Bytes& bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out += kDigits[byte >> 4];
    out += kDigits[byte & 15];
  }
  return out;
}

void expect_golden(const std::string& name, const ActionKey& key) {
  SCOPED_TRACE(name);
  const auto found = golden_keys().find(name);
  ASSERT_NE(found, golden_keys().end());
  EXPECT_EQ(hex_of(key.bytes()), found->second.hex);
  EXPECT_EQ(key.digest().text(), found->second.digest);
}

TEST(GoldenKeys, HoldOneLineForEachKeyBelow) {
  EXPECT_EQ(golden_keys().size(), 15u);
}

TEST(GoldenKeys, KeysOfFieldsKeepTheirBytes) {
  const KeySubject cpu = test::cpu_subject(), gpu = test::gpu_subject(),
                   plain = test::plain_subject();
  expect_golden("validate/cpu",
                action_key("validate", validate_key(cpu.model, cpu.options, kBuilder)));
  expect_golden("validate/plain",
                action_key("validate", validate_key(plain.model, plain.options, kBuilder)));
  expect_golden("tune/cpu", action_key("tune", tune_key(cpu)));
  expect_golden("tune/gpu", action_key("tune", tune_key(gpu)));
  expect_golden("tune/plain", action_key("tune", tune_key(plain)));
  expect_golden("engine/cpu", action_key("engine", engine_key(cpu)));
  expect_golden("engine/gpu", action_key("engine", engine_key(gpu)));
  expect_golden("engine/provisional",
                action_key("engine", engine_key(test::provisional_subject())));
  expect_golden("engine/plain", action_key("engine", engine_key(plain)));
}

TEST(GoldenKeys, ChainedKeysKeepTheirBytes) {
  const Digest engine = action_key("engine", engine_key(test::cpu_subject())).digest();
  const NamedBlob choices{"choices", sha256("choices"), 7};
  const NamedBlob content{"content", sha256("content"), 8};
  expect_golden("assemble", chained_key("assemble", engine, {choices}));
  expect_golden("assemble/provisional", chained_key("assemble", engine, {}));
  expect_golden("verify", chained_key("verify", engine, {content, choices}));
  expect_golden("profile", chained_key("profile", engine, {choices, content}));
}

TEST(GoldenKeys, TimingKeysKeepTheirBytes) {
  expect_golden("timing-device",
                timing_device_key("sku=h200\nL2 Bytes=1\nl2 bytes=2\nname=A = B\nodd\n=empty\n\n"));
  expect_golden("timing-problem", timing_problem_key("conv x=f32[1,3,8,8] w=f32[4,3,3,3]"));
}

// The walk asks for keys by a step's row: the same bytes.
TEST(GoldenKeys, AStepsRowGivesItsKey) {
  const KeySubject cpu = test::cpu_subject();
  const std::vector<NamedText> validate = validate_key(cpu.model, cpu.options, kBuilder);
  const std::vector<NamedText> tune = tune_key(cpu), engine = engine_key(cpu);
  const KeyFields fields{validate, tune, engine};
  const std::vector<NamedBlob> choices = {{"choices", sha256("choices"), 7}};
  const std::vector<NamedBlob> both = {{"choices", sha256("choices"), 7},
                                       {"content", sha256("content"), 8}};
  expect_golden("validate/cpu", step_key(step_of(StepKind::validate), fields, {}));
  expect_golden("tune/cpu", step_key(step_of(StepKind::tune), fields, {}));
  expect_golden("assemble", step_key(step_of(StepKind::assemble), fields, choices));
  expect_golden("verify", step_key(step_of(StepKind::verify), fields, both));
  expect_golden("profile", step_key(step_of(StepKind::profile), fields, both));
  expect_golden("engine/cpu", step_key(step_of(StepKind::sign), fields, both));
  const KeyDigests digests = key_digests(fields);
  for (const Step& step : steps())
    EXPECT_EQ(step_key_digest(step, digests, both), step_key(step, fields, both).digest())
        << step.name;
}

}  // namespace
}  // namespace enginery
