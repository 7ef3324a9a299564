// The HTTP server of a real coordinator: its pages, who may read them, and what is refused.
#include "coordinator/web/web_server.h"

#include <gtest/gtest.h>
#include <httplib.h>

#include <nlohmann/json.hpp>

#include "coordinator/views/farm_json.h"
#include "coordinator/views/job_json.h"
#include "coordinator/web/openmetrics.h"
#include "engine/base/file.h"
#include "tests/coordinator/farm_fixture.h"
#include "tests/coordinator/web/openmetrics_check.h"

namespace enginery {
namespace {

// A coordinator with HTTP on a port of its own choice.
struct WebFarm {
  explicit WebFarm(const std::string& token = "") {
    CoordinatorOptions options{folder.path / "data", "ipc://" + (folder.path / "c.sock").string(),
                               "ipc://" + (folder.path / "b.sock").string(),
                               std::chrono::milliseconds(200), accept_engine};
    listen = options.listen;
    options.web.address = "127.0.0.1:0";
    if (!token.empty()) {
      options.web.token_file = folder.path / "token";
      EXPECT_TRUE(write_file(options.web.token_file, token, 0600).ok());
    }
    coordinator = must(Coordinator::start(options));
  }
  httplib::Client http() const { return httplib::Client(coordinator->web_address()); }
  httplib::Result get(const std::string& path, const httplib::Headers& headers = {}) const {
    return http().Get(path, headers);
  }
  Json json(const std::string& path, int status = 200) const {
    const httplib::Result got = get(path);
    EXPECT_TRUE(got) << path;
    if (!got) return nullptr;
    EXPECT_EQ(got->status, status) << path << ": " << got->body;
    EXPECT_EQ(got->get_header_value("Content-Type"), "application/json; charset=utf-8");
    return Json::parse(got->body);
  }

