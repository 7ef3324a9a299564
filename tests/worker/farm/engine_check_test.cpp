// What the farm signs: the engine that was assembled, with a provenance that it states itself, and
// nothing else that a worker uploads.
#include "worker/engine_check.h"

#include <gtest/gtest.h>

#include "engine/format/engine_reading.h"
#include "engine/format/statement.h"
#include "tests/engine/format/small_engine.h"
#include "tests/worker/farm_fixture.h"

namespace enginery {
namespace {

using namespace test;

const Digest kModel = sha256("model"), kKey = sha256("key");

Manifest manifest_for(const Digest& model, const std::string& sku) {
  Manifest manifest = small_manifest();
  manifest.model_digest = model.text();
  manifest.sku = sku;
  return manifest;
}

const Bytes kContent = *write_content(manifest_for(kModel, "cpu-avx2"), small_plan());
const UnsignedEngine kKnown{{}, sha256(kContent), kModel, kKey, "cpu-avx2", "host/cpu-avx2"};

Result<EngineToSign> check(const Bytes& file, const UnsignedEngine& engine = kKnown) {
  return check_engine(std::make_shared<const Bytes>(file), engine);
}

Bytes with_facts(const Properties& facts) {
  Provenance provenance = small_provenance();
  provenance.facts = facts;
  return kContent + *write_provenance(provenance);
}

TEST(CheckEngine, StatesTheProvenanceAnewAndKeepsWhatWasMeasured) {
  const Bytes file = with_facts({{"built", "today"},
                                 {"worker", "somebody else"},
                                 {"model", "sha256:of something else"},
                                 {"key", "sha256:of something else"}});
  const auto accepted = check(file);
  ASSERT_TRUE(accepted.ok()) << accepted.error().message;
  EXPECT_EQ(accepted->content_bytes, kContent.size());
  const auto engine = read_unsigned_engine(
      std::make_shared<const Bytes>(file.substr(0, kContent.size()) + accepted->provenance));
  ASSERT_TRUE(engine.ok()) << engine.error().message;
  EXPECT_EQ(engine->provenance.facts, (Properties{{"built", "today"},
                                                  {"content", sha256(kContent).text()},
                                                  {"model", kModel.text()},
                                                  {"key", kKey.text()},
                                                  {"worker", "host/cpu-avx2"}}));
  EXPECT_EQ(engine->provenance.step_us, small_provenance().step_us);
  EXPECT_EQ(engine->provenance.median_us, small_provenance().median_us);
}

TEST(CheckEngine, StatesWhereTheEngineComesFromInTheNameOfTheKeyThatSigns) {
  Provenance provenance = small_provenance();
  provenance.statement = "a worker's own statement";
  const SigningKey key = SigningKey::generate();
  UnsignedEngine engine = kKnown;
  engine.signer = key_id(key.public_key());
  const auto accepted = check(kContent + *write_provenance(provenance), engine);
  ASSERT_TRUE(accepted.ok()) << accepted.error().message;
  const Bytes body = kContent + accepted->provenance;
  const auto read =
      read_engine(std::make_shared<const Bytes>(body + signature_trailer(sha256(body), key)),
                  {{key.public_key()}});
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_TRUE(check_statement(*read).ok()) << check_statement(*read).error().message;
  EXPECT_NE(read->provenance.statement.find(engine.signer), std::string::npos);
  EXPECT_EQ(read->provenance.statement.find("a worker's own"), std::string::npos);
}

TEST(CheckEngine, LetsTheKeyVouchForTheFrontToo) {
  const auto accepted = check(with_facts({}));
  ASSERT_TRUE(accepted.ok()) << accepted.error().message;
  const Bytes before = kContent + accepted->provenance;
  const SigningKey key = SigningKey::generate();
  EXPECT_EQ(*accepted->with_key(as_bytes(before), key),
            *front_signature_section(as_bytes(before), key));
}

TEST(CheckEngine, WhatWasAskedForAndCalibratedOnIsNotTheWorkersToSay) {
  UnsignedEngine engine = kKnown;
  engine.facts = {{"requested.precisions", "fp32,int8"}, {"calibration.data", "sha256:rows"}};
  const Bytes file = with_facts({{"calibration", "sha256:scales"},
                                 {"calibration.data", "sha256:of something else"},
                                 {"calibration.seed", "7"},
                                 {"requested.precisions", "fp32"}});
  const auto accepted = check(file, engine);
  ASSERT_TRUE(accepted.ok()) << accepted.error().message;
  const auto read = read_unsigned_engine(
      std::make_shared<const Bytes>(file.substr(0, kContent.size()) + accepted->provenance));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->provenance.facts, (Properties{{"calibration", "sha256:scales"},
                                                {"content", sha256(kContent).text()},
                                                {"model", kModel.text()},
                                                {"key", kKey.text()},
                                                {"worker", "host/cpu-avx2"},
                                                {"requested.precisions", "fp32,int8"},
                                                {"calibration.data", "sha256:rows"}}));
}

TEST(CheckEngine, NamesNoWorkerWhereNoneIsKnown) {
  UnsignedEngine engine = kKnown;
  engine.worker.clear();
  const auto accepted = check(with_facts({{"worker", "somebody"}}), engine);
  ASSERT_TRUE(accepted.ok());
  EXPECT_EQ(accepted->provenance.find("somebody"), Bytes::npos);
}

TEST(CheckEngine, RefusesWhatIsNotTheEngineThatWasAskedFor) {
  const Bytes provenance = *write_provenance(small_provenance());
  const auto engine_of = [&](const Digest& model, const std::string& sku) {
    return *write_content(manifest_for(model, sku), small_plan());
  };
  const Bytes other_model = engine_of(sha256("another"), "cpu-avx2"),
              other_sku = engine_of(kModel, "cpu-sse41");
  UnsignedEngine of_other_model = kKnown, of_other_sku = kKnown;
  of_other_model.content = sha256(other_model);
  of_other_sku.content = sha256(other_sku);
  const struct {
    const char* what;
    Bytes file;
    UnsignedEngine known;
    const char* reason;
  } forgeries[] = {
      {"a script", "#!/bin/sh\nrm -rf ~\n", kKnown, "left no engine"},
      {"an engine and a script", kContent + provenance + "#!/bin/sh\n", kKnown, "left no engine"},
      {"half an engine", kContent.substr(0, kContent.size() / 2), kKnown, "left no engine"},
      {"another engine", other_model + provenance, kKnown, "is not the one that was built"},
      {"another model's, assembled so", other_model + provenance, of_other_model, "another model"},
      {"another SKU's, assembled so", other_sku + provenance, of_other_sku, "for 'cpu-sse41'"},
  };
  for (const auto& forgery : forgeries) {
    const auto refused = check(forgery.file, forgery.known);
    ASSERT_FALSE(refused.ok()) << forgery.what;
    EXPECT_EQ(refused.error().code, ErrorCode::untrusted) << forgery.what;
    EXPECT_NE(refused.error().message.find("worker host/cpu-avx2"), std::string::npos)
        << refused.error().message;
    EXPECT_NE(refused.error().message.find(forgery.reason), std::string::npos)
        << refused.error().message;
  }
}

// A peer that says that it is a worker, and uploads what it likes as the steps' outputs.
class Forger {
 public:
  Forger(const SmallFarm& farm, Bytes content, Bytes unsigned_engine, const Digest& structure)
      : client_(farm.client()), structure_(structure) {
    blobs_ = {{"tune", {"choices", "any"}},
              {"assemble", {"content", std::move(content)}},
              {"profile", {"unsigned", std::move(unsigned_engine)}}};
    sync_.worker = "forger";
    sync_.incarnation = 1;
    sync_.sku = "cpu-avx2";
    sync_.kind = "cpu";
    sync_.device = "none";
  }
  // Serves until the job has ended; its only target.
  TargetView serve(const SubmitRequest& submit) {
    auto job = client_->submit(submit, make_request_id());
    EXPECT_TRUE(job.ok()) << job.error().message;
    for (int i = 0; i < 200 && job.ok() && !is_end(job->state); ++i) {
      turn();
      job = client_->show(job->id);
    }
    return job.ok() && !job->targets.empty() ? job->targets[0] : TargetView{};
  }

