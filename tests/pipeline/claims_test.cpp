// Keys that say something else than what is asked for: each would keep one build's result as the
// answer to another.
#include "pipeline/claims.h"

#include <gtest/gtest.h>

#include <functional>

#include "engine/options/target_options.h"
#include "tests/pipeline/key_subject.h"

namespace enginery {
namespace {

// What an honest client sends for the subject.
SubmitRequest honest(const KeySubject& subject, bool provisional = false) {
  SubmitRequest submit;
  submit.name = subject.name;
  submit.model = subject.model;
  submit.options = to_text(subject.options);
  submit.validate_key = validate_key(subject.model, subject.options, "enginery 9");
  TargetRequest target;
  target.sku = subject.sku;
  target.provisional = provisional;
  target.engine_key = engine_key(subject);
  if (!provisional) target.tune_key = tune_key(subject);
  submit.targets = {target};
  return submit;
}

RunStep step_for(const SubmitRequest& submit, const std::string& kind) {
  RunStep run;
  run.kind = kind;
  run.sku = kind == "validate" ? "" : submit.targets[0].sku;
  run.name = submit.name;
  run.model = submit.model;
  run.options = submit.options;
  run.provisional = kind != "validate" && submit.targets[0].provisional;
  for (const NamedText& field : submit.targets[0].engine_key)
    run.facts.push_back({"key." + field.name, field.value});
  return run;
}

NamedText& field(std::vector<NamedText>& key, const std::string& name) {
  for (NamedText& f : key)
    if (f.name == name) return f;
  ADD_FAILURE() << "no field " << name;
  return key.front();
}

TEST(Claims, OfAnHonestSubmitHold) {
  for (const KeySubject& subject : {test::cpu_subject(), test::gpu_subject()}) {
    const SubmitRequest submit = honest(subject);
    const Status held = check_claims(submit);
    EXPECT_TRUE(held.ok()) << held.error().message;
    for (const char* kind : {"validate", "tune", "profile"}) {
      const Status run = check_claims(step_for(submit, kind));
      EXPECT_TRUE(run.ok()) << kind << ": " << run.error().message;
    }
  }
  const SubmitRequest untuned = honest(test::provisional_subject(), true);
  EXPECT_TRUE(check_claims(untuned).ok());
  EXPECT_TRUE(check_claims(step_for(untuned, "assemble")).ok());
}

struct Lie {
  const char* field;  // which the refusal names
  std::function<void(SubmitRequest&)> tell;
};

const Lie kLies[] = {
    {"model", [](SubmitRequest& s) { s.model = sha256("another model under the same keys"); }},
    {"model", [](SubmitRequest& s) { field(s.validate_key, "model").value = "sha256:00"; }},
    {"model", [](SubmitRequest& s) { std::erase(s.validate_key, s.validate_key[0]); }},
    {"name", [](SubmitRequest& s) { s.name = "another"; }},
    {"sku", [](SubmitRequest& s) { s.targets[0].sku = "cpu-sse41"; }},
    {"sku", [](SubmitRequest& s) { field(s.targets[0].tune_key, "sku").value = "h200"; }},
    {"structure",
     [](SubmitRequest& s) {
       std::erase(s.targets[0].tune_key, field(s.targets[0].tune_key, "structure"));
     }},
    {"level", [](SubmitRequest& s) { field(s.targets[0].engine_key, "level").value = "5"; }},
    {"level", [](SubmitRequest& s) { field(s.targets[0].tune_key, "level").value = "5"; }},
    {"precisions",
     [](SubmitRequest& s) { field(s.targets[0].engine_key, "precisions").value = "fp16"; }},
    {"shapes", [](SubmitRequest& s) { field(s.validate_key, "shapes").value = "x:9"; }},
    {"skip_passes", [](SubmitRequest& s) { field(s.validate_key, "skip_passes").value = "fold"; }},
    {"threads", [](SubmitRequest& s) { field(s.targets[0].tune_key, "threads").value = "99"; }},
    {"provisional",
     [](SubmitRequest& s) { field(s.targets[0].engine_key, "provisional").value = "true"; }},
};

TEST(Claims, OfASubmitThatLiesAreRefusedByTheFieldsName) {
  for (const Lie& lie : kLies) {
    SubmitRequest submit = honest(test::cpu_subject());
    lie.tell(submit);
    const Status refused = check_claims(submit);
    ASSERT_FALSE(refused.ok()) << lie.field;
    EXPECT_EQ(refused.error().code, ErrorCode::usage);
    EXPECT_NE(refused.error().message.find(lie.field), std::string::npos)
        << refused.error().message;
  }
}

TEST(Claims, OptionsThatNobodyCanReadAreRefused) {
  SubmitRequest submit = honest(test::cpu_subject());
  submit.options = "what?";
  EXPECT_EQ(check_claims(submit).error().code, ErrorCode::usage);
}

TEST(Claims, AFieldThatThisProgramDoesNotKnowIsAnotherKey) {
  SubmitRequest submit = honest(test::cpu_subject());
  submit.targets[0].engine_key.push_back({"of_a_newer_program", "1"});
  EXPECT_TRUE(check_claims(submit).ok());
}

TEST(Claims, AWorkerTakesNoStepWhoseKeyIsOfAnother) {
  const RunStep run = step_for(honest(test::cpu_subject()), "assemble");
  EXPECT_TRUE(check_claims(run).ok());
  RunStep other_model = run, other_level = run, other_sku = run;
  other_model.model = sha256("another");
  other_sku.sku = "cpu-sse41";
  for (NamedText& fact : other_level.facts)
    if (fact.name == "key.level") fact.value = "5";
  for (const RunStep& lie : {other_model, other_level, other_sku})
    EXPECT_EQ(check_claims(lie).error().code, ErrorCode::untrusted);
}

TEST(Claims, TheCalibrationThatComesWithABuildIsTheOneItNames) {
  KeySubject subject = test::cpu_subject();
  subject.options.calibration = sha256("scales").text();
  SubmitRequest submit = honest(subject);
  EXPECT_EQ(check_claims(submit).error().code, ErrorCode::usage);
  submit.inputs = {{"calibration", sha256("scales"), 6}};
  EXPECT_TRUE(check_claims(submit).ok());
  RunStep run = step_for(submit, "assemble");
  EXPECT_EQ(check_claims(run).error().code, ErrorCode::untrusted);
  run.inputs = submit.inputs;
  EXPECT_TRUE(check_claims(run).ok());
  run.inputs[0].digest = sha256("others");
  EXPECT_EQ(check_claims(run).error().code, ErrorCode::untrusted);
}

TEST(Claims, AKeyThatLacksTheDataOfItsBuildIsRefused) {
  KeySubject subject = test::cpu_subject();
  subject.options.calib_data = sha256("rows").text();
  subject.options.calibrator = "mse";
  SubmitRequest submit = honest(subject);
  EXPECT_EQ(check_claims(submit).error().code, ErrorCode::usage) << "it comes without the data";
  submit.inputs = {{"calib_data", sha256("rows"), 6}};
  EXPECT_TRUE(check_claims(submit).ok()) << check_claims(submit).error().message;
  RunStep run = step_for(submit, "assemble");
  run.inputs = submit.inputs;
  run.inputs.push_back({"calibration", sha256("what the step left"), 7});
  EXPECT_TRUE(check_claims(run).ok());
  std::erase_if(submit.validate_key, [](const NamedText& f) { return f.name == "calib_data"; });
  const auto refused = check_claims(submit);
  ASSERT_FALSE(refused.ok()) << "its calibration would be that of any data";
  EXPECT_NE(refused.error().message.find("calib_data"), std::string::npos);
  subject.options.bias_correction = true;
  submit = honest(subject);
  submit.inputs = run.inputs;
  submit.inputs.pop_back();
  EXPECT_TRUE(check_claims(submit).ok()) << check_claims(submit).error().message;
  std::erase_if(submit.targets[0].engine_key,
                [](const NamedText& f) { return f.name == "bias_correction"; });
  EXPECT_FALSE(check_claims(submit).ok()) << "the engine would be the one without the correction";
}

TEST(Claims, TheHeldOutRowsThatComeWithABuildAreThoseItNames) {
  KeySubject subject = test::cpu_subject();
  subject.options.held_out = sha256("rows").text();
  SubmitRequest submit = honest(subject);
  EXPECT_EQ(check_claims(submit).error().code, ErrorCode::usage);
  submit.inputs = {{"held_out", sha256("easier rows"), 6}};
  EXPECT_EQ(check_claims(submit).error().code, ErrorCode::usage);
  submit.inputs = {{"held_out", sha256("rows"), 6}};
  EXPECT_TRUE(check_claims(submit).ok());
  RunStep run = step_for(submit, "profile");
  EXPECT_EQ(check_claims(run).error().code, ErrorCode::untrusted);
  run.inputs = submit.inputs;
  EXPECT_TRUE(check_claims(run).ok());
}

}  // namespace
}  // namespace enginery
