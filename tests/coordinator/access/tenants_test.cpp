// What a tenant's keys see of the farm: its own jobs, logs, keys and engines, and nothing of
// others'.
#include <nlohmann/json.hpp>
#include <set>

#include "tests/coordinator/access/network_fixture.h"

namespace enginery {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;

using TenantsTest = NetworkTest;

// Two tenants and a key without one, each with an engine of the same name, and an admin.
struct TenantEnginesTest : NetworkTest {
  void SetUp() override {
    NetworkTest::SetUp();
    const FakeWorker worker(options().listen, "w", "a");
    blue = connected(allowed("blue", Role::submit | Role::fetch, "blue"));
    red = connected(allowed("red", Role::submit | Role::fetch, "red"));
    plain = connected(allowed("plain", Role::submit | Role::fetch));
    admin = connected(allowed("root", Role::admin | Role::fetch));
    of_blue = built(*blue);
    of_red = built(*red);
  }
  // The job of a submit that is tagged "prod".
  static JobView built(Client& client) {
    must(client.put_blob(as_bytes(std::string_view("m"))));
    SubmitRequest submit = make_submit("m", {"a"});
    submit.wait_for_workers = true;
    submit.tags = {"prod"};
    return must(wait_for_end(client, must(client.submit(submit, make_request_id())).id));
  }
  static std::string engine_of(const JobView& job) { return job.targets.at(0).engine->text(); }
  static std::set<std::string> found(Client& client, const FindEngines& request) {
    std::set<std::string> out;
    const auto list = client.find_engines(request);
    if (list.ok())
      for (const EngineView& engine : *list) out.insert(engine.engine.text());
    return out;
  }
  static std::set<std::string> listed(Client& client) {
    std::set<std::string> out;
    const json document = json::parse(must(client.ask_catalog({"ls", {}, ""})));
    for (const json& engine : document.at("engines"))
      out.insert(engine.at("engine").get<std::string>());
    return out;
  }
  static ErrorCode refusal(Client& client, const AskCatalog& question) {
    const auto answer = client.ask_catalog(question);
    return answer.ok() ? ErrorCode::internal : answer.error().code;
  }

