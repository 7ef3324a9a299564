#include "engine/graph/text_words.h"

#include <algorithm>
#include <cctype>

namespace enginery {
namespace {

bool is_space(char c) {
  return std::isspace(static_cast<unsigned char>(c)) != 0;
}

bool is_punctuation(char c) {
  return c == ',' || c == '(' || c == ')' || c == '=' || c == ':' || c == '{' || c == '}';
}

// What cannot stand in a name without quotes.
bool needs_quotes(char c) {
  return is_space(c) || is_punctuation(c) ||
         std::string_view("[]#\"\\").find(c) != std::string_view::npos;
}

}  // namespace

std::string name_text(const std::string& name) {
  if (!name.empty() && std::ranges::none_of(name, needs_quotes)) return name;
  std::string out = "\"";
  for (const char c : name) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

std::string_view Lexer::peek() {
  if (word_.empty()) word_ = read();
  return word_;
}

std::string_view Lexer::next() {
  std::string_view word = peek();
  word_ = {};
  line_ = read_line_;
  return word;
}

bool Lexer::accept(std::string_view wanted) {
  if (peek() != wanted) return false;
  next();
  return true;
}

Status Lexer::expect(std::string_view wanted) {
  if (accept(wanted)) return {};
  return error("expected '" + std::string(wanted) + "', found '" + std::string(peek()) + "'");
}

Error Lexer::error(const std::string& reason) const {
  return {ErrorCode::invalid_argument, "graph text, line " + std::to_string(line_) + ": " + reason};
}

bool Lexer::is_key_next() {
  peek();
  const size_t after = text_.find_first_not_of(" \n\t");
  return after != std::string_view::npos && text_[after] == '=';
}

std::string_view Lexer::until(char end) {
  const size_t stop = std::min(text_.find(end), text_.size());
  std::string_view out = text_.substr(0, stop);
  text_.remove_prefix(std::min(stop + 1, text_.size()));
  read_line_ += static_cast<int>(std::count(out.begin(), out.end(), '\n'));
  line_ = read_line_;
  return out;
}

Result<std::string> Lexer::name_of(std::string_view word) const {
  if (!word.starts_with('"')) return std::string(word);
  std::string out;
  for (size_t i = 1; i < word.size(); ++i) {
    if (word[i] == '"' && i + 1 == word.size()) return out;
    if (word[i] == '\\' && i + 1 < word.size()) ++i;
    out += word[i];
  }
  return error("the name " + std::string(word) + " has no closing quote");
}

std::string_view Lexer::read() {
  while (!text_.empty()) {
    if (text_.front() == '#') {
      text_.remove_prefix(std::min(text_.find('\n'), text_.size()));
      continue;
    }
    if (!is_space(text_.front())) break;
    read_line_ += text_.front() == '\n';
    text_.remove_prefix(1);
  }
  if (text_.empty()) return {};
  size_t n = quoted_size();
  const bool bracket = text_[0] == '[';
  if (n == 0) ++n;
  if (n == 1 && !is_punctuation(text_[0])) {
    while (n < text_.size() && !is_space(text_[n]) &&
           (bracket ? text_[n - 1] != ']' : !is_punctuation(text_[n]) || inside_brackets(n)))
      ++n;
  }
  std::string_view word = text_.substr(0, n);
  text_.remove_prefix(n);
  return word;
}

// Of a name in quotes, the value's sign before it included; 0 where there is none, or no end.
size_t Lexer::quoted_size() const {
  const size_t open = text_[0] == '%' ? 1 : 0;
  if (open >= text_.size() || text_[open] != '"') return 0;
  for (size_t i = open + 1; i < text_.size(); ++i) {
    if (text_[i] == '"') return i + 1;
    if (text_[i] == '\\') ++i;
  }
  return 0;
}

bool Lexer::inside_brackets(size_t n) const {
  const size_t open = text_.substr(0, n).rfind('['), close = text_.substr(0, n).rfind(']');
  return open != std::string_view::npos && (close == std::string_view::npos || close < open);
}

}  // namespace enginery
