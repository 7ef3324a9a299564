// What the command says: data on stdout, messages for people on stderr, and the progress lines that
// come and go below the messages.
//
// Where: made by main, given to every verb. Threads: one thread at a time.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include "engine/base/result.h"

namespace enginery {

// How a piece of stdout text looks on a terminal.
enum class Style { bold, faint, good, warning, bad };

// What the two streams are connected to.
struct Terminal {
  bool is_error_terminal = false;  // progress is drawn only there
  bool has_colour = false;         // of stdout: a terminal, no NO_COLOR, and TERM is not "dumb"
  bool is_output_terminal = false;

  // As the process finds them.
  static Terminal of(std::FILE* out, std::FILE* err);
};

class Console {
 public:
  // Owns: nothing; both files must outlive the console.
  Console(std::FILE* out, std::FILE* err) : Console(out, err, Terminal::of(out, err)) {}
  Console(std::FILE* out, std::FILE* err, Terminal terminal);

  // The verb that messages begin with: "enginery build: ...".
  void set_verb(std::string verb) { verb_ = std::move(verb); }

  // Data for stdout, as it is; print_line adds the line end. Progress lines are cleared first.
  void print(std::string_view text);
  void print_line(std::string_view text);

  // A message for people, as a line on stderr. Progress lines are cleared first, and whoever draws
  // them draws them again below the message.
  void note(std::string_view text);
  // The same with "enginery VERB: warning: " in front.
  void warn(std::string_view text);
  // The same with "enginery VERB: " in front, which is left out of the error's own message.
  void fail(const Error& error);

  // Replaces the progress lines at the bottom of the terminal by these. `lines`: each ended by '\n'
  // and no wider than columns(). Requires a terminal at stderr.
  void show_progress(std::string_view lines);
  // Takes the progress lines away. Idempotent.
  void clear_progress();
  bool has_progress() const { return progress_lines_ > 0; }

  bool err_is_terminal() const { return terminal_.is_error_terminal; }
  bool out_is_terminal() const { return terminal_.is_output_terminal; }
  // Whether anything went to stdout.
  bool has_printed() const { return has_printed_; }
  // How wide a table on stdout may be: the terminal's columns; 0 (any width) where stdout is none.
  int table_width() const;
  // Of the terminal at stderr; 80 and 24 where it cannot be known.
  int columns() const;
  int rows() const;

  // The text in the style for stdout; unchanged where stdout has no colour.
  std::string styled(Style style, std::string_view text) const;

  // Errors: storage, when what was printed could not be written (a full disk behind a redirection).
  Status flush();

 private:
  std::FILE* out_;
  std::FILE* err_;
  Terminal terminal_;
  std::string verb_;
  size_t progress_lines_ = 0;
  bool has_printed_ = false;
};

}  // namespace enginery
