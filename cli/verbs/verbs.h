// The list of verbs: what `enginery` can do. verbs.inc has one row for each.
//
// Where: command_line.cpp finds a verb by its name; help and completion go through all of them.
// Threads: the list never changes.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/verbs/command.h"

namespace enginery {

// The headings of `enginery --help`; what is `hidden` is not listed there.
enum class VerbGroup { engines, farm, jobs, catalog, care, hidden };

struct Verb {
  std::string name;
  VerbGroup group;
  std::string_view summary;
  std::unique_ptr<Command> (*make)();
};

// In the order of `enginery --help`.
const std::vector<Verb>& verbs();

// Null where there is no such verb.
const Verb* find_verb(std::string_view name);

// The text of `enginery --help`.
std::string overview(int columns = 0);

// make_build(), make_run(), ...: each is defined in the file of its verb.
#define ENGINERY_VERB(name, group, summary) std::unique_ptr<Command> make_##name();
#include "cli/verbs/verbs.inc"
#undef ENGINERY_VERB

}  // namespace enginery
