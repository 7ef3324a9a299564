// The verbs of care: keys, config, version, skus, why-miss, down, and the refusals of the services.
#include <unistd.h>
#include <nlohmann/json.hpp>

#include "cli/options/configuration.h"
#include "cli/process/up_lock.h"
#include "cli/verbs/verbs.h"
#include "engine/base/sign.h"
#include "engine/device/sku_table.h"
#include "tests/cli/signals_of_process.h"
#include "tests/cli/verbs/farm_home.h"

namespace enginery {
namespace {

TEST(KeysVerb, ShowsNoneThenTheOwnOneThenTheTrusted) {
  const TemporaryHome home;
  const Printed none = ask({"keys", "show"});
  EXPECT_EQ(none.out, "");
  EXPECT_NE(none.err.find("enginery keys new"), std::string::npos) << none.err;
  const std::string id = ask({"keys", "new"}).out;
  const Json keys = ask({"keys", "show", "--json"}).json();
  EXPECT_EQ(keys["schema"], "enginery.keys/1");
  ASSERT_EQ(keys["keys"].size(), 1u);
  expect_fields(keys["keys"][0], {"id", "role", "public", "file"});
  EXPECT_EQ(std::string(keys["keys"][0]["id"]) + "\n", id);
  EXPECT_EQ(keys["keys"][0]["role"], "own");
  const std::string other = to_hex(std::as_bytes(std::span(SigningKey::generate().public_key())));
  const Json trusted = ask({"keys", "trust", other, "--json"}).json();
  EXPECT_EQ(trusted["keys"][0]["public"], other);
  const std::string table = ask({"keys", "show"}).out;
  EXPECT_TRUE(table.starts_with("ID")) << table;
  EXPECT_LT(table.find(" own "), table.find(" trusted ")) << table;
  EXPECT_EQ(ask({"keys", "untrust", trusted["keys"][0]["id"]}).code, ExitCode::ok);
  EXPECT_EQ(ask({"keys", "show", "--json"}).json()["keys"].size(), 1u);
}

TEST(KeysVerb, RefusesWhatItDoesNotKnow) {
  const TemporaryHome home;
  ASSERT_EQ(ask({"keys", "new"}).code, ExitCode::ok);
  const Refusal rows[] = {
      {{"keys"}, ExitCode::usage, "ACTION is missing"},
      {{"keys", "burn"}, ExitCode::usage, "there are: show, new, trust, untrust"},
      {{"keys", "trust"}, ExitCode::usage, "trust needs a key"},
      {{"keys", "show", "x"}, ExitCode::usage, "show takes no argument"},
      {{"keys", "new"}, ExitCode::usage, "--replace"},
      {{"keys", "trust", "no.pub"}, ExitCode::not_found, "64 hex digits"},
      {{"keys", "untrust", "0000"}, ExitCode::not_found, "no trusted key"},
  };
  for (const Refusal& row : rows) expect_refused(row);
}

class ConfigVerb : public testing::Test {
 protected:
  ConfigVerb() {
    for (const Setting& setting : settings()) unsetenv(environment_name(setting.name).c_str());
  }
  ~ConfigVerb() override { unsetenv("ENGINERY_LEVEL"); }
  const TemporaryHome home_;
};

TEST_F(ConfigVerb, PrintsEverySettingInTheListsOrderWithItsOrigin) {
  std::filesystem::create_directories(home_.path() / "home");
  ASSERT_TRUE(write_file(home_.path() / "home/config.toml", "threads = 3\n").ok());
  setenv("ENGINERY_LEVEL", "5", 1);
  const Json json = ask({"config", "show", "--json"}).json();
  EXPECT_EQ(json["schema"], "enginery.config/1");
  ASSERT_EQ(json["settings"].size(), settings().size());
  for (size_t i = 0; i < settings().size(); ++i)
    EXPECT_EQ(json["settings"][i]["name"], settings()[i].name);
  const std::string table = ask({"config", "show", "--origin"}).out;
  for (const char* row :
       {"SETTING", "ORIGIN", "environment ENGINERY_LEVEL", "config.toml", "default", "not set"})
    EXPECT_NE(table.find(row), std::string::npos) << row << "\n" << table;
  EXPECT_NE(ask({"config", "show"}).out.find("how hard builds search"), std::string::npos);
}

TEST_F(ConfigVerb, ABrokenFileIsToldByEveryVerbWithItsPlace) {
  std::filesystem::create_directories(home_.path() / "home");
  ASSERT_TRUE(write_file(home_.path() / "home/config.toml", "threads = 3\nlevle = 2\n").ok());
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"config", "show"}, {"version"}, {"keys", "show"}}) {
    expect_refused({words, ExitCode::usage, "config.toml:2: unknown key 'levle'"});
    expect_refused({words, ExitCode::usage, "did you mean level"});
  }
  expect_refused({{"config", "set"}, ExitCode::usage, "config.toml:2"});
  std::filesystem::remove(home_.path() / "home/config.toml");
  expect_refused({{"config", "set"}, ExitCode::usage, "unknown action 'set'; there is: show"});
}

