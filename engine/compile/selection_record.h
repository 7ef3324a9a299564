// SelectionRecord: a tactic selection as data that another machine can follow: a tactic for each
// node and each change of format, by their keys.
//
// Where: the `tune` step's result (its blob "choices"), from which `assemble` makes the plan. There
// are no weights and no names in it, so it serves every model of the structure. Plain values and
// free functions, no thread rule.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/plan/tactic_selection.h"

namespace enginery {

struct SelectionRecord {
  // tactic_key, parallel to the nodes of the network cut by `cover`
  std::vector<std::string> tactics;
  std::vector<std::string> reformats;  // tactic_key, parallel to needed_reformats
  std::vector<double> node_us;  // measured medians in microseconds, parallel to tactics; empty when
                                // nothing was measured
  int streams = 1;              // TacticSelection::streams
  // What the device was measured to do at most, by name (tuner/ceilings.h); empty where it was not.
  std::map<std::string, double> ceilings = {};
  Cover cover = {};  // TacticSelection::cover
  // Of a calibrated model: the network is the one in floats, which is the faster one.
  bool in_float = false;
  // LoadedModel::beyond_float16 of the network: nodes of the optimised graph, ascending.
  std::vector<NodeId> beyond_float16 = {};
};

// `selection` must have every reformat that its tactics need.
SelectionRecord to_record(const Network& network, const TacticSelection& selection,
                          std::vector<double> node_us);

// JSON of the schema "enginery.choices/1".
std::string to_json(const SelectionRecord& record);
// Errors: corrupt_data (not a document of that schema).
Result<SelectionRecord> parse_selection(std::string_view json);

// The recorded tactics among those that are offered here. Errors: incompatible, when the record is
// for another network, or a tactic is not offered any more (the message names it and what is).
Result<TacticSelection> follow(const Network& network, const TacticSources& sources,
                               const SelectionRecord& record);

}  // namespace enginery