  TemporaryFolder folder;
  std::string listen;
  std::unique_ptr<Coordinator> coordinator;
};

// A job for a device that no worker offers.
JobView waiting_job(Client& client) {
  const std::string model = "a model";
  must(client.put_blob(as_bytes(model)));
  SubmitRequest submit = make_submit(model, {"cpu-avx2"});
  submit.wait_for_workers = true;
  return must(client.submit(submit, make_request_id()));
}

TEST(WebServer, ServesTheDocumentsOfTheCommandLine) {
  const WebFarm farm;
  const auto client = connect_to(farm.listen, "tester");
  const JobView job = waiting_job(*client);
  EXPECT_EQ(farm.json("/api/v1/jobs"), jobs_json(must(client->jobs(10))));
  EXPECT_EQ(farm.json("/api/v1/jobs/" + job.id), job_json_with_steps(must(client->show(job.id))));
  EXPECT_EQ(farm.json("/api/v1/jobs/" + job.id + "/explain"),
            explain_json(job.id, must(client->explain(job.id))));
  EXPECT_EQ(farm.json("/api/v1/workers"), workers_json({}));
  EXPECT_EQ(farm.json("/api/v1/skus")["schema"], "enginery.skus/1");
  EXPECT_EQ(farm.json("/api/v1/engines"), engines_json({}));
  const EventList events = must(client->events({job.id, 0, 1, 0, 0}));
  EXPECT_FALSE(events.events.empty());
  EXPECT_EQ(farm.json("/api/v1/events?job=" + job.id), events_json(events.events, events.next));
}

TEST(WebServer, PagesGoOnFromWhereTheyEnded) {
  const WebFarm farm;
  const auto client = connect_to(farm.listen, "tester");
  waiting_job(*client);
  const Json first = farm.json("/api/v1/events?limit=1");
  ASSERT_EQ(first["events"].size(), 1u);
  EXPECT_TRUE(farm.json("/api/v1/events?after=" + first["next"].dump())["events"].empty());
}

TEST(WebServer, RefusesWithAReasonAndAStatus) {
  const WebFarm farm;
  const struct {
    const char* path;
    int status;
    const char* code;
  } rows[] = {
      {"/api/v1/jobs/j999", 404, "not_found"}, {"/api/v1/nosuch", 404, "not_found"},
      {"/nosuch", 404, "not_found"},           {"/api/v1/events?after=x", 400, "usage"},
      {"/api/v1/jobs?limit=-1", 400, "usage"}, {"/api/v1/engines?name=nosuch", 404, "not_found"},
  };
  for (const auto& row : rows) {
    const Json error = farm.json(row.path, row.status);
    EXPECT_EQ(error["schema"], "enginery.error/1") << row.path;
    EXPECT_EQ(error["error"]["code"], row.code) << row.path;
  }
  httplib::Client http = farm.http();
  const httplib::Result posted = http.Post("/api/v1/jobs", "{}", "application/json");
  ASSERT_TRUE(posted);
  EXPECT_EQ(posted->status, 405);
}

TEST(WebServer, MetricsAreOpenMetricsAndCount) {
  const WebFarm farm;
  const auto client = connect_to(farm.listen, "tester");
  const JobView job = waiting_job(*client);
  const FakeWorker worker(farm.listen, "w", "cpu-avx2");
  ASSERT_EQ(must(wait_for_end(*client, job.id)).state, JobState::done);
  const httplib::Result got = farm.get("/metrics");
  ASSERT_TRUE(got);
  EXPECT_EQ(got->status, 200);
  EXPECT_EQ(got->get_header_value("Content-Type"), kOpenMetricsType);
  auto checked = test::check_openmetrics(got->body);
  EXPECT_EQ(checked.problem, "") << got->body;
  EXPECT_EQ(checked.samples["enginery_jobs_submitted_total"], 1);
  EXPECT_EQ(checked.samples["enginery_jobs_open"], 0);
  EXPECT_EQ(checked.samples["enginery_jobs_ended_total{state=\"done\"}"], 1);
  EXPECT_EQ(checked.samples["enginery_targets_ended_total{state=\"done\",source=\"built\"}"], 1);
  EXPECT_EQ(checked.samples["enginery_timings_total{source=\"measured\"}"], 12);
  EXPECT_EQ(checked.samples["enginery_timings_total{source=\"reused\"}"], 3);
  EXPECT_GE(checked.samples["enginery_attempts_ended_total{outcome=\"succeeded\"}"], 5);
  EXPECT_GE(checked.samples["enginery_step_wait_seconds_count"], 5);
  EXPECT_GT(checked.samples["enginery_commit_seconds_count"], 0);
  EXPECT_EQ(checked.samples["enginery_catalog_engines"], 1);
  EXPECT_GT(checked.samples["enginery_catalog_bytes"], 0);
  EXPECT_GT(checked.samples["process_resident_memory_bytes"], 0);
  EXPECT_EQ(checked.types["enginery_workers"], "gauge");
}

TEST(WebServer, IsHealthyWhenTheCatalogTakesARowAndABlob) {
  const WebFarm farm;
  const Json health = farm.json("/healthz");
  EXPECT_EQ(health["schema"], "enginery.health/1");
  EXPECT_EQ(health["ok"], true);
  EXPECT_TRUE(health["reason"].is_null());
}

TEST(WebServer, IsUnhealthyWithTheReasonWhenBlobsCannotBeWritten) {
  const WebFarm farm;
  const std::filesystem::path blobs = farm.folder.path / "data" / "sha256";
  std::filesystem::rename(blobs, farm.folder.path / "away");
  const Json health = farm.json("/healthz", 503);
  EXPECT_EQ(health["ok"], false);
  EXPECT_NE(std::string(health["reason"]).find("catalog: write a blob"), std::string::npos)
      << health["reason"];
  std::filesystem::rename(farm.folder.path / "away", blobs);
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));  // one try a second
  EXPECT_EQ(farm.json("/healthz")["ok"], true);
}

TEST(WebServer, WithATokenEveryPageWantsIt) {
  const std::string token = "0123456789abcdef0123456789abcdef";
  const WebFarm farm(token + "\n");
  for (const char* path : {"/metrics", "/healthz", "/api/v1/jobs"}) {
    EXPECT_EQ(farm.get(path)->status, 401) << path;
    EXPECT_EQ(farm.get(path, {{"Authorization", "Bearer " + token + "x"}})->status, 401) << path;
    EXPECT_EQ(farm.get(path, {{"Authorization", token}})->status, 401) << path;
    EXPECT_EQ(farm.get(path, {{"Authorization", "Bearer " + token}})->status, 200) << path;
  }
}

TEST(WebServer, WithoutATokenAnotherHostsNameIsRefused) {
  const WebFarm farm;
  EXPECT_EQ(farm.get("/api/v1/jobs", {{"Host", "evil.example:80"}})->status, 403);
  EXPECT_EQ(farm.get("/api/v1/jobs", {{"Host", "localhost:80"}})->status, 200);
}

TEST(WebServer, AnAddressThatIsTakenOrOpenIsRefusedBeforeTheFarmStarts) {
  const WebFarm farm;
  const TemporaryFolder other;
  CoordinatorOptions options{other.path / "data", "ipc://" + (other.path / "c.sock").string(),
                             "ipc://" + (other.path / "b.sock").string(),
                             std::chrono::milliseconds(200), accept_engine};
  options.web.address = farm.coordinator->web_address();
  EXPECT_EQ(Coordinator::start(options).error().code, ErrorCode::unavailable);
  options.web.address = "0.0.0.0:0";
  EXPECT_EQ(Coordinator::start(options).error().code, ErrorCode::usage);
}

}  // namespace
}  // namespace enginery
