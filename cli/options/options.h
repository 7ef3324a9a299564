// The options of one verb: declared once, used for parsing, --help, completion and "did you mean".
//
// Where: every Command declares into one; main parses. A thin face over CLI11, whose header only
// options.cpp includes. Threads: one thread at a time. Declared variables must live as long as the
// Options and are written by parse.
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
  int64_t least = 0;
  int64_t greatest = INT64_MAX;
};

// One row of --help.
struct OptionRow {
  std::vector<std::string> names;  // "-o", "--output"; the placeholder for a positional
  std::string placeholder;         // "" for a flag
  std::string help;
  bool positional = false;
  Presence presence = Presence::optional;
  bool repeated = false;
};

// Says the configured value of an option by its long name without dashes, or nothing.
using ConfiguredValue = std::function<std::optional<std::string>(std::string_view name)>;

enum class Parsed { run, help };

class Options {
 public:
  Options(std::string verb, std::string summary);
  ~Options();
  Options(const Options&) = delete;

  // A paragraph below the list of options: what a newcomer needs to know, and examples.
  void about(std::string paragraph);

  void positional(std::string name, std::string& value, std::string help,
                  Presence presence = Presence::required);
  void positionals(std::string name, std::vector<std::string>& values, std::string help,
                   Presence presence = Presence::required);
  // `names` is "-o,--output" or "--output".
  void flag(std::string names, bool& value, std::string help);
  void text(std::string names, std::string& value, std::string placeholder, std::string help);
  // Repeatable; every use adds a value.
  void texts(std::string names, std::vector<std::string>& values, std::string placeholder,
             std::string help);
  // As texts, and each value is split at commas.
  void list(std::string names, std::vector<std::string>& values, std::string placeholder,
            std::string help);
  void number(std::string names, std::optional<int64_t>& value, NumberRange range,
              std::string placeholder, std::string help);
  // A positive decimal number.
  void real(std::string names, std::optional<double>& value, std::string placeholder,
            std::string help);

  // Fills the declared variables. trtexec's names are understood (trtexec.h). usage: an unknown
  // option (with the nearest ones), a missing or bad value, an argument too many or too few.
  // Options that were not given take their configured value, where there is one.
  Result<Parsed> parse(const std::vector<std::string>& arguments,
                       const ConfiguredValue& configured = {});

  std::string help() const;
  const std::vector<OptionRow>& rows() const { return rows_; }
  std::vector<std::string> names() const;  // every name that begins with a dash

 private:
  using Take = std::function<Status(const std::vector<std::string>&)>;
  struct Parser;
  void declare(OptionRow row, Take take);
  Status check_leftovers(const std::vector<std::string>& leftovers) const;
  Status take_values(const ConfiguredValue& configured);
  Error usage(std::string_view message) const;

  std::string verb_, summary_;
  std::vector<std::string> paragraphs_;
  std::vector<OptionRow> rows_;
  std::vector<Take> takes_;
  std::unique_ptr<Parser> parser_;
};

}  // namespace enginery