TEST(VersionVerb, SaysTheSameAsTextAndAsJson) {
  const Json json = ask({"version", "--json"}).json();
  expect_fields(json, {"schema", "version", "cuda_headers", "compiler", "cpu_libraries"});
  EXPECT_EQ(json["schema"], "enginery.version/1");
  const std::string text = ask({"version"}).out;
  EXPECT_TRUE(text.starts_with("enginery " + std::string(json["version"]) + "\n")) << text;
  EXPECT_NE(text.find("compiler: " + std::string(json["compiler"]) + "\n"), std::string::npos);
  EXPECT_EQ(ask({"--version"}).out, text);
}

class FleetVerbs : public FarmHomeTest {};

TEST_F(FleetVerbs, SkusAreThisMachinesFirstAndThisIsTheFirstOfThem) {
  const Json json = ask({"skus", "--local", "--json"}).json();
  EXPECT_EQ(json["schema"], "enginery.skus/1");
  ASSERT_EQ(json["skus"].size(), local_skus().size());
  for (const Json& row : json["skus"]) {
    expect_fields(row, {"sku", "kind", "this", "workers", "idle", "toolchains"});
    EXPECT_EQ(row["this"], true);
  }
  EXPECT_EQ(json["skus"][0]["sku"], local_skus().front().name);
  std::string names;
  for (const LocalSku& sku : local_skus()) names += sku.name + "\n";
  EXPECT_EQ(ask({"skus", "--local", "--names"}).out, names);
  const Json all = ask({"skus", "--local", "--all", "--json"}).json();
  EXPECT_EQ(all["skus"].size(), sku_table().size()) << "each once, the local ones first";
  EXPECT_EQ(all["skus"].back()["this"], false);
}

TEST_F(FleetVerbs, AMissNamesTheNearestKeyAndWhatDiffers) {
  const std::string key = ExampleHome::report()["key"];
  const Printed other = ask({"build", kExampleModel, "-o", file("o.engine"), "--level", "0",
                             "--threads", "1", "--name", "other", "--json"});
  ASSERT_EQ(other.code, ExitCode::ok) << other.err;
  const Json miss = ask({"why-miss", other.json()["key"], "--json"}).json();
  EXPECT_EQ(miss["schema"], "enginery.why-miss/1");
  EXPECT_EQ(miss["nearest"], key);
  ASSERT_EQ(miss["differs"].size(), 1u);
  EXPECT_EQ(miss["differs"][0], (Json{{"field", "name"}, {"wanted", "other"}, {"had", "shapes"}}));
  ASSERT_EQ(miss["misses"].size(), 1u);
  EXPECT_EQ(miss["misses"][0]["key"], other.json()["key"]);
  const std::string present = ask({"why-miss", key}).out;
  EXPECT_TRUE(
      present.starts_with(key.substr(0, 19) + " (" + built_sku() + "): is there, no miss; when it"))
      << present;
  EXPECT_TRUE(present.ends_with(" first, no other engine was stored\n"))
      << "the one of another name came later: " << present;
}

TEST_F(FleetVerbs, AJobOfWhichNothingIsStoredNamesEveryDifferenceForPeople) {
  const std::string id = submitted("p4", {"--name", "missing"});
  const std::string text = ask({"why-miss", id}).out;
  EXPECT_NE(text.find(": was a miss when the job came, "), std::string::npos) << text;
  EXPECT_NE(text.find(", nearest was sha256:"), std::string::npos) << text;
  EXPECT_NE(text.find("  name: wanted missing, had "), std::string::npos) << text;
  EXPECT_NE(text.find("  sku: wanted p4, had "), std::string::npos) << text;
}

