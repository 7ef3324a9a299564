#include "cli/options/complete.h"

#include <gtest/gtest.h>

namespace enginery {
namespace {

using Words = std::vector<std::string>;

std::vector<CompletableVerb> some_verbs() {
  const OptionRow target{{"--target"}, "LIST", "SKUs", false, Presence::optional, true};
  const OptionRow one_target{{"--target"}, "SKU", "a SKU"};
  const OptionRow precision{{"--precision"}, "LIST", "", false, Presence::optional, true};
  const OptionRow output{{"-o", "--output"}, "FILE", ""};
  const OptionRow level{{"--level"}, "0..5", ""};
  const OptionRow flag{{"--json"}, "", ""};
  const auto positional = [](const std::string& name, const std::string& help, bool repeated) {
    return OptionRow{{name}, "", help, true, Presence::required, repeated};
  };
  return {
      {"build", {positional("MODEL", "a file", false), one_target, precision, output, level, flag}},
      {"submit", {positional("MODEL", "a file", false), target, flag}},
      {"why-miss", {positional("KEY|JOB", "a key or a job", false)}},
      {"show", {positional("JOB", "a job", false), flag}},
      {"fetch", {positional("NAME", "a name", false), one_target}},
      {"drain", {positional("WORKER", "a worker", false)}},
      {"catalog",
       {positional("ACTION", "ls, show or gc; export; what they do", false),
        positional("ARGUMENT", "what it works on", true), flag}}};
}

Words live(LiveName kind) {
  switch (kind) {
    case LiveName::sku:
      return {"cpu-avx2", "cpu-avx512", "h200"};
    case LiveName::job:
      return {"j1", "j12"};
    case LiveName::engine:
      return {"resnet50"};
    case LiveName::worker:
      return {"host/h200"};
  }
  return {};
}

TEST(Complete, KnowsWhatMayComeNext) {
  const Words files{kFilesOfShell};
  const struct {
    Words words, expected;
  } rows[] = {
      {{"s"}, {"submit", "show"}},
      {{"build", "--l"}, {"--level"}},
      {{"build", "m.onnx", "--level", ""}, {"0", "1", "2", "3", "4", "5"}},
      {{"build", ""}, files},
      {{"build", "m.onnx", "-o", "x"}, files},
      {{"build", "m.onnx", "--output=x"}, files},
      {{"build", "--target", "t"}, {"this"}},
      {{"build", "--target=cp"}, {"--target=cpu-avx2", "--target=cpu-avx512"}},
      {{"build", "--precision", "fp32,b"}, {"fp32,bf16", "fp32,best"}},
      {{"submit", "--target", "h200,cpu"}, {"h200,cpu-avx2", "h200,cpu-avx512"}},
      {{"submit", "--target=h200,cpu-avx2,"},
       {"--target=h200,cpu-avx2,this", "--target=h200,cpu-avx2,cpu-avx512"}},
      {{"show", "j1"}, {"j1", "j12"}},
      {{"why-miss", ""}, {"j1", "j12"}},
      {{"show", "--json", ""}, {"j1", "j12"}},
      {{"show", "j1", ""}, {}},
      {{"fetch", ""}, {"resnet50", "j1", "j12"}},
      {{"drain", "h"}, {"host/h200"}},
      {{"catalog", ""}, {"ls", "show", "gc", "export"}},
      {{"catalog", "g"}, {"gc"}},
      {{"catalog", "show", ""}, files},
      {{"nosuch", ""}, {}},
  };
  for (const auto& row : rows) {
    std::string line;
    for (const std::string& word : row.words) line += word + " ";
    EXPECT_EQ(complete(row.words, some_verbs(), live), row.expected) << line;
  }
}

}  // namespace
}  // namespace enginery
