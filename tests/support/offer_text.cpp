#include "tests/support/offer_text.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "tests/support/problem_list.h"
#include "tests/support/problem_text.h"

namespace enginery {
namespace {

std::string tactic_text(const Tactic& tactic) {
  char estimate[32];
  std::snprintf(estimate, sizeof estimate, " %.4gus", tactic.estimated_us);
  const std::string key = tactic_key(tactic);
  std::string out = key.substr(key.find(':') + 1) + estimate;
  // A library sizes its workspace by the caches of the machine that it runs on.
  if (tactic.workspace_bytes > 0 && tactic.source != "onednn")
    out += " " + std::to_string(tactic.workspace_bytes) + "B";
  if (tactic.in_place_operand >= 0) out += " in_place=" + std::to_string(tactic.in_place_operand);
  if (tactic.view_of >= 0) out += " view_of=" + std::to_string(tactic.view_of);
  return out;
}

std::vector<std::string> lines_of(std::istream& in) {
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string path_of(const std::string& file) {
  return std::string(ENGINERY_SOURCE_FOLDER) + "/" + file;
}

bool writes_golden() {
  return std::getenv("ENGINERY_WRITE_GOLDEN") != nullptr;
}

}  // namespace

std::string offer_text(const TacticSource& source, const std::set<Precision>& allowed) {
  std::string out;
  for (const ProblemRow& row : conformance_problems()) {
    auto problem = parse_problem(row.text);
    EXPECT_TRUE(problem.ok()) << row.name << ": " << problem.error().message;
    auto offered = source.offer(*problem, allowed);
    std::string tactics;
    for (const Tactic& tactic : offered.ok() ? *offered : std::vector<Tactic>())
      tactics += (tactics.empty() ? "" : "; ") + tactic_text(tactic);
    out += std::string(row.name) + ": " + (tactics.empty() ? "-" : tactics) + "\n";
  }
  return out;
}

void expect_golden(const std::string& text, const std::string& file) {
  if (writes_golden()) {
    EXPECT_TRUE(std::ofstream(path_of(file)) << text) << "cannot write " << file;
    return;
  }
  std::ifstream in(path_of(file));
  ASSERT_TRUE(in) << "no file " << file;
  std::istringstream given(text);
  const auto expected = lines_of(in), actual = lines_of(given);
  EXPECT_EQ(actual.size(), expected.size()) << file;
  for (size_t i = 0; i < std::min(actual.size(), expected.size()); ++i)
    EXPECT_EQ(actual[i], expected[i]) << file << ":" << i + 1;
}

bool has_golden(const std::string& file) {
  return writes_golden() || std::ifstream(path_of(file)).good();
}

}  // namespace enginery
