#include "pipeline/keys.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

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

struct Change {
  const char* fact;
  std::function<void(KeySubject&)> apply;
  bool in_validate, in_tune, in_engine;
};

// Every fact of a build, and which keys have it. A new member of KeySubject or BuildOptions belongs
// here.
std::vector<Change> changes() {
  return {
      {"model", [](KeySubject& s) { s.model = sha256("other"); }, true, false, true},
      {"structure", [](KeySubject& s) { s.structure = sha256("other"); }, false, true, false},
      {"name", [](KeySubject& s) { s.name = "other"; }, false, false, true},
      {"sku", [](KeySubject& s) { s.sku = "cpu-avx"; }, false, true, true},
      {"toolchain value", [](KeySubject& s) { s.toolchain = "enginery=0.1.0;onednn=2.6.4"; }, false,
       true, true},
      {"toolchain fact", [](KeySubject& s) { s.toolchain += ";cudnn=9"; }, false, true, true},
      {"threads", [](KeySubject& s) { s.options.threads = 3; }, false, true, true},
      {"level", [](KeySubject& s) { s.options.level = 4; }, false, true, true},
      {"aux_streams", [](KeySubject& s) { s.options.aux_streams = 2; }, false, true, true},
      {"precisions", [](KeySubject& s) { s.options.precisions.insert(Precision::fp16); }, false,
       true, true},
      {"int8", [](KeySubject& s) { s.options.precisions.insert(Precision::int8); }, true, true,
       true},
      {"calibration", [](KeySubject& s) { s.options.calibration = sha256("scales").text(); }, true,
       true, true},
      {"calibrator", [](KeySubject& s) { s.options.calibrator = "mse"; }, true, false, true},
      {"layer_precisions",
       [](KeySubject& s) {
         s.options.layer_precisions = {{"conv1", Precision::fp32}};
       },
       true, false, true},
      {"calib_data", [](KeySubject& s) { s.options.calib_data = sha256("rows").text(); }, true,
       true, true},
      {"bias_correction", [](KeySubject& s) { s.options.bias_correction = true; }, true, false,
       true},
      {"held_out", [](KeySubject& s) { s.options.held_out = sha256("rows").text(); }, false, false,
       true},
      {"budget",
       [](KeySubject& s) {
         s.options.held_out = sha256("rows").text();
         s.options.max_accuracy_drop = "0.5";
         s.options.calibration = sha256("scales").text();
       },
       true, true, true},
      {"max_accuracy_drop", [](KeySubject& s) { s.options.max_accuracy_drop = "0.5"; }, false,
       false, true},
      {"shapes",
       [](KeySubject& s) {
         s.options.shapes["x"] = {1, 3, 8, 8};
       },
       true, false, true},
      {"skip_passes", [](KeySubject& s) { s.options.skip_passes.insert("fold"); }, true, false,
       true},
      {"without_sources", [](KeySubject& s) { s.options.without_sources.insert("onednn"); }, false,
       true, true},
      {"memory_pools", [](KeySubject& s) { s.options.memory_pools.workspace = 0; }, false, true,
       true},
      {"provisional", [](KeySubject& s) { s.options.provisional = true; }, false, false, true},
  };
}

TEST(ActionKeys, EveryFactOfABuildChangesItsKeysAndNoOther) {
  const KeySubject before = subject();
  for (const Change& change : changes()) {
    SCOPED_TRACE(change.fact);
    KeySubject after = subject();
    change.apply(after);
    EXPECT_EQ(validate_key(after.model, after.options, "b") !=
                  validate_key(before.model, before.options, "b"),
              change.in_validate);
    EXPECT_EQ(tune_key(after) != tune_key(before), change.in_tune);
    EXPECT_EQ(engine_key(after) != engine_key(before), change.in_engine);
  }
  EXPECT_NE(validate_key(before.model, before.options, "enginery 1"),
            validate_key(before.model, before.options, "enginery 2"));
}

Digest key_of(StepKind kind, const KeySubject& of) {
  const auto validate = validate_key(of.model, of.options, "b");
  const auto tune = tune_key(of), engine = engine_key(of);
  return step_key(step_of(kind), {validate, tune, engine}, {}).digest();
}

