#include "coordinator/server/server.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>

#include "cache/catalog.h"
#include "cache/verify.h"
#include "engine/base/signed_file.h"
#include "tests/coordinator/farm_fixture.h"

namespace enginery {
namespace {

using std::chrono::milliseconds;

// Submits a model, uploading it first; aborts the test on an error.
JobView submit(Client& client, const std::string& model, SubmitRequest request,
               RequestId id = make_request_id()) {
  const Result<Digest> uploaded = client.put_blob(as_bytes(model));
  EXPECT_TRUE(uploaded.ok()) << uploaded.error().message;
  Result<JobView> job = client.submit(request, id);
  EXPECT_TRUE(job.ok()) << job.error().message;
  return job.ok() ? std::move(*job) : JobView{};
}

void wait_for_sku(Client& client, size_t count) {
  for (int i = 0; i < 500; ++i) {
    const auto skus = client.skus();
    if (skus.ok() && skus->size() >= count) return;
    std::this_thread::sleep_for(milliseconds(10));
  }
  FAIL() << "no worker came";
}

uint64_t most_commits(const JobView& job) {
  uint64_t most = 0;
  for (const StepView& step : job.steps) most = std::max(most, step.commits);
  return most;
}

TEST(Server, BuildsSignsAndServesAnEngineForEachTarget) {
  Farm farm;
  const FakeWorker a(farm, "a", "cpu-avx2"), b(farm, "b", "cpu-sse41");
  const auto client = farm.client();
  wait_for_sku(*client, 2);
  const JobView job = submit(*client, "model 1", make_submit("model 1", {"cpu-avx2", "cpu-sse41"}));
  const Result<JobView> end = wait_for_end(*client, job.id);
  ASSERT_TRUE(end.ok()) << end.error().message;
  ASSERT_EQ(end->state, JobState::done);
  const Result<TrustStore> trust = TrustStore::load(farm.options().data / "keys");
  ASSERT_TRUE(trust.ok());
  for (const TargetView& target : end->targets) {
    EXPECT_EQ(target.source, Source::built);
    EXPECT_EQ(target.timings_measured, 12u);
    EXPECT_EQ(target.latency_ms, 1.5);
    ASSERT_TRUE(target.engine);
    const Result<Bytes> engine = client->get_blob(*target.engine);
    ASSERT_TRUE(engine.ok()) << engine.error().message;
    EXPECT_EQ(engine->size(), target.size_bytes);
    EXPECT_TRUE(check_signature(as_bytes(*engine), *trust).ok());
  }
  const Result<JobView> shown = client->show(job.id);
  EXPECT_EQ(shown->steps.size(), 11u);  // validate once, five for each target
  EXPECT_EQ(most_commits(*shown), 1u);
  const auto found = client->find_engines({"net", "", "cpu-avx2", 10});
  ASSERT_TRUE(found.ok());
  ASSERT_EQ(found->size(), 1u);
  EXPECT_EQ(found->at(0).precision, "fp32");
}

// A worker is no authority: what it left is read before the coordinator puts its name to it.
TEST(Server, SignsNothingThatTheEnginesReaderRefuses) {
  std::atomic<int> asked = 0;
  const Farm farm(
      [&](const std::shared_ptr<const Bytes>& file, const UnsignedEngine&) -> Result<EngineToSign> {
        ++asked;
        return Error{ErrorCode::untrusted, "this is not an engine: " + *file};
      });
  const FakeWorker worker(farm, "a", "cpu-avx2");
  const auto client = farm.client();
  wait_for_sku(*client, 1);
  const JobView job = submit(*client, "model 1", make_submit("model 1", {"cpu-avx2"}));
  const Result<JobView> end = wait_for_end(*client, job.id);
  ASSERT_TRUE(end.ok()) << end.error().message;
  EXPECT_EQ(end->state, JobState::failed);
  EXPECT_EQ(asked, 1) << "what is no engine will not become one";
  const Result<JobView> shown = client->show(job.id);
  ASSERT_TRUE(shown.ok());
  const StepView& sign = shown->steps.back();
  ASSERT_FALSE(sign.attempts.empty());
  EXPECT_EQ(sign.attempts.back().message.find("sign: this is not an engine: unsigned of "), 0u)
      << sign.attempts.back().message;
  EXPECT_FALSE(shown->targets.at(0).engine);
}

TEST(Server, AnswersFinishedWorkWithoutAnyWorker) {
  Farm farm;
  {
    const FakeWorker worker(farm, "a", "cpu-avx2");
    const auto client = farm.client();
    wait_for_sku(*client, 1);
    ASSERT_EQ(
        must(wait_for_end(*client, submit(*client, "m", make_submit("m", {"cpu-avx2"})).id)).state,
        JobState::done);
  }
  farm.stop();
  farm.start();
  const auto client = farm.client();
  const JobView job = submit(*client, "m", make_submit("m", {"cpu-avx2"}));
  EXPECT_EQ(job.state, JobState::done);
  EXPECT_EQ(job.targets.at(0).source, Source::cache);
  EXPECT_EQ(job.targets.at(0).timings_measured, 0u);
  EXPECT_EQ(job.targets.at(0).timings_reused, 15u);
}

TEST(Server, OtherWeightsMeasureNothingAndWhyMissNamesTheField) {
  Farm farm;
  const FakeWorker worker(farm, "a", "cpu-avx2");
  const auto client = farm.client();
  wait_for_sku(*client, 1);
  ASSERT_EQ(
      must(wait_for_end(*client, submit(*client, "m1", make_submit("m1", {"cpu-avx2"})).id)).state,
      JobState::done);
  const JobView job = submit(*client, "m2", make_submit("m2", {"cpu-avx2"}));
  const JobView end = must(wait_for_end(*client, job.id));
  ASSERT_EQ(end.state, JobState::done);
  EXPECT_EQ(end.targets[0].source, Source::built);
  EXPECT_EQ(end.targets[0].timings_measured, 0u);
  const auto misses = client->why_miss(job.id);
  ASSERT_TRUE(misses.ok()) << misses.error().message;
  ASSERT_EQ(misses->at(0).differs.size(), 1u);
  EXPECT_EQ(misses->at(0).differs[0].field, "model");
}

TEST(Server, TheSameRequestIsTheSameJob) {
  Farm farm;
  const auto client = farm.client();
  SubmitRequest request = make_submit("m", {"cpu-avx2"});
  request.wait_for_workers = true;
  const RequestId id = make_request_id();
  const JobView first = submit(*client, "m", request, id);
  EXPECT_EQ(submit(*client, "m", request, id).id, first.id);
  farm.stop();
  farm.start();
  EXPECT_EQ(submit(*client, "m", request, id).id, first.id);
  EXPECT_EQ(client->jobs(10)->size(), 1u);
}

TEST(Server, RefusesWhatCannotRun) {
  Farm farm;
  const auto client = farm.client();
  ASSERT_TRUE(client->put_blob(as_bytes("m")).ok());
  const Result<JobView> unknown = client->submit(make_submit("m", {"h200"}), make_request_id());
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().code, ErrorCode::usage);
  EXPECT_NE(unknown.error().message.find("--wait-for-workers"), std::string::npos);
  SubmitRequest no_model = make_submit("never uploaded", {"h200"});
  no_model.wait_for_workers = true;
  EXPECT_EQ(client->submit(no_model, make_request_id()).error().code, ErrorCode::not_found);
  EXPECT_EQ(client->show("j99").error().code, ErrorCode::not_found);
  EXPECT_EQ(client->find_engines({"nothing"}).error().code, ErrorCode::not_found);
}

TEST(Server, CarriesTheJobOverARestart) {
  Farm farm;
  auto worker =
      std::make_unique<FakeWorker>(farm, "a", "cpu-avx2", [](Client& client, const RunStep& run) {
        std::this_thread::sleep_for(milliseconds(100));
        return pretend(client, run);
      });
  const auto client = farm.client();
  wait_for_sku(*client, 1);
  const JobView job = submit(*client, "m", make_submit("m", {"cpu-avx2"}));
  for (int i = 0; i < 5; ++i) {
    std::this_thread::sleep_for(milliseconds(70));
    farm.stop();
    farm.start();
  }
  const Result<JobView> end = wait_for_end(*client, job.id);
  ASSERT_TRUE(end.ok()) << end.error().message;
  EXPECT_EQ(end->state, JobState::done);
  const Result<JobView> shown = client->show(job.id);
  EXPECT_EQ(most_commits(*shown), 1u);
  worker.reset();
  farm.stop();
  Result<std::unique_ptr<Catalog>> catalog = Catalog::open(farm.options().data);
  ASSERT_TRUE(catalog.ok());
  const Result<VerifyReport> report = verify(**catalog);
  ASSERT_TRUE(report.ok());
  EXPECT_TRUE(report->clean());
}

TEST(Server, CancelsAndTellsTheWorker) {
  Farm farm;
  const auto client = farm.client();
  SubmitRequest request = make_submit("m", {"cpu-avx2"});
  request.wait_for_workers = true;
  const JobView job = submit(*client, "m", request);
  const Result<JobView> cancelled = client->cancel(job.id);
  ASSERT_TRUE(cancelled.ok());
  EXPECT_EQ(cancelled->state, JobState::cancelled);
  const FakeWorker worker(farm, "a", "cpu-avx2");
  wait_for_sku(*client, 1);
  EXPECT_EQ(worker.steps(), 0);
}

TEST(Server, KeepsAndFollowsLogs) {
  Farm farm;
  const FakeWorker worker(
      farm, "a", "cpu-avx2", [](Client& client, const RunStep& run) -> Result<Outcome> {
        TRY(const uint64_t next, client.append_log(run.ref, 0, "begin\n"));
        TRY(const uint64_t end, client.append_log(run.ref, next, "end\n"));
        TRY(const uint64_t again,
            client.append_log(run.ref, 0, "begin\n"));  // a repetition adds nothing
        EXPECT_EQ(again, end);
        return pretend(client, run);
      });
  const auto client = farm.client();
  wait_for_sku(*client, 1);
  const JobView job = submit(*client, "m", make_submit("m", {"cpu-avx2"}));
  std::string text;
  uint64_t offset = 0;
  while (true) {
    const Result<LogChunk> chunk = client->read_log(job.id, offset, true, milliseconds(2000));
    ASSERT_TRUE(chunk.ok()) << chunk.error().message;
    text += chunk->text;
    offset = chunk->offset + chunk->text.size();
    if (chunk->complete && chunk->text.empty()) break;
  }
  EXPECT_EQ(text.substr(0, 38), "[validate] begin\n[validate] end\n[cpu-a");
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 10);
  EXPECT_EQ(client->read_log("j77", 0, false, {}).error().code, ErrorCode::not_found);
}

