#include "tests/cli/verbs/ask.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/command_line.h"
#include "tests/cli/fake_console.h"

namespace enginery {

Json Printed::json() const {
  return Json::parse(out);
}

Printed ask(const std::vector<std::string>& words) {
  FakeConsole fake;
  const ExitCode code = run_command_line(words, fake.console());
  return {code, fake.out(), fake.err()};
}

void expect_refused(const Refusal& refusal) {
  std::string line;
  for (const std::string& word : refusal.words) line += word + " ";
  SCOPED_TRACE(line);
  const Printed printed = ask(refusal.words);
  EXPECT_EQ(printed.code, refusal.code) << printed.err;
  EXPECT_EQ(printed.out, "");
  // The last line is the refusal; before it there may be a warning, or how far the verb came.
  const size_t end = printed.err.size() - (printed.err.ends_with('\n') ? 1 : 0);
  const size_t before = end == 0 ? std::string::npos : printed.err.rfind('\n', end - 1);
  const std::string last = printed.err.substr(before == std::string::npos ? 0 : before + 1);
  EXPECT_TRUE(last.starts_with("enginery " + refusal.words[0] + ": ")) << printed.err;
  EXPECT_NE(last.find(refusal.message), std::string::npos) << printed.err;
}

void expect_fields(const Json& object, const std::vector<std::string>& fields) {
  std::vector<std::string> found;
  for (const auto& [name, value] : object.items()) found.push_back(name);
  found.resize(std::min(found.size(), fields.size()));
  EXPECT_EQ(found, fields) << object.dump(2);
}

}  // namespace enginery
