// The options of one verb: declared once, used for parsing, --help, completion and "did you mean".
//
// Where: every Command declares into one; command_line.cpp parses. A thin layer over CLI11, whose
// header only options.cpp includes. Threads: one thread at a time. Declared variables must live as
// long as the Options and are written by parse.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"

namespace enginery {

enum class Presence { required, optional };

// The whole numbers that an option takes.
struct NumberRange {
  int64_t min = 0;
  int64_t max = INT64_MAX;
};

// One option or argument, as --help lists it.
struct OptionRow {
  std::vector<std::string> names;  // "-o", "--output"; the placeholder for a positional
  std::string placeholder;         // "" for a flag
  std::string help;
  bool positional = false;
  Presence presence = Presence::optional;
  bool repeated = false;
};

// The configured value of an option (`name`: its long name without dashes), or nothing.
using ConfiguredValue = std::function<std::optional<std::string>(std::string_view name)>;

// What the arguments ask for.
enum class Parsed { run, help };

class Options {
 public:
  Options(std::string verb, std::string summary);
  ~Options();
  Options(const Options&) = delete;

  // A paragraph below the list of options: what a newcomer needs to know, and examples. Its lines
  // are printed as they are.
  void about(std::string paragraph);

  // An argument without a name; `name` is its placeholder. Only the last one may be plural.
  void positional(std::string name, std::string& value, std::string help,
                  Presence presence = Presence::required);
  void positionals(std::string name, std::vector<std::string>& values, std::string help,
                   Presence presence = Presence::required);
  // Named options. `names` is "-o,--output" or "--output"; the last one given wins.
  void flag(std::string names, bool& value, std::string help);
  void text(std::string names, std::string& value, std::string placeholder, std::string help);
  // Repeatable; every use adds a value.
  void texts(std::string names, std::vector<std::string>& values, std::string placeholder,
             std::string help);
  // As texts, with each value split at commas.
  void list(std::string names, std::vector<std::string>& values, std::string placeholder,
            std::string help);
  // A whole number within the range; nothing where it is not given.
  void number(std::string names, std::optional<int64_t>& value, NumberRange range,
              std::string placeholder, std::string help);
  // A decimal number from 0 on.
  void real(std::string names, std::optional<double>& value, std::string placeholder,
            std::string help);

  // Fills the declared variables. trtexec's names are understood (trtexec.h). Options that were not
  // given take their configured value, where there is one. Errors: usage (an unknown option, with
  // the nearest ones; a missing or bad value; too many or too few arguments).
  Result<Parsed> parse(const std::vector<std::string>& arguments,
                       const ConfiguredValue& configured = {});

  // The text of --help, for a terminal of so many columns; 0: for none.
  std::string help(int columns = 0) const;
  const std::vector<OptionRow>& rows() const { return rows_; }
  // What parse has to say of options of trtexec that it accepted.
  const std::vector<std::string>& notes() const { return notes_; }
  std::vector<std::string> names() const;  // every name that begins with a dash

 private:
  using Take = std::function<Status(const std::vector<std::string>&)>;
  struct Parser;
  void declare(OptionRow row, Take take);
  Status check_leftovers(const std::vector<std::string>& leftovers) const;
  Status take_values(const ConfiguredValue& configured);
  Error usage(std::string_view message) const;

  std::string verb_, summary_;
  std::vector<std::string> paragraphs_, notes_;
  std::vector<OptionRow> rows_;
  std::vector<Take> takes_;
  std::unique_ptr<Parser> parser_;
};

}  // namespace enginery
