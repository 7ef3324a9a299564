#include "cli/output/console.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "engine/base/file.h"

namespace enginery {
namespace {

bool colour_wanted() {
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  return (!no_color || !*no_color) && !(term && std::string_view(term) == "dumb");
}

const char* escape_of(Style style) {
  switch (style) {
    case Style::bold:
      return "\x1b[1m";
    case Style::faint:
      return "\x1b[2m";
    case Style::good:
      return "\x1b[32m";
    case Style::warning:
      return "\x1b[33m";
    case Style::bad:
      return "\x1b[31m";
  }
  return "";
}

// Moves the cursor up to the first of the lines above it and erases everything from there on.
std::string erase_lines(size_t lines) {
  return lines == 0 ? "" : "\x1b[" + std::to_string(lines) + "A\r\x1b[J";
}

void write(std::FILE* file, std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), file);
}

}  // namespace

Terminal Terminal::of(std::FILE* out, std::FILE* err) {
  const bool is_out_terminal = isatty(fileno(out)) == 1;
  return {isatty(fileno(err)) == 1, is_out_terminal && colour_wanted(), is_out_terminal};
}

Console::Console(std::FILE* out, std::FILE* err, Terminal terminal)
    : out_(out), err_(err), terminal_(terminal) {}

void Console::print(std::string_view text) {
  clear_progress();
  write(out_, text);
  has_printed_ = true;
}

void Console::print_line(std::string_view text) {
  print(text);
  write(out_, "\n");
}

void Console::note(std::string_view text) {
  clear_progress();
  std::fflush(out_);
  write(err_, std::string(text) + "\n");
  std::fflush(err_);
}

void Console::warn(std::string_view text) {
  note("enginery " + verb_ + ": warning: " + std::string(text));
}

void Console::fail(const Error& error) {
  const std::string who = verb_.empty() ? "enginery" : "enginery " + verb_;
  // Each layer adds its verb once; where the lowest layer's verb is ours, it would be said twice.
  const bool repeated = !verb_.empty() && error.message.starts_with(verb_ + ": ");
  note(who + ": " + (repeated ? error.message.substr(verb_.size() + 2) : error.message));
}

void Console::show_progress(std::string_view lines) {
  std::fflush(out_);
  // In one write, so that the lines do not flicker.
  write(err_, erase_lines(progress_lines_) + std::string(lines));
  std::fflush(err_);
  progress_lines_ = static_cast<size_t>(std::count(lines.begin(), lines.end(), '\n'));
}

void Console::clear_progress() {
  if (progress_lines_ == 0) return;
  write(err_, erase_lines(progress_lines_));
  std::fflush(err_);
  progress_lines_ = 0;
}

int Console::table_width() const {
  winsize size{};
  if (!terminal_.is_output_terminal) return 0;
  return ioctl(fileno(out_), TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

int Console::columns() const {
  winsize size{};
  const bool known = ioctl(fileno(err_), TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : 80;
}

int Console::rows() const {
  winsize size{};
  const bool known = ioctl(fileno(err_), TIOCGWINSZ, &size) == 0 && size.ws_row > 0;
  return known ? size.ws_row : 24;
}

std::string Console::styled(Style style, std::string_view text) const {
  if (!terminal_.has_colour) return std::string(text);
  return escape_of(style) + std::string(text) + "\x1b[0m";
}

Status Console::flush() {
  const bool failed = std::fflush(out_) != 0 || std::ferror(out_) != 0;
  if (failed) return errno_error("write to stdout", errno == 0 ? EIO : errno);
  return {};
}

}  // namespace enginery
