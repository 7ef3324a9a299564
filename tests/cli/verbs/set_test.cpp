// `fetch --set` and `verify` of a set: all engines of a job with one signed list.
#include <nlohmann/json.hpp>

#include "tests/cli/verbs/farm_home.h"

namespace enginery {
namespace {

namespace fs = std::filesystem;

class SetVerbs : public FarmHomeTest {
 protected:
  ~SetVerbs() override { fs::remove_all(folder()); }
  static std::string folder() { return file("release"); }
  static std::string set_file() { return folder() + "/shapes.set"; }
  static std::string engine_file() { return folder() + "/shapes." + built_sku() + ".engine"; }
  // A job of the engine that the catalog has, ended.
  static std::string ended_job() {
    const std::string id = submitted(built_sku());
    EXPECT_EQ(ask({"wait", id}).code, ExitCode::ok);
    return id;
  }
};

TEST_F(SetVerbs, FetchWritesTheEnginesAndTheirSignedList) {
  const Printed fetched = ask({"fetch", ended_job(), "--set", "-o", folder()});
  ASSERT_EQ(fetched.code, ExitCode::ok) << fetched.err;
  EXPECT_EQ(fetched.out, engine_file() + "\n" + set_file() + "\n");
  EXPECT_EQ(*read_file(engine_file()), *read_file(engine()));
  const Printed verified = ask({"verify", set_file()});
  EXPECT_EQ(verified.code, ExitCode::ok) << verified.err;
  EXPECT_TRUE(verified.out.starts_with("ok 1 engines of shapes, signed by ")) << verified.out;
  EXPECT_EQ(ask({"verify", engine_file()}).code, ExitCode::ok);
}

TEST_F(SetVerbs, JsonSaysWhatCameAndWhatWasVerified) {
  const std::string id = ended_job();
  const Json fetched = ask({"fetch", id, "--set", "-o", folder(), "--json"}).json();
  expect_fields(fetched, {"schema", "name", "job", "path", "engines", "missing"});
  EXPECT_EQ(fetched["schema"], "enginery.fetch.set/1");
  EXPECT_EQ(fetched["job"], id);
  EXPECT_EQ(fetched["engines"][0]["engine"], ExampleHome::report()["engine"]);
  const Json verified = ask({"verify", set_file(), "--json"}).json();
  expect_fields(verified, {"schema", "ok", "name", "job", "skus", "signer"});
  EXPECT_EQ(verified["schema"], "enginery.verify.set/1");
  EXPECT_EQ(verified["skus"], Json::array({built_sku()}));
}

TEST_F(SetVerbs, ASetByNameIsOfTheNewestEngines) {
  const Printed fetched = ask({"fetch", "shapes", "--set", "-o", folder(), "--json"});
  ASSERT_EQ(fetched.code, ExitCode::ok) << fetched.err;
  EXPECT_TRUE(fetched.json()["job"].is_null());
  EXPECT_EQ(fetched.json()["engines"][0]["engine"], ExampleHome::report()["engine"]);
}

TEST_F(SetVerbs, ATargetWithoutAnEngineIsPartial) {
  const std::string id = submitted(built_sku() + ",p4");
  ask({"cancel", id});
  const Printed fetched = ask({"fetch", id, "--set", "-o", folder()});
  EXPECT_EQ(fetched.code, ExitCode::partial) << fetched.err;
  EXPECT_NE(fetched.err.find("no engine for p4: cancelled"), std::string::npos) << fetched.err;
  EXPECT_TRUE(fs::exists(set_file()));
}

TEST_F(SetVerbs, VerifyRefusesAnotherEngineAMissingOneAndAChangedList) {
  ASSERT_EQ(ask({"fetch", ended_job(), "--set", "-o", folder()}).code, ExitCode::ok);
  const Bytes whole = *read_file(engine_file());
  ASSERT_TRUE(write_file(engine_file(), whole + "x").ok());
  expect_refused({{"verify", set_file()}, ExitCode::untrusted, "is not the engine that the set"});
  fs::remove(engine_file());
  expect_refused({{"verify", set_file()}, ExitCode::not_found, engine_file()});
  ASSERT_TRUE(write_file(engine_file(), whole).ok());
  Bytes list = *read_file(set_file());
  list[list.find("shapes")] = 'S';
  ASSERT_TRUE(write_file(set_file(), list).ok());
  expect_refused({{"verify", set_file()}, ExitCode::untrusted, "shapes.set"});
}

TEST_F(SetVerbs, RefusesWhatIsNoSet) {
  const std::string running = submitted("p4");
  const std::string digest = ExampleHome::report()["engine"];
  const Refusal rows[] = {
      {{"fetch", running, "--set"}, ExitCode::not_found, "has not ended"},
      {{"fetch", digest, "--set"}, ExitCode::usage, "is one engine"},
      {{"fetch", "nosuch", "--set"}, ExitCode::not_found, "nosuch"},
      {{"fetch", "shapes", "--set", "--target", "p4"}, ExitCode::usage, "no --target"},
      {{"fetch", "shapes", "--set", "-o", "-"}, ExitCode::usage, "into a folder"},
  };
  for (const Refusal& row : rows) expect_refused(row);
}

}  // namespace
}  // namespace enginery
