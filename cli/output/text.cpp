#include "cli/output/text.h"

#include <cctype>

namespace enginery {

std::string joined(const std::vector<std::string>& words, std::string_view separator) {
  std::string text;
  for (const std::string& word : words) {
    if (&word != &words.front()) text += separator;
    text += word;
  }
  return text;
}

std::string with_safe_characters(std::string name, std::string_view also_safe) {
  for (char& c : name) {
    const bool alphanumeric = std::isalnum(static_cast<unsigned char>(c)) != 0;
    if (!alphanumeric && also_safe.find(c) == std::string_view::npos) c = '_';
  }
  return name;
}

}  // namespace enginery
