// `events`: the journal, by job and by time, as lines and as JSON; and followed.
#include <algorithm>
#include <csignal>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/cli/signals_of_process.h"
#include "tests/cli/verbs/farm_home.h"

namespace enginery {
namespace {

class EventsVerb : public FarmHomeTest {
 protected:
  static std::vector<std::string> kinds(const Json& json) {
    std::vector<std::string> all;
    for (const Json& event : json["events"]) all.push_back(event["kind"]);
    return all;
  }
};

TEST_F(EventsVerb, OfAJobAreItsStory) {
  const std::string id = submitted("p4");
  ASSERT_EQ(ask({"cancel", id}).code, ExitCode::ok);
  const Json json = ask({"events", "--job", id, "--json"}).json();
  EXPECT_EQ(json["schema"], "enginery.events/1");
  const std::vector<std::string> story = kinds(json);
  ASSERT_FALSE(story.empty());
  EXPECT_EQ(story.front(), "submitted");
  EXPECT_NE(std::find(story.begin(), story.end(), "cancel"), story.end());
  for (const Json& event : json["events"]) {
    expect_fields(event, {"sequence", "time", "job", "kind", "fields"});
    EXPECT_EQ(event["job"], id);
  }
  EXPECT_EQ(json["next"], json["events"].back()["sequence"]);
  const auto end = std::find(story.begin(), story.end(), "job_ended");
  ASSERT_NE(end, story.end());
  EXPECT_EQ(json["events"][size_t(end - story.begin())]["fields"]["state"], "cancelled");
}

TEST_F(EventsVerb, ForPeopleAreOneLineEach) {
  const std::string id = submitted("p4");
  const Printed shown = ask({"events", "--job", id, "-n", "2"});
  ASSERT_EQ(shown.code, ExitCode::ok) << shown.err;
  EXPECT_EQ(std::count(shown.out.begin(), shown.out.end(), '\n'), 2) << shown.out;
  EXPECT_NE(shown.out.find("  " + id + "  "), std::string::npos) << shown.out;
}

TEST_F(EventsVerb, SinceIsEverythingFromThenOn) {
  submitted("p4", {"--name", "another"});
  const std::string id = submitted("p4");
  const Json recent = ask({"events", "--since", "1h", "--json"}).json();
  const Json of_job = ask({"events", "--since", "1h", "--job", id, "--json"}).json();
  EXPECT_GT(recent["events"].size(), of_job["events"].size());
  EXPECT_EQ(kinds(of_job).front(), "submitted");
  EXPECT_TRUE(ask({"events", "--since", "0s", "--json"}).json()["events"].empty());
}

TEST_F(EventsVerb, FollowPrintsWhatComesUntilItIsInterrupted) {
  std::thread later([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    submitted("p4", {"--name", "followed"});
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    raise_unblocked(SIGINT);
  });
  const Printed followed = ask({"events", "-f", "-n", "1", "--json"});
  later.join();
  EXPECT_EQ(followed.code, ExitCode::ok) << followed.err;
  std::istringstream lines(followed.out);
  bool seen = false;
  for (std::string line; std::getline(lines, line);) {
    const Json event = Json::parse(line);
    EXPECT_EQ(event["schema"], "enginery.event/1");
    seen |= event["kind"] == "submitted" && event["fields"]["name"] == "followed";
  }
  EXPECT_TRUE(seen) << followed.out;
}

TEST_F(EventsVerb, RefusesWhatItDoesNotUnderstand) {
  const Refusal rows[] = {
      {{"events", "--since", "yesterday"}, ExitCode::usage, "expected 90s"},
      {{"events", "--job", "j999999"}, ExitCode::not_found, "j999999"},
  };
  for (const Refusal& row : rows) expect_refused(row);
}

}  // namespace
}  // namespace enginery