// A client that is the worker of the SKU.
std::unique_ptr<Client> worker_client(const Farm& farm, const std::string& name,
                                      const std::string& sku) {
  auto client = farm.client(name);
  SyncRequest sync;
  sync.worker = name;
  sync.incarnation = sync.sequence = 1;
  sync.sku = sku;
  sync.device = "host-cpu";
  EXPECT_TRUE(client->sync(sync).ok());
  return client;
}

// The conclusions of every later build on a device are drawn from its timings.
TEST(Server, TakesTimingsOnlyFromAWorkerOfTheDevice) {
  const Farm farm;
  const auto stranger = farm.client("stranger");
  const auto other = worker_client(farm, "other", "cpu-sse41");
  const auto own = worker_client(farm, "own", "cpu-avx2");
  const ActionKey device = ActionKey("device", "local").add("sku", "cpu-avx2");
  const ActionKey nameless = ActionKey("device", "local").add("model", "any");
  const ActionKey problem = ActionKey("problem", "local").add("op", "conv");
  const auto put = [&](Client& client, const ActionKey& of) {
    return client.put_timings({of.bytes(), problem.bytes()},
                              {{of.digest(), problem.digest(), "bad", "{\"us\":0}", 5}});
  };
  EXPECT_EQ(put(*other, device).error().code, ErrorCode::untrusted);
  EXPECT_NE(put(*other, device).error().message.find("worker 'other' offers 'cpu-sse41'"),
            std::string::npos);
  EXPECT_EQ(put(*own, nameless).error().code, ErrorCode::untrusted);
  EXPECT_EQ(put(*stranger, device).error().code, ErrorCode::unavailable);
  EXPECT_TRUE(own->get_timings(device.digest(), {})->empty());
  EXPECT_TRUE(put(*own, device).ok());
}