 private:
  void turn() {
    ++sync_.sequence;
    const auto reply = client_->sync(sync_);
    ASSERT_TRUE(reply.ok()) << reply.error().message;
    if (std::holds_alternative<BeIdle>(reply->desired)) sync_.state = Idle{};
    const auto* run = std::get_if<RunStep>(&reply->desired);
    if (run == nullptr) return;
    Outcome outcome;
    if (run->kind == "validate") outcome.facts = {{"structure", structure_.text()}};
    if (const auto blob = blobs_.find(run->kind); blob != blobs_.end()) {
      const Bytes& bytes = blob->second.second;
      outcome.outputs.push_back(
          {blob->second.first, *client_->put_blob(as_bytes(bytes)), bytes.size()});
    }
    sync_.state = Finished{run->ref, std::move(outcome)};
  }

  std::unique_ptr<Client> client_;
  const Digest structure_;
  std::map<std::string, std::pair<std::string, Bytes>> blobs_;
  SyncRequest sync_;
};

// The farm's key vouches for none of it; the same worker with an honest engine is served.
TEST(CheckEngine, AFarmSignsNoForgedEngine) {
  const Bytes model_bytes = "a model that the forger alone reads";
  const Bytes honest = *write_content(manifest_for(sha256(model_bytes), "cpu-avx2"), small_plan());
  const Bytes provenance = *write_provenance(small_provenance());
  const struct {
    Bytes unsigned_engine;
    bool is_signed;
  } uploads[] = {{"#!/bin/sh\necho owned\n", false},
                 {kContent + provenance, false},
                 {honest + provenance, true}};
  for (const auto& upload : uploads) {
    const SmallFarm farm(check_engine);
    const SubmitSpec spec{model_bytes, sha256("structure"), "cpu-avx2"};
    auto client = farm.client();
    Forger forger(farm, honest, upload.unsigned_engine, spec.structure);
    const TargetView target = forger.serve(make_submit(*client, spec));
    EXPECT_EQ(target.engine.has_value(), upload.is_signed);
    if (upload.is_signed) continue;
    EXPECT_EQ(target.state, TargetState::failed);
    ASSERT_TRUE(target.fault);
    EXPECT_EQ(target.fault->code, ErrorCode::untrusted) << target.fault->message;
    EXPECT_NE(target.fault->message.find("worker forger left"), std::string::npos)
        << target.fault->message;
  }
}

}  // namespace
}  // namespace enginery