  std::unique_ptr<Client> blue, red, plain, admin;
  JobView of_blue, of_red;
};

using Names = std::set<std::string>;

TEST_F(TenantsTest, ATenantsKeysAreItsOwn) {
  const auto blue = connected(allowed("blue-1", Role::submit | Role::fetch, "blue"));
  const auto blue_too = connected(allowed("blue-2", Role::submit | Role::fetch, "blue"));
  const auto plain = connected(allowed("plain", Role::submit | Role::fetch));
  ASSERT_TRUE(blue->put_blob(as_bytes("m")).ok());
  SubmitRequest submit = make_submit("m", {"a"});
  submit.wait_for_workers = true;
  const auto key = [&](Client& client) {
    return must(client.submit(submit, make_request_id())).targets.at(0).key;
  };
  const Digest of_blue = key(*blue);
  EXPECT_EQ(key(*blue_too), of_blue);
  EXPECT_NE(key(*plain), of_blue);
  const auto owner = connect_to(options().listen, "owner@here");
  EXPECT_EQ(key(*owner), key(*plain)) << "the default domain";
  // And they stay so over a restart.
  const std::string id = must(blue->submit(submit, make_request_id())).id;
  coordinator.reset();
  SetUp();
  EXPECT_EQ(must(connect_to(options().listen, "owner@here")->show(id)).targets.at(0).key, of_blue);
}

TEST_F(TenantsTest, AKeySeesItsTenantsJobsAndAnAdminAll) {
  const auto blue = connected(allowed("blue", Role::submit | Role::fetch, "blue"));
  const auto plain = connected(allowed("plain", Role::submit | Role::fetch));
  const auto admin = connected(allowed("root", Role::admin, "blue"));
  for (Client* client : {blue.get(), plain.get()})
    ASSERT_TRUE(client->put_blob(as_bytes("m")).ok());
  SubmitRequest submit = make_submit("m", {"a"});
  submit.wait_for_workers = true;
  const JobView of_blue = must(blue->submit(submit, make_request_id()));
  const JobView of_plain = must(plain->submit(submit, make_request_id()));

  const auto jobs_of = [](Client& client) {
    std::set<std::string> jobs;
    for (const JobLine& job : must(client.jobs(10))) jobs.insert(job.id);
    return jobs;
  };
  const auto told_of = [](Client& client) {
    std::set<std::string> jobs;
    for (const EventView& event : must(client.events({"", 0, 1, 0, 0})).events)
      jobs.insert(event.job);
    return jobs;
  };
  using Ids = std::set<std::string>;
  EXPECT_EQ(jobs_of(*blue), Ids{of_blue.id});
  EXPECT_EQ(told_of(*blue), Ids{of_blue.id});
  EXPECT_EQ(jobs_of(*plain), Ids{of_plain.id});
  EXPECT_EQ(told_of(*plain), Ids{of_plain.id});
  EXPECT_EQ(jobs_of(*admin), (Ids{of_blue.id, of_plain.id}));
  EXPECT_EQ(told_of(*admin), (Ids{of_blue.id, of_plain.id}));

  const std::string& foreign = of_plain.id;
  const auto is_unknown = [](const auto& result) {
    return !result.ok() && result.error().code == ErrorCode::not_found;
  };
  EXPECT_TRUE(is_unknown(blue->show(foreign)));
  EXPECT_TRUE(is_unknown(blue->explain(foreign)));
  EXPECT_TRUE(is_unknown(blue->cancel(foreign)));
  EXPECT_TRUE(is_unknown(blue->wait(foreign, 0, milliseconds(0), false)));
  EXPECT_TRUE(is_unknown(blue->read_log(foreign, 0, false, milliseconds(0))));
  EXPECT_TRUE(is_unknown(blue->read_log(foreign, 0, true, milliseconds(500))));
  EXPECT_FALSE(blue->why_miss(foreign).ok());
  EXPECT_TRUE(is_unknown(blue->why_miss(of_plain.targets.at(0).key.text())));
  EXPECT_TRUE(must(blue->events({foreign, 0, 1, 0, 0})).events.empty());
  EXPECT_TRUE(plain->read_log(foreign, 0, false, milliseconds(0)).ok());
  EXPECT_TRUE(admin->show(foreign).ok());
}

// A log's owner is known again after a restart.
TEST_F(TenantsTest, ALogStaysItsTenantsOverARestart) {
  const FarmIdentity blue = allowed("blue", Role::submit | Role::fetch, "blue");
  const FarmIdentity plain = allowed("plain", Role::submit | Role::fetch);
  std::string job;
  {
    const auto client = connected(blue);
    ASSERT_TRUE(client->put_blob(as_bytes("m")).ok());
    SubmitRequest submit = make_submit("m", {"a"});
    submit.wait_for_workers = true;
    job = must(client->submit(submit, make_request_id())).id;
  }
  coordinator.reset();
  SetUp();
  EXPECT_TRUE(connected(blue)->read_log(job, 0, false, milliseconds(0)).ok());
  EXPECT_FALSE(connected(plain)->read_log(job, 0, false, milliseconds(0)).ok());
}

TEST_F(TenantEnginesTest, AreListedAndFoundByTheirTenantAlone) {
  const std::string ours = engine_of(of_blue), theirs = engine_of(of_red);
  ASSERT_NE(ours, theirs);
  EXPECT_EQ(listed(*blue), Names{ours});
  EXPECT_EQ(listed(*red), Names{theirs});
  EXPECT_EQ(listed(*plain), Names{});
  EXPECT_EQ(listed(*admin), (Names{ours, theirs}));
  for (const FindEngines& request :
       {FindEngines{"net", "", "", 10}, FindEngines{"net", "prod", "", 10},
        FindEngines{"", "", "", 10}, FindEngines{of_blue.id, "", "", 10},
        FindEngines{ours, "", "", 10}}) {
    const std::string what = request.name + "@" + request.tag;
    EXPECT_EQ(found(*blue, request), Names{ours}) << what;
    EXPECT_FALSE(found(*red, request).contains(ours)) << what;
    EXPECT_EQ(found(*plain, request), Names{}) << what;
  }
  EXPECT_EQ(found(*admin, {"", "", "", 10}), (Names{ours, theirs}));
  EXPECT_EQ(found(*admin, {ours, "", "", 10}), Names{ours});
  EXPECT_EQ(found(*admin, {of_red.id, "", "", 10}), Names{theirs});
  // A set is of the own ones, too.
  EXPECT_TRUE(blue->make_set("net", "").ok());
  EXPECT_FALSE(plain->make_set("net", "").ok());
}

TEST_F(TenantEnginesTest, AreShownAndExportedToTheirTenantAlone) {
  const std::string ours = engine_of(of_blue), key = of_blue.targets.at(0).key.hex();
  const std::string skus = R"({"skus":["a"]})";
  for (const AskCatalog& question : {AskCatalog{"show", {ours}, ""}, AskCatalog{"show", {key}, ""},
                                     AskCatalog{"bundle-engine", {ours}, ""}}) {
    EXPECT_TRUE(blue->ask_catalog(question).ok()) << question.words.at(0);
    EXPECT_TRUE(admin->ask_catalog(question).ok()) << question.words.at(0);
    EXPECT_EQ(refusal(*red, question), ErrorCode::not_found) << question.words.at(0);
    EXPECT_EQ(refusal(*plain, question), ErrorCode::not_found) << question.words.at(0);
  }
  const auto shown = [&](Client& client) {
    return json::parse(must(client.ask_catalog({"show", {"net"}, skus}))).at("engine");
  };
  EXPECT_EQ(shown(*blue), ours);
  EXPECT_EQ(shown(*red), engine_of(of_red));
  EXPECT_EQ(refusal(*plain, {"show", {"net"}, skus}), ErrorCode::not_found);
}

// Tags are a tenant's own: nobody's submit or order moves another's.
TEST_F(TenantEnginesTest, KeepTheirTags) {
  EXPECT_EQ(found(*blue, {"net", "prod", "", 10}), Names{engine_of(of_blue)});
  EXPECT_EQ(found(*red, {"net", "prod", "", 10}), Names{engine_of(of_red)});
  ASSERT_TRUE(admin->order_catalog({"tag", {engine_of(of_red), "stable"}, ""}).ok());
  EXPECT_EQ(found(*red, {"net", "stable", "", 10}), Names{engine_of(of_red)});
  EXPECT_EQ(found(*blue, {"net", "stable", "", 10}), Names{});
  for (const char* action : {"tag", "pin", "unpin"})
    EXPECT_EQ(blue->order_catalog({action, {engine_of(of_blue), "x"}, ""}).error().code,
              ErrorCode::untrusted)
        << action;
  ASSERT_TRUE(admin->order_catalog({"pin", {engine_of(of_blue)}, ""}).ok());
}

// Timings and the bytes of all blobs are shared by all tenants.
TEST_F(TenantEnginesTest, WhatAllShareIsForThoseWithoutATenant) {
  for (const char* action : {"verify", "timing-query", "timing-export"}) {
    const AskCatalog question{action, {"conv"}, ""};
    EXPECT_EQ(refusal(*blue, question), ErrorCode::untrusted) << action;
    EXPECT_NE(refusal(*plain, question), ErrorCode::untrusted) << action;
    EXPECT_NE(refusal(*admin, question), ErrorCode::untrusted) << action;
  }
  EXPECT_TRUE(blue->ask_catalog({"timing-ls", {}, ""}).ok());
}

// A digest of 256 bits is known to who was told it: whoever may fetch at all reads such a blob.
TEST_F(TenantEnginesTest, ABlobIsReadByWhoeverKnowsItsDigest) {
  const Digest engine = *of_blue.targets.at(0).engine;
  EXPECT_TRUE(red->get_blob(engine, {}).ok());
  EXPECT_TRUE(plain->get_blob(engine, {}).ok());
}

// The nearest key is looked for among the own ones.
TEST_F(TenantEnginesTest, AMissIsExplainedByTheOwnKeysAlone) {
  const auto nearest_of = [&](Client& client) {
    const auto misses = must(client.why_miss(of_blue.id));
    return misses.at(0).nearest;
  };
  EXPECT_FALSE(nearest_of(*blue)) << "nothing of blue's own was there before";
  built(*plain);
  EXPECT_FALSE(nearest_of(*blue));
}

// While a worker is busy with another tenant's job, that is all that is said.
TEST_F(TenantsTest, AnExplanationNamesNoOtherTenantsJob) {
  const auto blue = connected(allowed("blue", Role::submit | Role::fetch, "blue"));
  const auto red = connected(allowed("red", Role::submit | Role::fetch, "red"));
  const auto admin = connected(allowed("root", Role::admin | Role::fetch));
  std::atomic<bool> go_on = false;
  const FakeWorker worker(options().listen, "w", "a", [&](Client& client, const RunStep& run) {
    while (!go_on) std::this_thread::sleep_for(milliseconds(5));
    return pretend(client, run);
  });
  const auto submit = [](Client& client, const std::string& model) {
    must(client.put_blob(as_bytes(model)));
    SubmitRequest request = make_submit(model, {"a"});
    request.wait_for_workers = true;
    return must(client.submit(request, make_request_id())).id;
  };
  const std::string theirs = submit(*red, "m");
  while (worker.steps() == 0) std::this_thread::sleep_for(milliseconds(5));
  const std::string ours = submit(*blue, "n");
  const auto said_to = [&](Client& client) {
    const auto targets = must(client.explain(ours));
    std::string out = targets.at(0).reason;
    for (const auto& candidate : targets.at(0).candidates) out += "; " + candidate.reason;
    return out;
  };
  EXPECT_NE(said_to(*admin).find("of " + theirs), std::string::npos) << said_to(*admin);
  EXPECT_EQ(said_to(*blue).find(theirs), std::string::npos) << said_to(*blue);
  EXPECT_NE(said_to(*blue).find("is busy with another tenant's job"), std::string::npos)
      << said_to(*blue);
  go_on = true;
}

}  // namespace
}  // namespace enginery