TEST(Server, KeepsTimingsByDeviceAndProblem) {
  Farm farm;
  const auto client = worker_client(farm, "w", "cpu-avx2");
  const ActionKey device = ActionKey("device", "local").add("sku", "cpu-avx2");
  const ActionKey problem = ActionKey("problem", "local").add("op", "conv");
  const TimingEntry entry{device.digest(), problem.digest(), "onednn:jit", "{\"us\":3}", 5};
  const Result<uint64_t> stored = client->put_timings({device.bytes(), problem.bytes()}, {entry});
  ASSERT_TRUE(stored.ok()) << stored.error().message;
  EXPECT_EQ(*stored, 1u);
  EXPECT_EQ(must(client->get_timings(device.digest(), {})).at(0), entry);
  EXPECT_EQ(client->get_timings(device.digest(), {problem.digest()})->size(), 1u);
  EXPECT_TRUE(client->get_timings(problem.digest(), {})->empty());
}

TEST(Server, RefusesAddressesBeyondThisMachine) {
  const TemporaryFolder folder;
  const Result<std::unique_ptr<Coordinator>> started = Coordinator::start(
      {folder.path, "tcp://0.0.0.0:7700", "tcp://127.0.0.1:*", {}, accept_engine});
  ASSERT_FALSE(started.ok());
  EXPECT_EQ(started.error().code, ErrorCode::usage);
  EXPECT_NE(started.error().message.find("keys"), std::string::npos);
}

