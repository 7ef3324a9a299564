#include "cli/verbs/verbs.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/output/table.h"

namespace enginery {
namespace {

// "why_miss" -> "why-miss"
std::string with_dashes(std::string_view name) {
  std::string text(name);
  std::replace(text.begin(), text.end(), '_', '-');
  return text;
}

}  // namespace

const std::vector<Verb>& verbs() {
  static const std::vector<Verb> list{
#define ENGINERY_VERB(name, group, summary) \
  {with_dashes(#name), VerbGroup::group, summary, make_##name},
#include "cli/verbs/verbs.inc"
#undef ENGINERY_VERB
  };
  return list;
}

const Verb* find_verb(std::string_view name) {
  for (const Verb& verb : verbs()) {
    if (verb.name == name) return &verb;
  }
  return nullptr;
}

std::string overview(int columns) {
  const size_t room = columns > 0 ? std::max(static_cast<size_t>(columns), size_t{40}) : 110;
  const std::pair<VerbGroup, std::string_view> groups[] = {
      {VerbGroup::engines, "Engines on this machine, no service needed"},
      {VerbGroup::farm, "The farm"},
      {VerbGroup::jobs, "Jobs and their engines"},
      {VerbGroup::catalog, "The catalog"},
      {VerbGroup::care, "Care"},
  };
  std::string text =
      "enginery builds tuned, signed inference engines from trained models.\n\n"
      "Usage: enginery VERB [ARGUMENTS] [OPTIONS]      enginery VERB --help says more\n";
  for (const auto& [group, title] : groups) {
    text += fmt::format("\n{}:\n", title);
    for (const Verb& verb : verbs()) {
      if (verb.group == group)
        text +=
            fmt::format("  {:<12} {}\n", verb.name, wrapped(std::string(verb.summary), 15, room));
    }
  }
  const std::string end =
      "\nThe shortest way: enginery build model.onnx && enginery run model.*.engine --input "
      "image.jpg --top 5\n"
      "With a farm:      enginery up --detach && enginery submit model.onnx --target this --wait\n"
      "\nExit codes: 0 ok, 1 failed, 2 usage, 3 not found, 4 no coordinator, 5 not trusted, 6 "
      "time-out or cancelled,\n"
      "7 other SKU, 8 some targets failed, 9 invalid input, 10 local storage.\n";
  return text + (columns > 0 ? wrapped_lines(end, room) : end);
}

}  // namespace enginery
