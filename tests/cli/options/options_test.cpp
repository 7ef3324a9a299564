#include "cli/options/options.h"

#include <gtest/gtest.h>

#include <sstream>

namespace enginery {
namespace {

struct Declared {
  std::string model, output = "default";
  std::vector<std::string> rest, inputs, targets;
  bool json = false;
  std::optional<int64_t> threads;
  std::optional<double> seconds;
  Options options{"build", "build a thing"};

  Declared() {
    options.positional("MODEL", model, "the model");
    options.positionals("REST", rest, "more", Presence::optional);
    options.text("-o,--output", output, "FILE", "where to");
    options.texts("--input", inputs, "FILE", "repeatable");
    options.list("--target", targets, "LIST", "names");
    options.flag("--json", json, "print JSON");
    options.number("--threads", threads, {1, 64}, "N", "threads");
    options.real("--duration", seconds, "SECONDS", "how long");
  }
  Error error(const std::vector<std::string>& arguments) {
    const auto parsed = options.parse(arguments);
    return parsed.ok() ? Error{ErrorCode::internal, "it parsed"} : parsed.error();
  }
};

TEST(Options, FillsEveryKindOfVariable) {
  Declared d;
  const auto parsed =
      d.options.parse({"m.onnx", "-o", "x", "--input=a", "--input", "b=c", "--target", "p,q",
                       "--target=r", "--json", "--threads=3", "--duration", "1.5", "more", "-"});
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  EXPECT_EQ(d.model, "m.onnx");
  EXPECT_EQ(d.output, "x");
  EXPECT_EQ(d.inputs, (std::vector<std::string>{"a", "b=c"}));
  EXPECT_EQ(d.targets, (std::vector<std::string>{"p", "q", "r"}));
  EXPECT_TRUE(d.json);
  EXPECT_EQ(d.threads, 3);
  EXPECT_EQ(d.seconds, 1.5);
  EXPECT_EQ(d.rest, (std::vector<std::string>{"more", "-"}));
}

TEST(Options, AnOptionWithoutItsValueSaysSo) {
  Declared d;
  EXPECT_TRUE(d.error({"m.onnx", "--threads"}).message.starts_with("--threads needs a value"))
      << d.error({"m.onnx", "--threads"}).message;
}

TEST(Options, HelpFitsTheTerminalAndKeepsExamples) {
  Declared d;
  d.options.about(
      "A sentence of many words that does not fit into forty columns.\n\n"
      "  enginery build an-example-is-copied-as-it-is.onnx --json");
  std::istringstream lines(d.options.help(60));
  for (std::string line; std::getline(lines, line);)
    EXPECT_TRUE(line.size() <= 60 || line.starts_with("  enginery build")) << line;
  EXPECT_NE(d.options.help(60).find("copied-as-it-is.onnx --json\n"), std::string::npos);
}

TEST(Options, WhatIsNotGivenKeepsItsDefault) {
  Declared d;
  ASSERT_TRUE(d.options.parse({"m.onnx"}).ok());
  EXPECT_EQ(d.output, "default");
  EXPECT_FALSE(d.threads);
  EXPECT_FALSE(d.json);
}

TEST(Options, AnUnknownOptionIsUsageWithTheNearestName) {
  Declared d;
  const Error error = d.error({"m.onnx", "--thraeds=3"});
  EXPECT_EQ(error.code, ErrorCode::usage);
  EXPECT_NE(error.message.find("did you mean --threads?"), std::string::npos) << error.message;
}

TEST(Options, AMissingPositionalIsUsage) {
  Declared d;
  const Error error = d.error({"--json"});
  EXPECT_EQ(error.code, ErrorCode::usage);
  EXPECT_NE(error.message.find("MODEL is missing"), std::string::npos) << error.message;
}

TEST(Options, BadNumbersAreUsageAndSayTheRange) {
  for (const std::string text : {"0", "65", "x", "3x", "1.5", "99999999999999999999"}) {
    Declared d;
    const Error error = d.error({"m.onnx", "--threads=" + text});
    EXPECT_EQ(error.code, ErrorCode::usage) << text;
    EXPECT_NE(error.message.find("from 1 to 64"), std::string::npos) << error.message;
  }
  for (const std::string text : {"x", "inf", "nan", "-1"}) {
    Declared d;
    EXPECT_EQ(d.error({"m.onnx", "--duration=" + text}).code, ErrorCode::usage) << text;
  }
}

TEST(Options, AMissingValueIsUsage) {
  Declared d;
  EXPECT_EQ(d.error({"m.onnx", "--threads"}).code, ErrorCode::usage);
}

TEST(Options, HelpNeedsNothingElse) {
  Declared d;
  const auto parsed = d.options.parse({"--help"});
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(*parsed, Parsed::help);
  const std::string help = d.options.help();
  for (const std::string& name : d.options.names()) {
    if (name != "-h" && name != "--help") {
      EXPECT_NE(help.find(name), std::string::npos) << name;
    }
  }
  EXPECT_NE(help.find("Usage: enginery build MODEL [REST...] [OPTIONS]"), std::string::npos)
      << help;
}

TEST(Options, TheConfigurationFillsWhatWasNotGiven) {
  const ConfiguredValue configured = [](std::string_view name) -> std::optional<std::string> {
    if (name == "threads") return "7";
    if (name == "json") return "true";
    return std::nullopt;
  };
  Declared d;
  ASSERT_TRUE(d.options.parse({"m.onnx"}, configured).ok());
  EXPECT_EQ(d.threads, 7);
  EXPECT_TRUE(d.json);
  Declared given;
  ASSERT_TRUE(given.options.parse({"m.onnx", "--threads=2"}, configured).ok());
  EXPECT_EQ(given.threads, 2);
}

TEST(Options, ABadConfiguredValueIsAsBadAsAGivenOne) {
  Declared d;
  const auto parsed =
      d.options.parse({"m.onnx"}, [](std::string_view name) -> std::optional<std::string> {
        return name == "threads" ? std::optional<std::string>("many") : std::nullopt;
      });
  ASSERT_FALSE(parsed.ok());
  EXPECT_EQ(parsed.error().code, ErrorCode::usage);
}

TEST(Options, TheLastOfARepeatedOptionWins) {
  Declared d;
  ASSERT_TRUE(
      d.options.parse({"m.onnx", "--threads=2", "-o", "a", "--threads", "3", "--output=b"}).ok());
  EXPECT_EQ(d.threads, 3);
  EXPECT_EQ(d.output, "b");
}

TEST(Options, AFlagTakesTrueOrFalseAndNothingElse) {
  const std::pair<const char*, bool> rows[] = {
      {"--json", true}, {"--json=true", true}, {"--json=false", false}};
  for (const auto& [argument, expected] : rows) {
    Declared d;
    ASSERT_TRUE(d.options.parse({"m.onnx", argument}).ok()) << argument;
    EXPECT_EQ(d.json, expected) << argument;
  }
  Declared d;
  const Error error = d.error({"m.onnx", "--json=maybe"});
  EXPECT_EQ(error.code, ErrorCode::usage);
  EXPECT_NE(error.message.find("--json"), std::string::npos) << error.message;
}

TEST(Options, BehindTwoDashesEverythingIsAnArgument) {
  Declared d;
  ASSERT_TRUE(d.options.parse({"--", "--strange-name.onnx", "--json"}).ok());
  EXPECT_EQ(d.model, "--strange-name.onnx");
  EXPECT_EQ(d.rest, std::vector<std::string>{"--json"});
  EXPECT_FALSE(d.json);
}

TEST(Options, AListLeavesEmptyPartsOut) {
  Declared d;
  ASSERT_TRUE(d.options.parse({"m.onnx", "--target=,a,,b,", "--target", "c"}).ok());
  EXPECT_EQ(d.targets, (std::vector<std::string>{"a", "b", "c"}));
}

TEST(Options, AConfiguredListIsSplitAsAGivenOneAndReplacedByIt) {
  const ConfiguredValue configured = [](std::string_view name) -> std::optional<std::string> {
    return name == "target" ? std::optional<std::string>("a,b") : std::nullopt;
  };
  Declared d;
  ASSERT_TRUE(d.options.parse({"m.onnx"}, configured).ok());
  EXPECT_EQ(d.targets, (std::vector<std::string>{"a", "b"}));
  Declared given;
  ASSERT_TRUE(given.options.parse({"m.onnx", "--target=c"}, configured).ok());
  EXPECT_EQ(given.targets, std::vector<std::string>{"c"}) << "not added to the configured ones";
}

TEST(Options, AConfiguredFlagMustBeOne) {
  Declared d;
  const auto parsed =
      d.options.parse({"m.onnx"}, [](std::string_view name) -> std::optional<std::string> {
        return name == "json" ? std::optional<std::string>("yes") : std::nullopt;
      });
  ASSERT_FALSE(parsed.ok());
  EXPECT_NE(parsed.error().message.find("not 'yes'"), std::string::npos) << parsed.error().message;
}

TEST(Options, HelpWinsOverEverythingThatIsWrongButNotBehindTwoDashes) {
  Declared d;
  EXPECT_EQ(*d.options.parse({"--nonsense", "-h"}), Parsed::help);
  Declared behind;
  const auto parsed = behind.options.parse({"--", "--help"});
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  EXPECT_EQ(*parsed, Parsed::run);
  EXPECT_EQ(behind.model, "--help");
}

TEST(Options, EveryRefusalSaysWhereTheOptionsAreListed) {
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {}, {"m.onnx", "--nonsense"}, {"m.onnx", "--threads=x"}, {"m.onnx", "--threads"}}) {
    Declared d;
    EXPECT_NE(d.error(arguments).message.find("(enginery build --help lists the options)"),
              std::string::npos)
        << d.error(arguments).message;
  }
}

}  // namespace
}  // namespace enginery