TEST(Server, TwoNeverShareADataFolder) {
  Farm farm;
  CoordinatorOptions options = farm.options();
  options.listen += "2";
  options.bulk_listen += "2";
  const Result<std::unique_ptr<Coordinator>> second = Coordinator::start(options);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, ErrorCode::storage);
  EXPECT_NE(second.error().message.find("enginery top"), std::string::npos)
      << second.error().message;
}

TEST(Server, ServesLoopbackTcp) {
  const TemporaryFolder folder;
  const Result<std::unique_ptr<Coordinator>> started = Coordinator::start(
      {folder.path, "tcp://127.0.0.1:*", "tcp://127.0.0.1:*", {}, accept_engine});
  ASSERT_TRUE(started.ok()) << started.error().message;
  ClientOptions options;
  options.address = (*started)->control_address();
  const Result<std::unique_ptr<Client>> client = Client::connect(options, make_zmq_dial());
  ASSERT_TRUE(client.ok()) << client.error().message;
  EXPECT_TRUE((*client)->put_blob(as_bytes("x")).ok());
}

TEST(Server, IsUnavailableAtOnceWhereNobodyListens) {
  const TemporaryFolder folder;
  ClientOptions options;
  options.address = "ipc://" + (folder.path / "none.sock").string();
  const Result<std::unique_ptr<Client>> client = Client::connect(options, make_zmq_dial());
  ASSERT_FALSE(client.ok());
  EXPECT_EQ(client.error().code, ErrorCode::unavailable);
  EXPECT_NE(client.error().message.find("enginery up"), std::string::npos);
}

// The blob folder fails (here: it is away) at the moment at which a step is reported as finished.
TEST(Server, AStoreThatCannotSayLosesNoFinishedStep) {
  namespace fs = std::filesystem;
  Farm farm;
  const fs::path folder = farm.options().data / "sha256", away = farm.options().data / "away";
  std::atomic<int> finished = 0;
  const FakeWorker worker(farm, "w", "x", [&](Client& client, const RunStep& run) {
    Result<Outcome> outcome = pretend(client, run);
    if (outcome.ok() && run.kind == "tune") {
      const Bytes large(200'000, 't');  // a file, as a plan is one
      outcome->outputs.front().digest = must(client.put_blob(as_bytes(large)));
      outcome->outputs.front().size_bytes = large.size();
      if (finished++ == 0) fs::rename(folder, away);
    }
    return outcome;
  });
  const auto client = farm.client();
  wait_for_sku(*client, 1);
  const JobView job = submit(*client, "model", make_submit("model", {"x"}));
  while (finished == 0) std::this_thread::sleep_for(milliseconds(10));
  std::this_thread::sleep_for(milliseconds(300));
  fs::rename(away, folder);
  const Result<JobView> end = wait_for_end(*client, job.id);
  ASSERT_TRUE(end.ok()) << end.error().message;
  EXPECT_EQ(end->state, JobState::done);
  EXPECT_EQ(finished, 1) << "the step was thrown away and run again";
}

// A command connects and asks; nothing on that way sleeps a fixed time.
TEST(Server, ConnectingAndAskingTakesMilliseconds) {
  Farm farm;
  std::vector<std::chrono::steady_clock::duration> times;
  for (int i = 0; i < 9; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    const auto client = farm.client();
    ASSERT_NE(client, nullptr);
    ASSERT_TRUE(client->skus().ok());
    ASSERT_TRUE(client->has_blobs({sha256("x")}).ok());  // the other socket
    times.push_back(std::chrono::steady_clock::now() - begin);
  }
  std::sort(times.begin(), times.end());
  EXPECT_LT(times[4], milliseconds(40)) << "two sleeps of 50 ms were on this way";
}

}  // namespace
}  // namespace enginery
