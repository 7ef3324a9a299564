// `bench`: how much it measures, what it reports, and what it refuses.
#include <nlohmann/json.hpp>

#include "tests/cli/verbs/example_engine.h"

namespace enginery {
namespace {

class BenchVerb : public ExampleEngineTest {
 protected:
  static Printed bench(std::vector<std::string> options) {
    options.insert(options.end(), {"--warm-up", "0"});
    return on_engine("bench", std::move(options));
  }
};

TEST_F(BenchVerb, IterationsWithoutADurationAreExactAndExported) {
  const Printed measured =
      bench({"--iterations", "7", "--export-times", file("times.json"), "--json"});
  ASSERT_EQ(measured.code, ExitCode::ok) << measured.err;
  EXPECT_EQ(measured.json()["iterations"], 7);
  const Json times = Json::parse(*read_file(file("times.json")));
  expect_fields(times, {"schema", "milliseconds"});
  EXPECT_EQ(times["schema"], "enginery.bench.times/1");
  ASSERT_EQ(times["milliseconds"].size(), 7u);
  const double least =
      *std::min_element(times["milliseconds"].begin(), times["milliseconds"].end());
  EXPECT_EQ(measured.json()["latency"]["min_ms"], least) << "the report is of the same runs";
}

TEST_F(BenchVerb, ADurationIsALeastTimeWhateverTheIterations) {
  const Json json = bench({"--iterations", "1", "--duration", "0.2", "--json"}).json();
  EXPECT_GT(json["iterations"], 1);
  const double total = json["iterations"].get<double>() * json["latency"]["mean_ms"].get<double>();
  EXPECT_GE(total, 150) << "0.2 s, but for what lies between the runs";
}

TEST_F(BenchVerb, StreamsAddTheirRuns) {
  const Json json = bench({"--iterations", "3", "--streams", "2", "--json"}).json();
  EXPECT_EQ(json["streams"], 2);
  EXPECT_EQ(json["iterations"], 6) << "three in each";
}

// 0 MHz and 0 degrees are what a CPU does not tell.
TEST_F(BenchVerb, WhatTheDeviceDoesNotTellIsNull) {
  const Json state = on_engine("bench", {"--iterations", "1", "--json"}).json()["device_state"];
  for (const auto& [name, value] : state.items()) {
    if (name.ends_with("_c") || name.ends_with("_w")) {
      EXPECT_TRUE(value.is_null()) << name;
    }
  }
  EXPECT_TRUE(state["foreign_load"].is_number());
}

TEST_F(BenchVerb, AModelIsNoTamperedEngine) {
  expect_refused(
      {{"bench", kExampleModel}, ExitCode::invalid_input, "enginery build " + kExampleModel});
  expect_refused({{"run", kExampleModel}, ExitCode::invalid_input, "is a model"});
}

TEST_F(BenchVerb, TheReportNamesWhatWasMeasured) {
  const Json json =
      bench({"--iterations", "2", "--no-data-transfers", "--seed", "9", "--json"}).json();
  EXPECT_EQ(json["transfers"], false);
  EXPECT_EQ(json["seed"], 9);
  EXPECT_EQ(json["shapes"]["picture"], Json({1, 3, 48, 48}));
  EXPECT_EQ(json["engine"]["content_digest"], ExampleHome::report()["content_digest"]);
  EXPECT_EQ(json["engine"]["digest"], ExampleHome::report()["engine"]);
  EXPECT_EQ(json["engine"]["precision"], "fp32");
  EXPECT_FALSE(json.contains("layers")) << "only with --dump-profile";
}

TEST_F(BenchVerb, TheProfileIsOfEveryLayerAndItsSharesAreAll) {
  const Json layers = ask({"inspect", engine(), "--json"}).json()["layers"];
  const Json json = bench({"--iterations", "2", "--dump-profile", "--json"}).json();
  ASSERT_EQ(json["layers"].size(), layers.size());
  double shares = 0;
  for (size_t i = 0; i < layers.size(); ++i) {
    EXPECT_EQ(json["layers"][i]["name"], layers[i]["name"]);
    EXPECT_EQ(json["layers"][i]["tactic"], layers[i]["tactic"]);
    shares += json["layers"][i]["share"].get<double>();
  }
  EXPECT_NEAR(shares, 1, 1e-9);
}

TEST_F(BenchVerb, ForPeopleItIsThreeLinesAndWithAProfileATable) {
  const Printed plain = bench({"--iterations", "2"});
  EXPECT_EQ(std::count(plain.out.begin(), plain.out.end(), '\n'), 3) << plain.out;
  for (const char* part : {"shapes for cpu-", ", fp32, 1 threads, batch 1, 2 runs\n",
                           "\nlatency ms: median ", "\nthroughput: "})
    EXPECT_NE(plain.out.find(part), std::string::npos) << part << "\n" << plain.out;
  EXPECT_EQ(plain.out.find("without transfers"), std::string::npos);
  const Printed profile = bench({"--iterations", "2", "--dump-profile", "--no-data-transfers"});
  for (const char* part : {", without transfers\n", "\nLAYER ", "\nsum "})
    EXPECT_NE(profile.out.find(part), std::string::npos) << part << "\n" << profile.out;
}

TEST_F(BenchVerb, APageHasTheLatencyAndWithAProfileTheLayers) {
  const std::string to = file("bench.html");
  ASSERT_EQ(bench({"--iterations", "5", "--html", to}).code, ExitCode::ok);
  const std::string plain = *read_file(to);
  EXPECT_NE(plain.find("5 runs"), std::string::npos);
  EXPECT_EQ(plain.find("Time by layer"), std::string::npos);
  ASSERT_EQ(bench({"--iterations", "5", "--html", to, "--dump-profile"}).code, ExitCode::ok);
  const std::string page = *read_file(to);
  EXPECT_NE(page.find("Time by layer"), std::string::npos);
  EXPECT_LT(page.size(), 2u << 20);
}

TEST_F(BenchVerb, BesideOthersEveryRoundHasARunOfEach) {
  const Printed beside =
      bench({"--beside", engine() + "," + engine(), "--iterations", "4", "--json"});
  ASSERT_EQ(beside.code, ExitCode::ok) << beside.err;
  const Json json = beside.json();
  expect_fields(json, {"schema", "rounds", "transfers", "engines"});
  EXPECT_EQ(json["schema"], "enginery.bench.beside/1");
  EXPECT_EQ(json["rounds"], 4);
  ASSERT_EQ(json["engines"].size(), 3u);
  EXPECT_EQ(json["engines"][0]["ratio_to_first"], 1.0);
  for (const Json& one : json["engines"]) {
    EXPECT_EQ(one["file"], engine());
    EXPECT_GT(one["latency"]["median_ms"], 0);
  }
}

TEST_F(BenchVerb, TheEnginesOwnShapeIsTheOneThatItHas) {
  EXPECT_EQ(bench({"--shapes", "picture:1x3x48x48", "--iterations", "1"}).code, ExitCode::ok);
  const Printed other = bench({"--shapes", "picture:2x3x48x48", "--iterations", "1"});
  EXPECT_EQ(other.code, ExitCode::invalid_input);
  EXPECT_NE(other.err.find("enginery build MODEL --shapes=picture:2x3x48x48"), std::string::npos)
      << other.err;
}

TEST_F(BenchVerb, AGraphHasNoEffectOnACpuAndSaysSo) {
  const Printed graph = bench({"--use-cuda-graph", "--iterations", "1"});
  EXPECT_EQ(graph.code, ExitCode::ok);
  EXPECT_NE(graph.err.find("--use-cuda-graph has no effect on a CPU"), std::string::npos);
}

TEST_F(BenchVerb, RefusesWhatContradictsItself) {
  const Refusal rows[] = {
      {{"bench", engine(), "--iterations", "0"}, ExitCode::usage, "--iterations takes a whole"},
      {{"bench", engine(), "--duration=-1"},
       ExitCode::usage,
       "--duration takes a number from 0 on"},
      {{"bench", engine(), "--streams", "257"}, ExitCode::usage, "from 1 to 256"},
      {{"bench", engine(), "--seed", "-1"}, ExitCode::usage, "--seed"},
      {{"bench", engine(), "--threads", "1", "--shapes", "picture"}, ExitCode::usage, "picture"},
      {{"bench", engine(), "--threads", "1", "--beside", engine(), "--dump-profile"},
       ExitCode::usage,
       "cannot be combined"},
      {{"bench", engine(), "--threads", "1", "--beside", engine(), "--export-times", "x"},
       ExitCode::usage,
       "cannot be combined"},
      {{"bench", engine(), "--threads", "1", "--beside", file("no.engine")},
       ExitCode::not_found,
       "no.engine"},
      {{"bench", engine(), "--threads", "1", "--warm-up", "0", "--iterations", "1",
        "--export-times", file("no/such/folder.json")},
       ExitCode::storage,
       "no/such/folder.json"},
  };
  for (const Refusal& row : rows) expect_refused(row);
}

}  // namespace
}  // namespace enginery