// What a calibration has seen is the answer to every build that calibrates the model on that data.
TEST(ActionKeys, ACalibrationHangsOnTheModelAndItsDataAlone) {
  KeySubject one = subject();
  one.options.calib_data = sha256("rows").text();
  one.options.calibrator = "mse";
  KeySubject same = one, other_data = one, other_model = one, with_means = one;
  with_means.options.bias_correction = true;
  same.options.calibrator = "entropy";
  same.options.skip_passes.insert("fold");
  same.options.held_out = sha256("others").text();
  same.options.max_accuracy_drop = "0.5";
  same.sku = "h200";
  other_data.options.calib_data = sha256("more rows").text();
  other_model.model = sha256("retrained");
  EXPECT_EQ(key_of(StepKind::calibrate, one), key_of(StepKind::calibrate, same));
  EXPECT_NE(key_of(StepKind::calibrate, one), key_of(StepKind::calibrate, other_data));
  EXPECT_NE(key_of(StepKind::calibrate, one), key_of(StepKind::calibrate, other_model));
  EXPECT_NE(key_of(StepKind::calibrate, one), key_of(StepKind::calibrate, with_means));
  EXPECT_NE(key_of(StepKind::mix, one), key_of(StepKind::mix, with_means));
  EXPECT_EQ(key_of(StepKind::tune, one), key_of(StepKind::tune, with_means))
      << "other biases measure nothing";
  KeySubject stricter = same;
  stricter.options.max_accuracy_drop = "0.1";
  EXPECT_NE(key_of(StepKind::mix, same), key_of(StepKind::mix, stricter));
  EXPECT_NE(key_of(StepKind::validate, same), key_of(StepKind::validate, stricter));
}

TEST(ActionKeys, ATuningAfterACalibrationHasAnOpenStructureAndNoData) {
  KeySubject one = subject();
  one.options.calib_data = sha256("rows").text();
  KeySubject other = one;
  other.options.calib_data = sha256("more rows").text();
  EXPECT_EQ(field(tune_key(one), "structure"), "");
  EXPECT_EQ(tune_key(one), tune_key(other)) << "new data measure nothing";
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

TEST(ActionKeys, ThreadsAreNoFactOfAGpu) {
  KeySubject gpu = subject();
  gpu.sku = "h200";
  gpu.cpu = false;
  EXPECT_EQ(field(engine_key(gpu), "threads"), "absent");
  EXPECT_EQ(field(tune_key(gpu), "threads"), "absent");
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

TEST(ActionKeys, AnotherTrustDomainIsAnotherKeyThroughout) {
  const std::vector<NamedText> fields = {{"a", "b"}};
  const KeyFields of_target{fields, fields, fields};
  for (const Step& step : steps())
    EXPECT_NE(step_key(step, of_target, {}, "local").digest(),
              step_key(step, of_target, {}, "other").digest())
        << step.name;
}

TEST(ActionKeys, TheStepsOfOneTargetHaveKeysOfTheirOwn) {
  const std::vector<NamedText> fields = {{"a", "b"}};
  const KeyDigests keys = key_digests({fields, fields, fields});
  std::vector<Digest> all;
  for (const Step& step : steps()) all.push_back(step_key_digest(step, keys, {}));
  std::sort(all.begin(), all.end());
  EXPECT_EQ(std::adjacent_find(all.begin(), all.end()), all.end());
}

TEST(ActionKeys, AChainedKeyFollowsFromTheEngineAndTheBlobsNotFromTheirSizes) {
  const NamedBlob small{"choices", sha256("a"), 1}, large{"choices", sha256("a"), 999};
  EXPECT_EQ(chained_key("verify", sha256("e"), {small}),
            chained_key("verify", sha256("e"), {large}));
  EXPECT_FALSE(chained_key("verify", sha256("e"), {small}) ==
               chained_key("verify", sha256("another"), {small}));
  EXPECT_FALSE(chained_key("verify", sha256("e"), {small}) ==
               chained_key("profile", sha256("e"), {small}));
}

TEST(ActionKeys, TakeAnyToolchainsText) {
  KeySubject odd = subject();
  odd.toolchain = ";;A B=1;a_b=2;=empty;alone;x=1=2;";
  const std::vector<NamedText> fields = engine_key(odd);
  EXPECT_EQ(field(fields, "toolchain.a_b"), "1");  // the first of two that read the same
  EXPECT_EQ(field(fields, "toolchain.alone"), "");
  EXPECT_EQ(field(fields, "toolchain.x"), "1=2");
  action_key("engine", fields);  // every name is valid and there once, or it aborts
}

TEST(TimingKeys, AreNamedByWhatIsInThem) {
  EXPECT_EQ(timing_device_key("").fields().size(), 2u);  // kind and trust domain only
  EXPECT_EQ(*timing_device_key("kind=x\n").find("kind"), "timing-device");
  EXPECT_EQ(*timing_device_key("kind=x\n").find("kind.2"), "x");
  EXPECT_EQ(*timing_problem_key("a\nb").find("problem"), "a\nb");
}

TEST(ActionKeys, TuningKnowsThatThereAreScalesAndNotWhich) {
  KeySubject one = subject(), other = subject();
  one.options.calibration = sha256("scales").text();
  other.options.calibration = sha256("of other data").text();
  EXPECT_EQ(tune_key(one), tune_key(other));
  EXPECT_EQ(field(engine_key(one), "calibration"), one.options.calibration);
  EXPECT_NE(engine_key(one), engine_key(other));
}

}  // namespace
}  // namespace enginery
