#include "cli/options/trtexec.h"

#include <algorithm>
#include <cctype>

namespace enginery {
namespace {

// What an alias stands for. `option` empty: the value is an argument of its own (trtexec names the
// model by option).
struct Alias {
  std::string_view trtexec;
  std::string_view option;
  std::string_view fixed_value;  // the alias is a flag that stands for option=fixed_value
};

// Those that the rule fooBar -> foo-bar does not give.
constexpr Alias kAliases[] = {
    {"--fp16", "--precision", "fp16"},
    {"--bf16", "--precision", "bf16"},
    {"--int8", "--precision", "int8"},
    {"--best", "--precision", "best"},
    {"--timingCacheFile", "--timing-cache", ""},
    {"--builderOptimizationLevel", "--level", ""},
    {"--saveEngine", "--output", ""},
    {"--loadEngine", "", ""},
    {"--onnx", "", ""},
};

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

void translate_one(const std::string& argument, const std::vector<std::string>& known,
                   std::vector<std::string>& out) {
  const size_t equals = argument.find('=');
  const std::string name = argument.substr(0, equals);
  const std::string value =
      equals == std::string::npos ? "" : argument.substr(equals);  // with its "="
  if (contains(known, name)) return out.push_back(argument);
  for (const Alias& alias : kAliases) {
    if (alias.trtexec != name) continue;
    const bool positional = alias.option.empty();
    if (!positional && !contains(known, alias.option)) break;
    if (positional && value.empty())
      return;  // its value is the next argument, which then stands alone
    if (positional) return out.push_back(value.substr(1));
    const std::string fixed =
        alias.fixed_value.empty() ? value : "=" + std::string(alias.fixed_value);
    return out.push_back(std::string(alias.option) + fixed);
  }
  const std::string by_rule = "--" + dashed(std::string_view(name).substr(2));
  out.push_back(contains(known, by_rule) ? by_rule + value : argument);
}

}  // namespace

std::string dashed(std::string_view camel_case) {
  std::string text;
  for (const char c : camel_case) {
    const bool upper = std::isupper(static_cast<unsigned char>(c)) != 0;
    if (upper && !text.empty()) text += '-';
    text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return text;
}

std::vector<std::string> translate_trtexec(const std::vector<std::string>& arguments,
                                           const std::vector<std::string>& known) {
  std::vector<std::string> out;
  bool options_ended = false;
  for (const std::string& argument : arguments) {
    options_ended = options_ended || argument == "--";
    if (options_ended || !argument.starts_with("--")) {
      out.push_back(argument);
    } else {
      translate_one(argument, known, out);
    }
  }
  return out;
}

}  // namespace enginery
