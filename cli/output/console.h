// What the command says: data on stdout, messages for people on stderr, and whether those are
// terminals.
//
// Where: made by main, given to every verb. Threads: one thread at a time.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include "engine/base/result.h"

namespace enginery {

enum class Style { bold, faint, good, warning, bad };

class Console {
 public:
  // `verb` stands in front of messages: "enginery build: ...". The files are borrowed.
  Console(std::FILE* out, std::FILE* err);

  void set_verb(std::string verb) { verb_ = std::move(verb); }

  // Data; as it is, without a line end added.
  void print(std::string_view text);
  void print_line(std::string_view text);

  // A message for people, with a line end. Clears an unfinished progress line first.
  void note(std::string_view text);
  void warn(std::string_view text);
  void fail(const Error& error);

  // Progress: writes raw text to stderr (cursor movements included); only for terminals.
  void draw(std::string_view text);

  bool out_is_terminal() const { return out_is_terminal_; }
  bool err_is_terminal() const { return err_is_terminal_; }
  int columns() const;  // of the terminal at stderr; 80 where it cannot be known

  // The text in the style for stdout; plain where colour is off (no terminal, NO_COLOR, TERM=dumb).
  std::string styled(Style style, std::string_view text) const;

  // ok, or storage when what was printed could not be written (a full disk behind a redirection).
  Status flush();

 private:
  std::FILE* out_;
  std::FILE* err_;
  std::string verb_;
  bool out_is_terminal_ = false, err_is_terminal_ = false, colour_ = false;
};

}  // namespace enginery
