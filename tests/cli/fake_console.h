// A console over temporary files: what was printed can be read back. By default nothing is a
// terminal.
#pragma once

#include <string>

#include "cli/output/console.h"

namespace enginery {

class FakeConsole {
 public:
  explicit FakeConsole(Terminal terminal = {})
      : out_(std::tmpfile()), err_(std::tmpfile()), console_(out_, err_, terminal) {}
  ~FakeConsole() {
    std::fclose(out_);
    std::fclose(err_);
  }
  FakeConsole(const FakeConsole&) = delete;

  Console& console() { return console_; }
  std::string out() { return text(out_); }
  std::string err() { return text(err_); }

 private:
  static std::string text(std::FILE* file) {
    std::fflush(file);
    std::string all;
    std::rewind(file);
    for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) all += static_cast<char>(c);
    std::fseek(file, 0, SEEK_END);
    return all;
  }

  std::FILE* out_;
  std::FILE* err_;
  Console console_;
};

}  // namespace enginery
