#include "cli/options/options.h"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>

#include "cli/options/trtexec.h"
#include "cli/output/table.h"
#include "cli/output/text.h"
#include "engine/base/did_you_mean.h"

namespace enginery {
namespace {

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  size_t begin = 0;
  while (begin <= text.size()) {
    const size_t end = std::min(text.find(separator, begin), text.size());
    if (end > begin) parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::string left_side(const OptionRow& row) {
  std::string text = joined(row.names, ", ");
  if (!row.positional && row.names.front().size() > 2) text = "    " + text;
  if (!row.positional && !row.placeholder.empty()) text += " " + row.placeholder;
  return text;
}

std::string usage_of(const OptionRow& row) {
  std::string text = row.names.front() + (row.repeated ? "..." : "");
  return row.presence == Presence::required ? " " + text : " [" + text + "]";
}

bool asks_for_help(const std::vector<std::string>& arguments) {
  for (const std::string& argument : arguments) {
    if (argument == "--") return false;
    if (argument == "--help" || argument == "-h") return true;
  }
  return false;
}

}  // namespace

struct Options::Parser {
  CLI::App app;
  std::vector<CLI::Option*> options;
};

Options::Options(std::string verb, std::string summary)
    : verb_(std::move(verb)), summary_(std::move(summary)), parser_(std::make_unique<Parser>()) {
  parser_->app.set_help_flag();
  parser_->app.allow_extras();
}

Options::~Options() = default;

void Options::about(std::string paragraph) {
  paragraphs_.push_back(std::move(paragraph));
}

void Options::declare(OptionRow row, Take take) {
  const bool is_flag = !row.positional && row.placeholder.empty();
  const std::string names = joined(row.names, ",");
  CLI::Option* option = nullptr;
  if (is_flag) {
    option = parser_->app.add_flag(names);
  } else {
    option =
        parser_->app.add_option(names, CLI::callback_t([](const CLI::results_t&) { return true; }));
    option->expected(1, row.positional && row.repeated ? CLI::detail::expected_max_vector_size : 1);
    if (row.positional && row.repeated) option->allow_extra_args();
    option->multi_option_policy(row.repeated ? CLI::MultiOptionPolicy::TakeAll
                                             : CLI::MultiOptionPolicy::TakeLast);
  }
  parser_->options.push_back(option);
  rows_.push_back(std::move(row));
  takes_.push_back(std::move(take));
}

void Options::positional(std::string name, std::string& value, std::string help,
                         Presence presence) {
  declare({{std::move(name)}, "", std::move(help), true, presence, false},
          [&value](const std::vector<std::string>& given) {
            value = given.back();
            return Status();
          });
}

void Options::positionals(std::string name, std::vector<std::string>& values, std::string help,
                          Presence presence) {
  declare({{std::move(name)}, "", std::move(help), true, presence, true},
          [&values](const std::vector<std::string>& given) {
            values = given;
            return Status();
          });
}

void Options::flag(std::string names, bool& value, std::string help) {
  declare(
      {split(names, ','), "", std::move(help)},
      [this, names, &value](const std::vector<std::string>& given) -> Status {
        if (given.back() != "true" && given.back() != "false") {
          return usage(fmt::format("{} is a flag: it takes no value but true or false, not '{}'",
                                   names, given.back()));
        }
        value = given.back() == "true";
        return {};
      });
}

void Options::text(std::string names, std::string& value, std::string placeholder,
                   std::string help) {
  declare({split(names, ','), std::move(placeholder), std::move(help)},
          [&value](const std::vector<std::string>& given) {
            value = given.back();
            return Status();
          });
}

void Options::texts(std::string names, std::vector<std::string>& values, std::string placeholder,
                    std::string help) {
  OptionRow row{split(names, ','), std::move(placeholder), std::move(help)};
  row.repeated = true;
  declare(std::move(row), [&values](const std::vector<std::string>& given) {
    values = given;
    return Status();
  });
}

void Options::list(std::string names, std::vector<std::string>& values, std::string placeholder,
                   std::string help) {
  OptionRow row{split(names, ','), std::move(placeholder), std::move(help)};
  row.repeated = true;
  declare(std::move(row), [&values](const std::vector<std::string>& given) {
    values.clear();
    for (const std::string& one : given) {
      for (std::string& part : split(one, ',')) values.push_back(std::move(part));
    }
    return Status();
  });
}

void Options::number(std::string names, std::optional<int64_t>& value, NumberRange range,
                     std::string placeholder, std::string help) {
  auto take = [this, names, range, &value](const std::vector<std::string>& given) -> Status {
    const std::string& text = given.back();
    int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool whole = error == std::errc() && end == text.data() + text.size();
    if (whole && number >= range.min && number <= range.max) {
      value = number;
      return {};
    }
    const std::string above = fmt::format("from {} on", range.min);
    const std::string bounds =
        range.max == INT64_MAX ? above : fmt::format("from {} to {}", range.min, range.max);
    return usage(fmt::format("{} takes a whole number {}, not '{}'", names, bounds, text));
  };
  declare({split(names, ','), std::move(placeholder), std::move(help)}, std::move(take));
}

void Options::real(std::string names, std::optional<double>& value, std::string placeholder,
                   std::string help) {
  auto take = [this, names, &value](const std::vector<std::string>& given) -> Status {
    const std::string& text = given.back();
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool all = error == std::errc() && end == text.data() + text.size();
    if (all && std::isfinite(number) && number >= 0) {
      value = number;
      return {};
    }
    return usage(fmt::format("{} takes a number from 0 on, not '{}'", names, text));
  };
  declare({split(names, ','), std::move(placeholder), std::move(help)}, std::move(take));
}

Error Options::usage(std::string_view message) const {
  return {ErrorCode::usage,
          fmt::format("{} (enginery {} --help lists the options)", message, verb_)};
}

Result<Parsed> Options::parse(const std::vector<std::string>& arguments,
                              const ConfiguredValue& configured) {
  if (asks_for_help(arguments)) return Parsed::help;
  auto translated = translate_trtexec(arguments, verb_, names());
  if (!translated.ok()) return usage(translated.error().message);
  notes_ = std::move(translated->notes);
  std::vector<std::string> reversed = std::move(translated->words);
  std::reverse(reversed.begin(), reversed.end());
  try {
    parser_->app.parse(std::move(reversed));
  } catch (const CLI::ArgumentMismatch& error) {
    const std::string text = error.what();
    return usage(text.substr(0, text.find(':')) + " needs a value");
  } catch (const CLI::ParseError& error) {
    return usage(error.what());
  }
  CHECK_OK(check_leftovers(parser_->app.remaining()));
  CHECK_OK(take_values(configured));
  return Parsed::run;
}

Status Options::check_leftovers(const std::vector<std::string>& leftovers) const {
  for (const std::string& leftover : leftovers) {
    if (!leftover.starts_with("-") || leftover.size() == 1 || leftover == "--") continue;
    const std::string name = leftover.substr(0, leftover.find('='));
    return usage("unknown option " + name + did_you_mean(name, names()));
  }
  for (const std::string& leftover : leftovers) {
    if (leftover != "--") return usage("unexpected argument '" + leftover + "'");
  }
  return {};
}

Status Options::take_values(const ConfiguredValue& configured) {
  for (size_t i = 0; i < rows_.size(); ++i) {
    const OptionRow& row = rows_[i];
    if (parser_->options[i]->count() > 0) {
      CHECK_OK(takes_[i](parser_->options[i]->results()));
      continue;
    }
    if (row.positional && row.presence == Presence::required)
      return usage(row.names.front() + " is missing");
    const bool named = !row.positional && row.names.back().starts_with("--");
    const auto value = named && configured ? configured(row.names.back().substr(2)) : std::nullopt;
    if (!value) continue;
    if (const Status taken = takes_[i]({*value}); !taken.ok())
      return Error{
          taken.error().code,
          "the setting " + row.names.back().substr(2) +
              " (enginery config show --origin says where it is set): " + taken.error().message};
  }
  return {};
}

std::string Options::help(int columns) const {
  constexpr size_t kWidest = 110, kWidestLine = 100, kNarrowest = 40;
  const size_t room = columns > 0 ? std::clamp<size_t>(columns, kNarrowest, kWidest) : kWidest;
  std::string positionals;
  size_t width = 0;
  for (const OptionRow& row : rows_) {
    if (row.positional) positionals += usage_of(row);
    width = std::max(width, std::min<size_t>(left_side(row).size(), room < 80 ? 20 : 30));
  }
  std::string text = fmt::format("Usage: enginery {}{} [OPTIONS]\n\n{}\n", verb_, positionals,
                                 wrapped(summary_, 0, std::min(room, kWidestLine)));
  for (const bool positional : {true, false}) {
    std::string block;
    for (const OptionRow& row : rows_) {
      if (row.positional != positional) continue;
      const std::string left = left_side(row);
      const std::string gap = left.size() > width ? "\n" + std::string(width + 4, ' ')
                                                  : std::string(width - left.size() + 2, ' ');
      block += "  " + left + gap + wrapped(row.help, width + 4, room) + "\n";
    }
    if (!block.empty()) text += (positional ? "\n" : "\nOptions:\n") + block;
  }
  // What is written to no terminal keeps the paragraphs' own lines.
  const size_t line_room = columns > 0 ? room : std::string::npos;
  for (const std::string& paragraph : paragraphs_)
    text += "\n" + wrapped_lines(paragraph, line_room);
  return text;
}

std::vector<std::string> Options::names() const {
  std::vector<std::string> all{"-h", "--help"};
  for (const OptionRow& row : rows_) {
    if (!row.positional) all.insert(all.end(), row.names.begin(), row.names.end());
  }
  return all;
}

}  // namespace enginery
