#include "cli/options/trtexec.h"

#include <gtest/gtest.h>

#include "cli/verbs/verbs.h"

namespace enginery {
namespace {

std::vector<std::string> known_options(std::string_view verb) {
  Options options{std::string(verb), ""};
  find_verb(verb)->make()->declare(options);
  return options.names();
}

std::string translated(std::string_view verb, const std::string& argument) {
  const auto words = translate_trtexec({argument}, known_options(verb));
  return words.size() == 1 ? words.front() : "(" + std::to_string(words.size()) + " words)";
}

TEST(Trtexec, EveryNameOfTheContractIsAnAliasInBuild) {
  EXPECT_EQ(translated("build", "--minShapes=x:1x3"), "--min-shapes=x:1x3");
  EXPECT_EQ(translated("build", "--optShapes=x:1x3"), "--opt-shapes=x:1x3");
  EXPECT_EQ(translated("build", "--maxShapes=x:1x3"), "--max-shapes=x:1x3");
  EXPECT_EQ(translated("build", "--fp16"), "--precision=fp16");
  EXPECT_EQ(translated("build", "--int8"), "--precision=int8");
  EXPECT_EQ(translated("build", "--best"), "--precision=best");
  EXPECT_EQ(translated("build", "--calib=table"), "--calib=table");
  EXPECT_EQ(translated("build", "--timingCacheFile=t.cache"), "--timing-cache=t.cache");
  EXPECT_EQ(translated("build", "--errorOnTimingCacheMiss"), "--error-on-timing-cache-miss");
  EXPECT_EQ(translated("build", "--memPoolSize=workspace:100"), "--mem-pool-size=workspace:100");
  EXPECT_EQ(translated("build", "--builderOptimizationLevel=5"), "--level=5");
  EXPECT_EQ(translated("build", "--profilingVerbosity=detailed"), "--profiling-verbosity=detailed");
  EXPECT_EQ(translated("build", "--saveEngine=a.engine"), "--output=a.engine");
  EXPECT_EQ(translated("build", "--onnx=a.onnx"), "a.onnx");
}

TEST(Trtexec, EveryNameOfTheContractIsAnAliasInBench) {
  EXPECT_EQ(translated("bench", "--loadEngine=a.engine"), "a.engine");
  EXPECT_EQ(translated("bench", "--warmUp=200"), "--warm-up=200");
  EXPECT_EQ(translated("bench", "--useCudaGraph"), "--use-cuda-graph");
  EXPECT_EQ(translated("bench", "--noDataTransfers"), "--no-data-transfers");
  EXPECT_EQ(translated("bench", "--dumpProfile"), "--dump-profile");
  EXPECT_EQ(translated("bench", "--exportTimes=a.json"), "--export-times=a.json");
}

TEST(Trtexec, LeavesOtherWordsAlone) {
  EXPECT_EQ(translated("build", "--noSuchThing=1"), "--noSuchThing=1");
  EXPECT_EQ(translated("build", "model.onnx"), "model.onnx");
  const std::vector<std::string> words{"--", "--fp16"};
  EXPECT_EQ(translate_trtexec(words, known_options("build")), words);
}

TEST(Trtexec, AModelNamedByOptionInTwoWordsStandsAlone) {
  EXPECT_EQ(translate_trtexec({"--loadEngine", "a.engine"}, {}),
            std::vector<std::string>{"a.engine"});
}

}  // namespace
}  // namespace enginery
