#include "cli/options/trtexec.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace enginery {
namespace {

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

const TrtexecOption* find_row(std::string_view verb, std::string_view name) {
  for (const TrtexecOption& row : trtexec_options()) {
    if (row.verb == (verb == "submit" ? "build" : verb) && row.name == name) return &row;
  }
  return nullptr;
}

// One command line on its way from trtexec's words to ours.
class Translation {
 public:
  Translation(std::string_view verb, const std::vector<std::string>& known)
      : verb_(verb), known_(known) {}

  Status take(const std::vector<std::string>& arguments) {
    for (size_t i = 0; i < arguments.size(); ++i) {
      const std::string& argument = arguments[i];
      const size_t equals = argument.find('=');
      const std::string name = argument.substr(0, equals);
      const std::string value = equals == std::string::npos ? "" : argument.substr(equals);
      ended_ = ended_ || argument == "--";
      const bool is_option = !ended_ && argument.starts_with("--");
      const TrtexecOption* row = is_option ? find_row(verb_, name) : nullptr;
      if (!is_option || contains(known_, name)) {
        out_.words.push_back(argument);
      } else if (row == nullptr || row->standing == TrtexecStanding::works) {
        replace(row, argument, name, value);
      } else if (row->standing == TrtexecStanding::refused) {
        return Error{ErrorCode::usage, fmt::format("{} of trtexec: {}", name, row->says)};
      } else {
        note(fmt::format("{} of trtexec is accepted: {}", name, row->says));
        const bool in_next = row->takes_value && value.empty() && i + 1 < arguments.size() &&
                             !arguments[i + 1].starts_with("-");
        if (in_next) ++i;
      }
    }
    return {};
  }

  TrtexecWords words() { return std::move(out_); }

 private:
  void note(std::string text) {
    if (!contains(out_.notes, text)) out_.notes.push_back(std::move(text));
  }

  // `value` with its "="; where it is empty, it is the next argument, or there is none.
  void replace(const TrtexecOption* row, const std::string& argument, const std::string& name,
               const std::string& value) {
    if (row == nullptr) {
      const std::string by_rule = "--" + dashed(std::string_view(name).substr(2));
      return out_.words.push_back(contains(known_, by_rule) ? by_rule + value : argument);
    }
    const bool is_argument = !row->says.starts_with("--");
    if (!is_argument) return out_.words.push_back(std::string(row->says) + value);
    if (!value.empty()) out_.words.push_back(value.substr(1));
  }

  const std::string_view verb_;
  const std::vector<std::string>& known_;
  TrtexecWords out_;
  bool ended_ = false;
};

std::string_view word_of(TrtexecStanding standing) {
  switch (standing) {
    case TrtexecStanding::works:
      return "works as";
    case TrtexecStanding::accepted:
      return "accepted";
    case TrtexecStanding::refused:
      return "refused";
  }
  return "";
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

Result<TrtexecWords> translate_trtexec(const std::vector<std::string>& arguments,
                                       std::string_view verb,
                                       const std::vector<std::string>& known) {
  Translation translation(verb, known);
  CHECK_OK(translation.take(arguments));
  return translation.words();
}

std::string trtexec_page() {
  std::string text =
      "# trtexec's options\n\n"
      "`trtexec --onnx=...` is `enginery build`, `trtexec --loadEngine=...` is `enginery bench`; "
      "the "
      "options of both are\nunderstood as trtexec spells them. *Works as*: it is that option of "
      "ours. *Accepted*: nothing has to be done for it, and\nthe command says what it means here. "
      "*Refused*: exit code 2 with this sentence. Of ours, ranges of shapes are refused in turn "
      "so\n"
      "far (exit code 9). `--int8` without `--calib` or `--calib-data` is for "
      "models\nwith Q/DQ nodes: scales are never made up. The list is\n"
      "[cli/options/trtexec_list.cpp](../cli/options/trtexec_list.cpp); a test has a case for each "
      "row and compares this page.\n";
  std::string_view verb;
  for (const TrtexecOption& row : trtexec_options()) {
    if (row.verb != verb)
      text += fmt::format("\n## enginery {}\n\n| trtexec | here | |\n|---|---|---|\n", row.verb);
    verb = row.verb;
    const bool works = row.standing == TrtexecStanding::works;
    text += fmt::format("| `{}{}` | {} | {} |\n", row.name, row.takes_value ? "=..." : "",
                        word_of(row.standing),
                        works ? fmt::format("`{}`", row.says) : std::string(row.says));
  }
  return text;
}

}  // namespace enginery
