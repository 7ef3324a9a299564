// What may stand at the end of a command line: the answer to the Tab key, the same for every shell.
//
// Where: `enginery completion --words` asks, for the scripts that it prints for bash, zsh and fish.
// Threads: a free function without state.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/options/options.h"

namespace enginery {

// A verb as completion sees it.
struct CompletableVerb {
  std::string name;
  std::vector<OptionRow> rows;
};

// Names that only the machine or the farm knows.
enum class LiveName { sku, job, engine, worker };
using LiveNames = std::function<std::vector<std::string>(LiveName)>;

// The only candidate where a file is wanted: the shell has its own way to find those.
inline const std::string kFilesOfShell = ":files";

// What the last of the words may become, whole words that begin with it. `words`: those behind
// `enginery`, the last one the one that is being written ("" where none is begun). Of a list
// (--target a,b) the last name is completed, by names that it does not have yet.
std::vector<std::string> complete(const std::vector<std::string>& words,
                                  const std::vector<CompletableVerb>& verbs, const LiveNames& live);

}  // namespace enginery
