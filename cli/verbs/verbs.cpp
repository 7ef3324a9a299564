// The list of verbs: what `enginery` can do.
#include "cli/verbs/verbs.h"

#include <fmt/format.h>

namespace enginery {

const std::vector<Verb>& verbs() {
  using G = VerbGroup;
  static const std::vector<Verb> list{
      {"build", G::engines,
       "compile a model into a tuned, signed engine for one SKU of this machine", make_build},
      {"run", G::engines, "run an engine on arrays or pictures", make_run},
      {"bench", G::engines, "measure an engine: latency percentiles, throughput, per-layer profile",
       make_bench},
      {"inspect", G::engines, "show what is inside a model or an engine", make_inspect},
      {"verify", G::engines, "check an engine's signature and hashes", make_verify},

      {"up", G::farm, "start a coordinator and one worker for each device of this machine",
       make_up},
      {"down", G::farm, "stop what `up` started", make_down},
      {"coordinator", G::farm, "run the coordinator in the foreground", make_coordinator},
      {"worker", G::farm, "run a worker for one SKU of this machine in the foreground",
       make_worker},
      {"skus", G::farm, "list device types: this machine's and the farm's", make_skus},
      {"workers", G::farm, "list the farm's workers and what they do", make_workers},
      {"drain", G::farm, "let a worker finish its step and take no other", make_drain},

      {"submit", G::follow, "build a model for several SKUs with one job", make_submit},
      {"jobs", G::follow, "list jobs, newest first", make_jobs},
      {"show", G::follow, "show a job: its targets, steps and attempts", make_show},
      {"logs", G::follow, "print a job's log; -f follows it", make_logs},
      {"wait", G::follow, "wait until a job has ended", make_wait},
      {"explain", G::follow, "say what a job waits for and why each worker does not run it",
       make_explain},
      {"cancel", G::follow, "cancel a job", make_cancel},
      {"retry", G::follow, "submit a failed or cancelled job's unfinished targets again",
       make_retry},
      {"fetch", G::follow, "download the best engine for a device", make_fetch},

      {"catalog", G::catalog, "look after built engines: ls, show, verify, pin, unpin, tag",
       make_catalog},
      {"why-miss", G::catalog, "say which field of a key differed from the nearest stored one",
       make_why_miss},

      {"keys", G::care, "show, make and trust signing keys", make_keys},
      {"config", G::care, "show the settings and where they come from", make_config},
      {"doctor", G::care, "examine this machine and say what to mend", make_doctor},
      {"completion", G::care, "print a completion script for the shell", make_completion},
      {"version", G::care, "print the version and what was compiled in", make_version},

      {"runner", G::hidden, "execute one step for a worker", make_runner},
  };
  return list;
}

const Verb* find_verb(std::string_view name) {
  for (const Verb& verb : verbs()) {
    if (verb.name == name) return &verb;
  }
  return nullptr;
}

std::string overview() {
  const std::pair<VerbGroup, std::string_view> groups[] = {
      {VerbGroup::engines, "Engines on this machine, no service needed"},
      {VerbGroup::farm, "The farm"},
      {VerbGroup::follow, "Jobs and their engines"},
      {VerbGroup::catalog, "The catalog"},
      {VerbGroup::care, "Care"},
  };
  std::string text =
      "enginery builds tuned, signed inference engines out of trained models.\n\n"
      "Usage: enginery VERB [ARGUMENTS] [OPTIONS]      enginery VERB --help says more\n";
  for (const auto& [group, title] : groups) {
    text += fmt::format("\n{}:\n", title);
    for (const Verb& verb : verbs()) {
      if (verb.group == group) text += fmt::format("  {:<12} {}\n", verb.name, verb.summary);
    }
  }
  text +=
      "\nThe shortest way: enginery build model.onnx && enginery run model.*.engine --input "
      "picture.jpg --top 5\n"
      "With a farm:      enginery up --detach && enginery submit model.onnx --target this --wait\n"
      "\nExit codes: 0 ok, 1 failed, 2 usage, 3 not found, 4 no coordinator, 5 not trusted, 6 "
      "time-out or cancelled,\n"
      "7 other SKU, 8 some targets failed, 9 invalid input, 10 local storage.\n";
  return text;
}

}  // namespace enginery
