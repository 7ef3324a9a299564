#include "cli/farm/submission.h"

#include <gtest/gtest.h>

#include "tests/cli/fake_console.h"
#include "tests/support/fake_coordinator.h"

namespace enginery {
namespace {

const std::string kExampleModel =
    std::string(ENGINERY_SOURCE_DIR) + "/deploy/examples/shapes/shapes.onnx";

const PackedModel kPacked{"net.onnx", "net", "bytes", sha256("bytes")};

LoadedModel loaded() {
  LoadedModel model;
  model.structure_digest = sha256("structure");
  return model;
}

SubmitRequest request_for(const SubmitOptions& submit, const std::vector<SkuView>& skus,
                          const BuildOptions& options = {}) {
  return make_submit_request(kPacked, loaded(), options, submit, skus);
}

std::string field(const std::vector<NamedText>& fields, const std::string& name) {
  for (const NamedText& one : fields) {
    if (one.name == name) return one.value;
  }
  return "(no field " + name + ")";
}

SkuView sku_of_farm(const std::string& sku, const std::string& toolchain) {
  SkuView view;
  view.sku = sku;
  view.toolchain = toolchain;
  return view;
}

TEST(SubmitRequest, CarriesTheModelTheOptionsAndOneTargetForEachSku) {
  SubmitOptions submit;
  submit.targets = {"p4", "cpu-avx2"};
  submit.tags = {"prod"};
  submit.priority = 7;
  submit.rebuild = submit.wait_for_workers = submit.dry_run = true;
  BuildOptions options;
  options.level = 2;
  options.threads = 3;
  const SubmitRequest request = request_for(submit, {}, options);
  EXPECT_EQ(request.name, "net");
  EXPECT_EQ(request.model_name, "net.onnx");
  EXPECT_EQ(request.model, kPacked.digest);
  EXPECT_EQ(request.options, to_text(options));
  EXPECT_EQ(request.tags, submit.tags);
  EXPECT_EQ(request.priority, 7);
  EXPECT_TRUE(request.rebuild && request.wait_for_workers && request.dry_run);
  ASSERT_EQ(request.targets.size(), 2u);
  EXPECT_EQ(request.targets[0].sku, "p4");
  EXPECT_EQ(field(request.targets[1].engine_key, "threads"), "3");
  EXPECT_EQ(field(request.targets[0].engine_key, "threads"), "(no field threads)")
      << "a GPU has no use for them";
}

TEST(SubmitRequest, ATargetsKeysNameTheToolchainOfItsWorkers) {
  SubmitOptions submit;
  submit.targets = {"p4", "h200"};
  const SubmitRequest request = request_for(submit, {sku_of_farm("p4", "enginery=9.9;cudnn=8.1")});
  EXPECT_EQ(request.targets[0].toolchain, "enginery=9.9;cudnn=8.1");
  EXPECT_EQ(field(request.targets[0].engine_key, "toolchain.cudnn"), "8.1");
  EXPECT_EQ(request.targets[1].toolchain, "") << "no worker: this program's own";
  EXPECT_NE(field(request.targets[1].engine_key, "toolchain.enginery"), "9.9");
}

TEST(SubmitRequest, OnlyTargetsWithoutWorkersAreProvisional) {
  SubmitOptions submit;
  submit.targets = {"p4", "h200"};
  submit.provisional = true;
  const SubmitRequest request = request_for(submit, {sku_of_farm("p4", "t=1")});
  EXPECT_FALSE(request.targets[0].provisional);
  EXPECT_FALSE(request.targets[0].tune_key.empty());
  EXPECT_TRUE(request.targets[1].provisional);
  EXPECT_TRUE(request.targets[1].tune_key.empty()) << "an untuned engine is not tuned";
  EXPECT_NE(field(request.targets[0].engine_key, "provisional"),
            field(request.targets[1].engine_key, "provisional"));
}

TEST(SubmitRequest, TheTuningKeyHasNoWeights) {
  SubmitOptions submit;
  submit.targets = {"p4"};
  PackedModel retrained = kPacked;
  retrained.digest = sha256("other weights");
  const SubmitRequest first = request_for(submit, {});
  const SubmitRequest second = make_submit_request(retrained, loaded(), {}, submit, {});
  EXPECT_EQ(first.targets[0].tune_key, second.targets[0].tune_key);
  EXPECT_NE(first.targets[0].engine_key, second.targets[0].engine_key);
}

// A farm on which job 1 fails; `has_model` says whether it still has the model then. Job 2 ends
// done.
struct LossyFarm {
  explicit LossyFarm(bool has_model) : has_model_(has_model) {}
  Body operator()(const Body& request) {
    if (const auto* has = std::get_if<HasBlobs>(&request))
      return BlobStates{{{has->digests.at(0), has_model_, 0, 0}}};
    if (const auto* put = std::get_if<PutBlob>(&request)) {
      ++uploads;
      return PutReply{put->size_bytes, true};
    }
    if (std::holds_alternative<SubmitRequest>(request)) return JobReply{job(2, JobState::done)};
    return JobReply{job(1, JobState::failed)};
  }
  static JobView job(uint64_t number, JobState state) {
    JobView view;
    view.id = "j" + std::to_string(number);
    view.state = state;
    return view;
  }
  int uploads = 0;

 private:
  bool has_model_;
};

TEST(FollowSubmission, SendsAModelAgainThatTheFarmHasLost) {
  for (const bool has_model : {true, false}) {
    LossyFarm farm(has_model);
    const auto client = client_of([&](const Body& request) { return farm(request); });
    FakeConsole fake;
    const auto ended = follow_submission(*client, kPacked, request_for({}, {}),
                                         LossyFarm::job(1, JobState::running), {}, fake.console());
    ASSERT_TRUE(ended.ok()) << ended.error().message;
    EXPECT_EQ(ended->id, has_model ? "j1" : "j2") << "a job that failed by itself is left alone";
    EXPECT_EQ(farm.uploads, has_model ? 0 : 1);
    EXPECT_EQ(fake.err().find("lost the model") == std::string::npos, has_model) << fake.err();
  }
}

TEST(PackedModel, IsNamedByItsBytesAndItsFile) {
  const auto packed = pack_model_file(kExampleModel, "");
  ASSERT_TRUE(packed.ok()) << packed.error().message;
  EXPECT_EQ(packed->file, "shapes.onnx");
  EXPECT_EQ(packed->name, "shapes");
  EXPECT_EQ(packed->digest, sha256(packed->bytes));
  EXPECT_EQ(pack_model_file(kExampleModel, "my net")->name, "my_net");
  EXPECT_EQ(pack_model_file("no.onnx", "").error().code, ErrorCode::not_found);
}

TEST(PackedModel, LoadingItPrintsWhatWasAssumed) {
  FakeConsole fake;
  const auto packed = pack_model_file(kExampleModel, "");
  ASSERT_TRUE(packed.ok());
  const auto model = load_packed(*packed, {}, fake.console());
  ASSERT_TRUE(model.ok()) << model.error().message;
  EXPECT_EQ(model->model_digest, packed->digest);
  EXPECT_NE(fake.err().find("N = 1"), std::string::npos) << fake.err();
  PackedModel broken = *packed;
  broken.bytes = "no model";
  EXPECT_EQ(load_packed(broken, {}, fake.console()).error().code, ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace enginery