// What cannot be started is said before anything is: no process, no lock, no socket stays.
TEST_F(FleetVerbs, ServicesAreRefusedBeforeTheyStart) {
  const SignalsOfTheProcess restore;  // the services block theirs
  ASSERT_TRUE(write_file(file("in-the-way"), "").ok());
  const Refusal rows[] = {
      {{"coordinator"}, ExitCode::storage, data_folder().string()},  // this test's has the folder
      {{"coordinator", "--data", file("in-the-way")}, ExitCode::storage, "in-the-way"},
      {{"coordinator", "--data", file("d"), "--listen", "tcp://0.0.0.0:7000"},
       ExitCode::usage,
       "tcp://0.0.0.0:7000"},
      {{"worker", "--sku", "cpu-avx3"}, ExitCode::usage, "unknown target 'cpu-avx3'"},
      {{"worker", "--coordinator", "tcp://192.0.2.1:7"}, ExitCode::untrusted, "--key"},
      {{"worker", "--data", file("in-the-way/w")}, ExitCode::storage, "in-the-way"},
      {{"worker", "--device", "256"}, ExitCode::usage, "from 0 to 255"},
      {{"up", "--listen", "tcp://127.0.0.1:*"}, ExitCode::usage, "a definite port"},
      {{"up", "--listen", "tcp://127.0.0.1:0"}, ExitCode::usage, "a definite port"},
      {{"up", "--listen", "http://192.0.2.1:7000"}, ExitCode::usage, "192.0.2.1"},
      {{"up", "--skus", "h2000"}, ExitCode::usage, "unknown target 'h2000'"},
      {{"down"}, ExitCode::not_found, "no `enginery up` runs here"},
  };
  for (const Refusal& row : rows) expect_refused(row);
  EXPECT_FALSE(running_up().ok());
  EXPECT_FALSE(std::filesystem::exists(file("d"))) << "nothing was made for a bad address";
}

TEST_F(FleetVerbs, ASecondUpIsToldWhoRuns) {
  const auto first = UpLock::acquire();
  ASSERT_TRUE(first.ok());
  expect_refused({{"up"},
                  ExitCode::storage,
                  "(pid " + std::to_string(getpid()) + "); stop it with: enginery down"});
}

TEST(NoCoordinator, IsExit4WithTheAddressAndTheNextCommandInEveryVerbOfTheFarm) {
  const TemporaryHome home;
  const std::string address = "ipc://" + home.file("none.sock");
  for (std::vector<std::string> words : std::vector<std::vector<std::string>>{{"jobs"},
                                                                              {"show", "j"},
                                                                              {"logs", "j"},
                                                                              {"wait", "j"},
                                                                              {"explain", "j"},
                                                                              {"cancel", "j"},
                                                                              {"retry", "j"},
                                                                              {"fetch", "x"},
                                                                              {"workers"},
                                                                              {"drain", "w"},
                                                                              {"undrain", "w"},
                                                                              {"why-miss", "k"},
                                                                              {"skus"}}) {
    words.insert(words.end(), {"--coordinator", address});
    expect_refused({words, ExitCode::unreachable, "none.sock"});
    expect_refused({words, ExitCode::unreachable, "enginery up"});
  }
}

TEST(NoCoordinator, LeavesSkusWithThisMachinesOwnAndSaysSo) {
  const TemporaryHome home;
  const Printed skus = ask({"skus"});
  EXPECT_EQ(skus.code, ExitCode::ok);
  EXPECT_NE(skus.err.find("no coordinator answers"), std::string::npos) << skus.err;
  EXPECT_EQ(ask({"skus", "--json"}).err, "") << "scripts are not talked to";
}

TEST(EveryVerb, RefusesAnOptionThatItDoesNotHaveWithoutDoingAnything) {
  const TemporaryHome home;
  for (const Verb& verb : verbs())
    expect_refused({{verb.name, "--no-such-option"}, ExitCode::usage, "unknown option --no-such"});
  EXPECT_FALSE(std::filesystem::exists(home.path() / "home"));
}

// The schema that --json prints is part of the help, so that a script's author finds it.
TEST(EveryVerb, ThatPrintsJsonNamesItsSchemaInItsHelpAndTheReadmeListsIt) {
  const Bytes readme = *read_file(std::string(ENGINERY_SOURCE_DIR) + "/cli/README.md");
  int found = 0;
  for (const Verb& verb : verbs()) {
    Options options{verb.name, ""};
    verb.make()->declare(options);
    for (const OptionRow& row : options.rows()) {
      if (row.names.back() != "--json") continue;
      ++found;
      const size_t at = row.help.find("enginery.");
      ASSERT_NE(at, std::string::npos) << verb.name << ": " << row.help;
      const size_t slash = row.help.find('/', at);
      const std::string schema = row.help.substr(at, slash + 2 - at);
      EXPECT_TRUE(readme.find("`" + schema + "`") != std::string::npos ||
                  readme.find("`" + schema.substr(8) + "`") != std::string::npos)
          << verb.name << ": " << schema;
    }
  }
  EXPECT_GE(found, 20);
}

}  // namespace
}  // namespace enginery
