// The words of the graph's text form (text.h): cutting a text into them, and names as words.
//
// Used by text.cpp alone. A value over the text, which must outlive it.
#pragma once

#include <string>
#include <string_view>

#include "engine/base/result.h"

namespace enginery {

// A name as a word: in quotes where it holds what ends a word.
std::string name_text(const std::string& name);

// Cuts a text into words; remembers the line for messages.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  // The word that is next, "" at the end; next() takes it.
  std::string_view peek();
  std::string_view next();
  bool accept(std::string_view wanted);  // takes it, if it is next
  Status expect(std::string_view wanted);
  bool is_key_next();  // whether "=" follows on the word that is next
  // The rest up to `end`, raw, which goes, too; for data in braces.
  std::string_view until(char end);
  // The name that a word stands for. Errors: invalid_argument for quotes without an end.
  Result<std::string> name_of(std::string_view word) const;
  // invalid_argument with the line of the last word taken.
  Error error(const std::string& reason) const;

 private:
  std::string_view read();
  size_t quoted_size() const;
  bool inside_brackets(size_t n) const;

  std::string_view text_, word_;
  int line_ = 1;       // of the last word taken
  int read_line_ = 1;  // of the last word read: the next one may stand further down
};

}  // namespace enginery
