#include "cli/options/trtexec.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "cli/verbs/verbs.h"
#include "engine/base/file.h"

namespace enginery {
namespace {

std::vector<std::string> known_options(std::string_view verb) {
  Options options{std::string(verb), ""};
  find_verb(verb)->make()->declare(options);
  std::vector<std::string> names = options.names();
  names.insert(names.end(), {"-v", "--verbose", "--log-level"});  // command_line.cpp's
  return names;
}

TrtexecWords translated(std::string_view verb, const std::vector<std::string>& arguments) {
  const auto words = translate_trtexec(arguments, verb, known_options(verb));
  EXPECT_TRUE(words.ok()) << words.error().message;
  return words.ok() ? *words : TrtexecWords{};
}

class TrtexecRow : public testing::TestWithParam<TrtexecOption> {};

// The row's option as trtexec's users write it, in one word, before the model.
TEST_P(TrtexecRow, DoesWhatItsStandingSays) {
  const TrtexecOption& row = GetParam();
  const std::vector<std::string> known = known_options(row.verb);
  const std::string word = std::string(row.name) + (row.takes_value ? "=value" : "");
  const auto result = translate_trtexec({word, "file"}, row.verb, known);
  if (row.standing == TrtexecStanding::refused) {
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().code, ErrorCode::usage);
    EXPECT_EQ(result.error().message,
              std::string(row.name) + " of trtexec: " + std::string(row.says));
    return;
  }
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_EQ(result->words.back(), "file");
  if (row.standing == TrtexecStanding::accepted) {
    EXPECT_EQ(result->words.size(), 1u);
    ASSERT_EQ(result->notes.size(), 1u);
    EXPECT_NE(result->notes[0].find(row.says), std::string::npos);
    return;
  }
  EXPECT_TRUE(result->notes.empty());
  ASSERT_EQ(result->words.size(), 2u);
  if (!row.says.starts_with("--")) {
    EXPECT_EQ(result->words[0], "value");
    return;
  }
  EXPECT_EQ(result->words[0], std::string(row.says) + (row.takes_value ? "=value" : ""));
  const std::string option(row.says.substr(0, row.says.find('=')));
  EXPECT_NE(std::find(known.begin(), known.end(), option), known.end())
      << option << " is an option of " << row.verb;
}

std::string name_of(const testing::TestParamInfo<TrtexecOption>& info) {
  return std::string(info.param.verb) + "_" + std::string(info.param.name.substr(2));
}

INSTANTIATE_TEST_SUITE_P(Trtexec, TrtexecRow,
                         testing::ValuesIn(trtexec_options().begin(), trtexec_options().end()),
                         name_of);

// The lines that most of trtexec's users write.
TEST(Trtexec, CommonCommandLinesAreOurs) {
  const struct {
    std::string_view verb;
    std::vector<std::string> words, ours;
  } rows[] = {
      {"build",
       {"--onnx=m.onnx", "--saveEngine=m.engine", "--fp16"},
       {"m.onnx", "--output=m.engine", "--precision=fp16"}},
      {"build",
       {"--onnx", "m.onnx", "--saveEngine", "m.engine", "--best", "--verbose"},
       {"m.onnx", "--output", "m.engine", "--precision=best", "--verbose"}},
      {"build",
       {"--onnx=m.onnx", "--minShapes=x:1x3", "--optShapes=x:1x3", "--maxShapes=x:1x3",
        "--builderOptimizationLevel=5", "--timingCacheFile=t.cache", "--skipInference"},
       {"m.onnx", "--min-shapes=x:1x3", "--opt-shapes=x:1x3", "--max-shapes=x:1x3", "--level=5",
        "--timing-cache=t.cache"}},
      {"build",
       {"--workspace", "4096", "--device", "0", "--onnx=m.onnx"},
       {"--mem-pool-size", "4096", "m.onnx"}},
      {"bench",
       {"--loadEngine=m.engine", "--iterations=100", "--duration=0", "--useCudaGraph"},
       {"m.engine", "--iterations=100", "--duration=0", "--use-cuda-graph"}},
      {"bench",
       {"--loadEngine=m.engine", "--avgRuns=10", "--percentile=99", "--noDataTransfers"},
       {"m.engine", "--no-data-transfers"}},
      {"submit", {"--onnx=m.onnx", "--fp16", "--buildOnly"}, {"m.onnx", "--precision=fp16"}},
  };
  for (const auto& row : rows) EXPECT_EQ(translated(row.verb, row.words).words, row.ours);
}

TEST(Trtexec, LeavesOtherWordsAlone) {
  const std::vector<std::string> same{"--noSuchThing=1", "model.onnx", "--", "--fp16"};
  EXPECT_EQ(translated("build", same).words, same);
  EXPECT_EQ(translated("fetch", {"--loadEngine"}).words, std::vector<std::string>{"--loadEngine"});
}

TEST(Trtexec, SaysEachNoteOnce) {
  EXPECT_EQ(translated("build", {"--useSpinWait", "--useSpinWait"}).notes.size(), 1u);
}

// docs/trtexec.md; ENGINERY_UPDATE_GOLDEN=1 writes it.
TEST(Trtexec, ThePageIsTheList) {
  const std::string page = std::string(ENGINERY_SOURCE_DIR) + "/docs/trtexec.md";
  if (std::getenv("ENGINERY_UPDATE_GOLDEN")) {
    ASSERT_TRUE(write_file(page, trtexec_page()).ok());
  }
  const auto written = read_file(page);
  ASSERT_TRUE(written.ok());
  EXPECT_EQ(*written, trtexec_page());
}

}  // namespace
}  // namespace enginery
