#include "cli/output/text.h"

#include <cctype>
#include <set>

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

std::vector<std::string> file_names_for(const std::vector<std::string>& names) {
  constexpr std::string_view kSafe = "._-";
  std::set<std::string> taken;
  for (const std::string& name : names) {
    if (with_safe_characters(name, kSafe) == name) taken.insert(name);
  }
  std::vector<std::string> out;
  for (const std::string& name : names) {
    const std::string wanted = with_safe_characters(name, kSafe);
    std::string file = wanted;
    for (int n = 2; wanted != name && !taken.insert(file).second; ++n)
      file = wanted + "." + std::to_string(n);
    out.push_back(std::move(file));
  }
  return out;
}

}  // namespace enginery
