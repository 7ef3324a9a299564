#include "cli/output/console.h"

#include <sys/ioctl.h>
#include <unistd.h>

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

void write(std::FILE* file, std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), file);
}

}  // namespace

Console::Console(std::FILE* out, std::FILE* err)
    : out_(out),
      err_(err),
      out_is_terminal_(isatty(fileno(out)) == 1),
      err_is_terminal_(isatty(fileno(err)) == 1),
      colour_(out_is_terminal_ && colour_wanted()) {}

void Console::print(std::string_view text) {
  write(out_, text);
}

void Console::print_line(std::string_view text) {
  write(out_, text);
  write(out_, "\n");
}

void Console::note(std::string_view text) {
  std::fflush(out_);
  std::string line(text);
  write(err_, line + "\n");
  std::fflush(err_);
}

void Console::warn(std::string_view text) {
  note("enginery " + verb_ + ": warning: " + std::string(text));
}

void Console::fail(const Error& error) {
  const std::string who = verb_.empty() ? "enginery" : "enginery " + verb_;
  // Layers add their verb once each; where the lowest one's is ours too, it would stand there
  // twice.
  const bool repeated = !verb_.empty() && error.message.starts_with(verb_ + ": ");
  note(who + ": " + (repeated ? error.message.substr(verb_.size() + 2) : error.message));
}

void Console::draw(std::string_view text) {
  std::fflush(out_);
  write(err_, text);
  std::fflush(err_);
}

int Console::columns() const {
  winsize size{};
  const bool known = ioctl(fileno(err_), TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : 80;
}

std::string Console::styled(Style style, std::string_view text) const {
  if (!colour_) return std::string(text);
  return escape_of(style) + std::string(text) + "\x1b[0m";
}

Status Console::flush() {
  const bool failed = std::fflush(out_) != 0 || std::ferror(out_) != 0;
  if (failed) return errno_error("write to stdout", errno == 0 ? EIO : errno);
  return {};
}

}  // namespace enginery
