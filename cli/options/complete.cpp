#include "cli/options/complete.h"

#include <algorithm>

#include "cli/output/text.h"
#include "engine/tactics/tactic.h"

namespace enginery {
namespace {

using Words = std::vector<std::string>;

Words split_list(const std::string& text) {
  Words parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::string with_commas(std::string text) {
  std::replace(text.begin(), text.end(), ';', ',');
  return text;
}

// The words that a help text lists: "ls, show or gc; import" without what is in brackets.
Words listed_in(const std::string& help) {
  Words words;
  for (std::string part : split_list(with_commas(help.substr(0, help.find('('))))) {
    const size_t before_last = part.find(" or ");
    for (const std::string& word :
         {part.substr(0, before_last),
          before_last == std::string::npos ? std::string() : part.substr(before_last + 4)}) {
      const size_t begin = word.find_first_not_of(' ');
      const std::string name = begin == std::string::npos
                                   ? ""
                                   : word.substr(begin, word.find_last_not_of(' ') + 1 - begin);
      if (!name.empty() && name.find(' ') == std::string::npos) words.push_back(name);
    }
  }
  return words;
}

Words tactic_words() {
  Words words;
  for (const std::string& name : tactic_source_names())
    words.insert(words.end(), {"-" + name, "+" + name});
  return words;
}

// What an option's value may be; kFilesOfShell where its placeholder is a file's.
Words values_of(const OptionRow& row, const LiveNames& live) {
  const std::string& name = row.names.back();
  const std::string& placeholder = row.placeholder;
  if (name == "--target" || name == "--sku" || name == "--skus") {
    Words skus = live(LiveName::sku);
    if (name == "--target") skus.insert(skus.begin(), "this");
    return skus;
  }
  if (name == "--precision") return {"fp32", "tf32", "fp16", "bf16", "best"};
  if (name == "--level") return {"0", "1", "2", "3", "4", "5"};
  if (name == "--log-level") return {"debug", "info", "warning", "error", "off"};
  if (name == "--sandbox") return {"require", "prefer", "off"};
  if (name == "--profiling-verbosity") return {"detailed"};
  if (name == "--tactic-sources") return tactic_words();
  const bool is_path = placeholder.find("FILE") != std::string::npos ||
                       placeholder.find("PATH") != std::string::npos || placeholder == "DIR";
  return is_path ? Words{kFilesOfShell} : Words();
}

Words positionals_of(const OptionRow& row, const LiveNames& live) {
  const std::string& name = row.names.front();
  if (name == "ACTION" || name == "CACHE" || name == "SHELL") return listed_in(row.help);
  if (name.ends_with("JOB")) return live(LiveName::job);
  if (name == "WORKER") return live(LiveName::worker);
  if (name != "NAME") return {kFilesOfShell};
  Words names = live(LiveName::engine);
  const Words jobs = live(LiveName::job);
  names.insert(names.end(), jobs.begin(), jobs.end());
  return names;
}

Words beginning_with(const std::string& begun, const Words& candidates,
                     const std::string& before = "") {
  Words found;
  for (const std::string& candidate : candidates) {
    const bool fits = candidate == kFilesOfShell || candidate.starts_with(begun);
    if (fits) found.push_back(candidate == kFilesOfShell ? candidate : before + candidate);
  }
  return found;
}

// The values of the option for what is begun of them; `before` is kept in front.
Words value_words(const OptionRow& row, const std::string& begun, const std::string& before,
                  const LiveNames& live) {
  const Words values = values_of(row, live);
  if (!row.repeated || values == Words{kFilesOfShell}) return beginning_with(begun, values, before);
  const size_t comma = begun.rfind(',');
  const std::string list = comma == std::string::npos ? "" : begun.substr(0, comma + 1);
  const Words there = split_list(list);
  Words left;
  for (const std::string& value : values)
    if (std::find(there.begin(), there.end(), value) == there.end()) left.push_back(value);
  return beginning_with(begun.substr(list.size()), left, before + list);
}

const OptionRow* find_option(const CompletableVerb& verb, const std::string& name) {
  for (const OptionRow& row : verb.rows) {
    const bool named = std::find(row.names.begin(), row.names.end(), name) != row.names.end();
    if (named && !row.positional) return &row;
  }
  return nullptr;
}

bool takes_value(const OptionRow* row) {
  return row != nullptr && !row->placeholder.empty();
}

// The argument without a name that the last word is; null where the verb has no more.
const OptionRow* positional_at_end(const CompletableVerb& verb, const Words& words) {
  size_t before = 0;
  for (size_t i = 1; i + 1 < words.size(); ++i) {
    if (!words[i].starts_with("-")) ++before;
    if (takes_value(find_option(verb, words[i]))) ++i;
  }
  const OptionRow* last = nullptr;
  for (const OptionRow& row : verb.rows) {
    if (!row.positional) continue;
    if (before == 0) return &row;
    last = &row;
    --before;
  }
  return last != nullptr && last->repeated ? last : nullptr;
}

Words option_names(const CompletableVerb& verb) {
  Words names{"--help"};
  for (const OptionRow& row : verb.rows) {
    if (!row.positional) names.insert(names.end(), row.names.begin(), row.names.end());
  }
  return names;
}

}  // namespace

Words complete(const Words& words, const std::vector<CompletableVerb>& verbs,
               const LiveNames& live) {
  const std::string begun = words.empty() ? "" : words.back();
  if (words.size() < 2) {
    Words names;
    for (const CompletableVerb& verb : verbs) names.push_back(verb.name);
    return beginning_with(begun, names);
  }
  const auto verb = std::find_if(verbs.begin(), verbs.end(), [&](const CompletableVerb& one) {
    return one.name == words.front();
  });
  if (verb == verbs.end()) return {};
  const OptionRow* before = find_option(*verb, words[words.size() - 2]);
  if (words.size() > 2 && takes_value(before)) return value_words(*before, begun, "", live);
  const size_t equals = begun.find('=');
  if (begun.starts_with("--") && equals != std::string::npos) {
    const OptionRow* row = find_option(*verb, begun.substr(0, equals));
    if (!takes_value(row)) return {};
    return value_words(*row, begun.substr(equals + 1), begun.substr(0, equals + 1), live);
  }
  if (begun.starts_with("-")) return beginning_with(begun, option_names(*verb));
  const OptionRow* positional = positional_at_end(*verb, words);
  return positional ? beginning_with(begun, positionals_of(*positional, live)) : Words();
}

}  // namespace enginery
