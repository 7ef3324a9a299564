// `run`: what it writes and prints, and what it refuses before it runs anything.
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/command_line.h"
#include "engine/data/npy.h"
#include "tests/cli/fake_console.h"
#include "tests/cli/verbs/example_engine.h"

namespace enginery {
namespace {

namespace fs = std::filesystem;

class RunVerb : public ExampleEngineTest {
 protected:
  static Printed run_on(std::vector<std::string> options) {
    return on_engine("run", std::move(options));
  }
  // All pictures of the example, in one run each.
  static Printed on_pictures(std::vector<std::string> options) {
    options.insert(options.end(),
                   {"--input", kExamplePictures, "--preprocess", kExamplePreprocess});
    return run_on(std::move(options));
  }
  // `rows` inputs of ones.
  static std::string ones(const std::string& name, int64_t rows) {
    Tensor tensor(DataType::float32, {rows, 3, 48, 48});
    for (float& value : tensor.mutable_data<float>()) value = 1;
    EXPECT_TRUE(write_npy(file(name), tensor).ok());
    return file(name);
  }
  static std::vector<std::string> lines_of(const std::string& text) {
    std::istringstream stream(text);
    std::vector<std::string> lines;
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
  }
};

TEST_F(RunVerb, WritesEveryOutputAndTheNamesOfItsRowsAndPrintsThePaths) {
  const Printed ran = on_pictures({"--output", file("made/here")});
  ASSERT_EQ(ran.code, ExitCode::ok) << ran.err;
  EXPECT_EQ(ran.out, file("made/here/scores.npy") + "\n");
  auto array = NpyFile::open(file("made/here/scores.npy"));
  ASSERT_TRUE(array.ok()) << array.error().message;
  EXPECT_EQ(array->type().dims, (Dims{10, 10}));
  EXPECT_EQ(array->type().type, DataType::float32);
  std::vector<std::string> pictures;
  for (const auto& entry : fs::directory_iterator(kExamplePictures))
    pictures.push_back(entry.path().filename());
  std::sort(pictures.begin(), pictures.end());
  EXPECT_EQ(lines_of(*read_file(file("made/here/inputs.txt"))), pictures);
}

TEST_F(RunVerb, TopLinesAreFileRankClassLabelAndScoreBestFirst) {
  const Printed ran = on_pictures({"--top", "3", "--labels", kExampleFolder + "/labels.txt"});
  ASSERT_EQ(ran.code, ExitCode::ok) << ran.err;
  const auto lines = lines_of(ran.out);
  ASSERT_EQ(lines.size(), 30u);
  double before = 2;
  for (size_t i = 0; i < lines.size(); ++i) {
    std::istringstream cells(lines[i]);
    std::string name, rank, index, label, score;
    for (std::string* cell : {&name, &rank, &index, &label}) std::getline(cells, *cell, '\t');
    std::getline(cells, score);
    EXPECT_EQ(rank, std::to_string(i % 3 + 1)) << lines[i];
    if (rank == "1") {
      EXPECT_EQ(label + ".png", name) << "the example network knows its pictures";
      before = 2;
    }
    EXPECT_LE(std::stod(score), before) << lines[i];
    before = std::stod(score);
  }
}

TEST_F(RunVerb, LabelsThatAreFewerThanTheClassesLeaveTheRestWithout) {
  ASSERT_TRUE(write_file(file("one.txt"), "first class\n").ok());
  const Printed ran =
      run_on({"--input", ones("1.npy", 1), "--top", "10", "--labels", file("one.txt")});
  ASSERT_EQ(ran.code, ExitCode::ok) << ran.err;
  for (const std::string& line : lines_of(ran.out)) {
    const bool first = line.find("\t0\t") != std::string::npos;
    EXPECT_EQ(line.find("first class") != std::string::npos, first) << line;
    EXPECT_EQ(std::count(line.begin(), line.end(), '\t'), 4) << line;
  }
}

TEST_F(RunVerb, JsonHasTheOutputsAndTheBestClasses) {
  const Printed ran =
      run_on({"--input", ones("3.npy", 3), "--top", "2", "--output", file("json"), "--json"});
  ASSERT_EQ(ran.code, ExitCode::ok) << ran.err;
  const Json json = ran.json();
  expect_fields(json, {"schema", "engine", "sku", "rows", "outputs", "top"});
  EXPECT_EQ(json["schema"], "enginery.run/1");
  EXPECT_EQ(json["rows"], 3);
  ASSERT_EQ(json["outputs"].size(), 1u);
  EXPECT_EQ(json["outputs"][0], (Json{{"name", "scores"},
                                      {"type", "float32"},
                                      {"dims", {3, 10}},
                                      {"file", file("json/scores.npy")}}));
  ASSERT_EQ(json["top"].size(), 6u);
  expect_fields(json["top"][0], {"file", "rank", "class", "label", "score"});
  EXPECT_EQ(json["top"][2]["file"], file("3.npy") + "[1]");
}

TEST_F(RunVerb, WithoutAWishForOutputsSaysWhatThereIsAndHowToHaveIt) {
  const Printed ran = run_on({"--input", ones("1.npy", 1)});
  ASSERT_EQ(ran.code, ExitCode::ok) << ran.err;
  EXPECT_EQ(lines_of(ran.out).size(), 2u) << ran.out;
  EXPECT_TRUE(ran.out.starts_with("OUTPUT")) << ran.out;
  EXPECT_NE(ran.err.find("--output DIR writes"), std::string::npos) << ran.err;
  EXPECT_TRUE(
      run_on({"--input", ones("1.npy", 1), "--json"}).json()["outputs"][0]["file"].is_null());
}

// What was saved gives the same outputs again, all rows of it.
TEST_F(RunVerb, SavesTheInputsThatItRanOn) {
  const Printed ran = on_pictures({"--output", file("a"), "--save-inputs", file("saved")});
  ASSERT_EQ(ran.code, ExitCode::ok) << ran.err;
  const Printed again = run_on({"--input", file("saved/picture.npy"), "--output", file("b")});
  ASSERT_EQ(again.code, ExitCode::ok) << again.err;
  EXPECT_EQ(*read_file(file("a/scores.npy")), *read_file(file("b/scores.npy")));
}

TEST_F(RunVerb, MakesInputsUpFromASeed) {
  for (const char* seed : {"1", "1", "2"}) {
    const std::string to = file(std::string("made") + seed);
    ASSERT_EQ(run_on({"--seed", seed, "--save-inputs", to}).code, ExitCode::ok);
  }
  const Tensor one = *NpyFile::open(file("made1/picture.npy"))->read_all();
  EXPECT_EQ(one.dims(), (Dims{1, 3, 48, 48}));
  EXPECT_NE(*read_file(file("made1/picture.npy")), *read_file(file("made2/picture.npy")));
  expect_refused({{"run", engine(), "--seed", "1", "--input", ones("1.npy", 1), "--threads", "1"},
                  ExitCode::usage,
                  "not both"});
}

TEST_F(RunVerb, ARunInSlicesGivesTheSameAsOneByOne) {
  ASSERT_EQ(run_on({"--input", ones("1.npy", 1), "--output", file("one")}).code, ExitCode::ok);
  ASSERT_EQ(run_on({"--input", ones("3.npy", 3), "--output", file("three")}).code, ExitCode::ok);
  const Tensor one = *NpyFile::open(file("one/scores.npy"))->read_all();
  const Tensor three = *NpyFile::open(file("three/scores.npy"))->read_all();
  for (int64_t row = 0; row < 3; ++row)
    for (int64_t i = 0; i < 10; ++i)
      EXPECT_EQ(three.data<float>()[row * 10 + i], one.data<float>()[i]) << row << " " << i;
}

TEST_F(RunVerb, RefusesWhatDoesNotFit) {
  ASSERT_TRUE(write_file(file("typo.toml"), "[input]\nresiez = [48, 48]\n").ok());
  ASSERT_TRUE(write_file(file("other.toml"), "[input.nope]\nresize = [48, 48]\n").ok());
  ASSERT_TRUE(write_file(file("text.npy"), "no array").ok());
  const std::string picture = kExamplePictures + "/star.png", array = ones("1.npy", 1);
  const Refusal rows[] = {
      {{"run"}, ExitCode::usage, "ENGINE is missing"},
      {{"run", engine()}, ExitCode::usage, "picture"},
      {{"run", engine(), "--input", "nope=" + array}, ExitCode::usage, "nope"},
      {{"run", engine(), "--input", file("no.npy")}, ExitCode::not_found, "no.npy"},
      {{"run", engine(), "--input", file("text.npy")}, ExitCode::invalid_input, "text.npy"},
      {{"run", engine(), "--input", picture}, ExitCode::invalid_input, "--preprocess"},
      {{"run", engine(), "--input", picture, "--preprocess", file("no.toml")},
       ExitCode::not_found,
       "no.toml"},
      {{"run", engine(), "--input", picture, "--preprocess", file("typo.toml")},
       ExitCode::invalid_input,
       "resiez"},
      {{"run", engine(), "--input", picture, "--preprocess", file("other.toml")},
       ExitCode::invalid_input,
       "nope"},
      {{"run", engine(), "--input", array, "--top", "0"}, ExitCode::usage, "--top"},
      {{"run", engine(), "--input", array, "--top", "1", "--labels", file("no.txt")},
       ExitCode::not_found,
       "no.txt"},
      {{"run", engine(), "--input", array, "--top", "1", "--top-output", "nope", "--threads", "1"},
       ExitCode::usage,
       "no output 'nope'"},
      {{"run", file("no.engine"), "--input", array}, ExitCode::not_found, "no.engine"},
  };
  for (const Refusal& row : rows) expect_refused(row);
}

TEST_F(RunVerb, AFolderThatCannotBeMadeIsToldBeforeAnythingRuns) {
  ASSERT_TRUE(write_file(file("in-the-way"), "").ok());
  expect_refused({{"run", engine(), "--input", ones("1.npy", 1), "--output", file("in-the-way/out"),
                   "--threads", "1"},
                  ExitCode::storage,
                  "in-the-way"});
}

// Progress is for people: it is drawn on a terminal, taken away before the result, and nothing of
// it is left elsewhere.
TEST_F(RunVerb, ShowsProgressOnATerminalAlone) {
  const std::vector<std::string> words{"run",       engine(), "--input", ones("3.npy", 3),
                                       "--threads", "1",      "--top",   "1"};
  FakeConsole terminal(Terminal{true, false});
  ASSERT_EQ(run_command_line(words, terminal.console()), ExitCode::ok);
  EXPECT_NE(terminal.err().find("running"), std::string::npos) << terminal.err();
  EXPECT_TRUE(terminal.err().ends_with("\x1b[1A\r\x1b[J")) << "the bar is gone at the end";
  EXPECT_EQ(ask(words).err.find("running"), std::string::npos);
}

}  // namespace
}  // namespace enginery
