// Engine files that were edited and signed again with a key that is trusted here: whoever can sign
// is believed about nothing that the reader can check, and every verb that opens such a file says
// so with exit code 5.
#include <gtest/gtest.h>

#include "cli/command_line.h"
#include "engine/base/file.h"
#include "engine/data/npy.h"
#include "tests/cli/fake_console.h"
#include "tests/cli/temporary_home.h"
#include "tests/engine/format/small_engine.h"

namespace enginery {
namespace {

constexpr int64_t kFar = int64_t{1} << 40;

// Two steps of the reference over 1,024 floats: x -> a in the arena -> y.
Plan two_steps() {
  const TensorType type{DataType::float32, {32, 32}};
  Plan plan = test::one_step_plan(Activation{}, {type}, {type});
  plan.storages.push_back({StorageKind::arena, 4096, 0, 0, 1});
  plan.tensors.push_back({"a", type, {}, 2});
  plan.arena_bytes = 4096;
  plan.steps.push_back(plan.steps[0]);
  plan.steps[0].outputs = plan.steps[1].inputs = {2};
  return plan;
}

struct HostileEngine {
  std::string name;
  Plan plan;
  Manifest manifest;
  std::string reason;
};

HostileEngine edited(const std::string& name, Plan plan, const std::string& reason) {
  Manifest manifest = test::manifest_of(plan, "cpu-sse41");
  return {name, std::move(plan), std::move(manifest), reason};
}

std::vector<HostileEngine> hostile_engines() {
  std::vector<HostileEngine> out;
  Plan plan = two_steps();
  plan.storages[2].last_step = -1;
  plan.storages[2].offset = int64_t{1} << 44;
  out.push_back(edited("a dead storage far away", plan, "outside the arena"));
  plan.storages[2].offset = INT64_MAX - 4095;
  out.push_back(edited("a storage whose end overflows", plan, "outside the arena"));
  plan = two_steps();
  plan.tensors.push_back({"z", {DataType::float32, {1}}, {}, 1});
  plan.outputs = {3};
  out.push_back(edited("an output of one float that 1,024 are written to", plan,
                       "not its input's or output's"));
  out.push_back(edited("another number of outputs", two_steps(), "the manifest's outputs"));
  out.back().manifest.outputs.push_back(out.back().manifest.outputs[0]);
  const TensorType cube{DataType::float32, {2, 3, 4}}, row{DataType::float32, {2, 3}};
  out.push_back(edited("a permutation that points far away",
                       test::one_step_plan(Transpose{{1, 0, kFar}}, {cube}, {cube}), "transpose"));
  out.push_back(edited("a concat axis far away",
                       test::one_step_plan(Concat{kFar}, {row, row}, {row}), "concat"));
  return out;
}

Bytes signed_engine(const HostileEngine& engine, const SigningKey& key) {
  Bytes file = test::unsigned_engine(engine.plan, engine.manifest);
  return file + signature_trailer(sha256(file), key);
}

TEST(HostileEngine, IsExitCode5HoweverWellSigned) {
  const TemporaryHome home;
  const auto key = SigningKey::load_or_create(data_folder() / "keys" / "signing.key");
  ASSERT_TRUE(key.ok()) << key.error().message;
  const std::string file = home.file("hostile.engine"), input = home.file("x.npy");
  ASSERT_TRUE(write_npy(input, Tensor(DataType::float32, {32, 32})).ok());
  const auto run = [](const std::vector<std::string>& words, const std::string& reason) {
    FakeConsole fake;
    EXPECT_EQ(run_command_line(words, fake.console()), ExitCode::untrusted) << words[0];
    EXPECT_NE(fake.err().find(reason), std::string::npos) << words[0] << ": " << fake.err();
  };
  for (const HostileEngine& engine : hostile_engines()) {
    SCOPED_TRACE(engine.name);
    ASSERT_TRUE(write_file(file, signed_engine(engine, *key)).ok());
    run({"verify", file}, engine.reason);
    run({"inspect", file}, engine.reason);
    run({"run", file, "--input", input, "--output", home.file("out")}, engine.reason);
    run({"bench", file}, engine.reason);
  }
  FakeConsole fake;
  ASSERT_TRUE(write_file(file, signed_engine(edited("right", two_steps(), ""), *key)).ok());
  EXPECT_EQ(run_command_line({"run", file, "--input", input, "--output", home.file("out")},
                             fake.console()),
            ExitCode::ok)
      << fake.err();
}

}  // namespace
}  // namespace enginery
