// Golden files: text that is committed beside its test, so that a change of behaviour is a diff
// that a reviewer reads.
//
// ENGINERY_UPDATE_GOLDEN=1 in the environment writes the files instead of comparing: run the test
// program once with it, read `git diff`, commit.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace enginery::test {

inline std::string text_of_file(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// The first line in which the texts differ: "line 7: 'a' instead of 'b'".
inline std::string first_difference(const std::string& got, const std::string& wanted) {
  std::istringstream a(got), b(wanted);
  std::string mine, theirs;
  for (int line = 1;; ++line) {
    const bool more = static_cast<bool>(std::getline(a, mine));
    const bool wants_more = static_cast<bool>(std::getline(b, theirs));
    if (!more && !wants_more) return "the line ends differ";
    if (!more) mine = "(the end)";
    if (!wants_more) theirs = "(the end)";
    if (mine != theirs)
      return "line " + std::to_string(line) + ": '" + mine + "' instead of '" + theirs + "'";
  }
}

// `text` is what `file` holds.
inline void expect_golden(const std::filesystem::path& file, const std::string& text) {
  const char* update = std::getenv("ENGINERY_UPDATE_GOLDEN");
  if (update && std::string(update) == "1") {
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
    return;
  }
  const std::string wanted = text_of_file(file);
  EXPECT_TRUE(text == wanted) << file.string() << ", " << first_difference(text, wanted)
                              << "\n(ENGINERY_UPDATE_GOLDEN=1 writes the file)";
}

}  // namespace enginery::test
