#include "tuner/layout_search.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

namespace enginery {
namespace {

constexpr int kMaxSweeps = 20;
constexpr double kImprovement = 1e-9;

// A value as the search sees it: who makes it, and whether the caller has it linear.
struct Edge {
  int producer = -1, output = 0;  // -1: a graph input
  bool is_graph_output = false;
};

// A tactic for each node, and what follows from them for each value.
struct Choices {
  std::vector<size_t> tactics;
  std::map<ValueId, WantedFormats> wanted;
};

class Search {
 public:
  Search(const Network& network, const TacticCosts& costs, const ReformatCost& reformat)
      : network_(network), costs_(costs), reformat_(reformat) {
    for (size_t n = 0; n < network.nodes.size(); ++n) {
      const NetworkNode& node = network.nodes[n];
      for (size_t i = 0; i < node.outputs.size(); ++i) {
        Edge& e = edges_[node.outputs[i]];
        e.producer = static_cast<int>(n);
        e.output = static_cast<int>(i);
      }
      for (size_t i = 0; i < node.inputs.size(); ++i) {
        if (flows(node, i)) edges_[node.inputs[i]];
      }
    }
    for (ValueId v : network.graph.outputs()) edges_[v].is_graph_output = true;
  }

  // Formats in the order in which they are met; each is a starting point.
  std::vector<Format> formats() const {
    std::vector<Format> out;
    for (const NetworkNode& node : network_.nodes) {
      for (const Tactic& t : node.tactics) {
        for (const Format& f : t.outputs) {
          if (std::find(out.begin(), out.end(), f) == out.end()) out.push_back(f);
        }
      }
    }
    return out;
  }

  std::vector<size_t> fastest() const {
    std::vector<size_t> choice;
    for (const auto& c : costs_)
      choice.push_back(static_cast<size_t>(std::min_element(c.begin(), c.end()) - c.begin()));
    return choice;
  }

  // The fastest tactic that works in `format` on every side where the node has one; otherwise its
  // fastest.
  std::vector<size_t> uniform(const Format& format) const {
    std::vector<size_t> choice = fastest();
    for (size_t n = 0; n < choice.size(); ++n) {
      double best = std::numeric_limits<double>::infinity();
      for (size_t t = 0; t < costs_[n].size(); ++t) {
        if (costs_[n][t] < best &&
            works_in(network_.nodes[n], network_.nodes[n].tactics[t], format)) {
          best = costs_[n][t];
          choice[n] = t;
        }
      }
    }
    return choice;
  }

  Solution descend(std::vector<size_t> tactics) const {
    const size_t count = tactics.size();
    Choices choices = choices_of(std::move(tactics));
    for (int sweep = 0; sweep < kMaxSweeps; ++sweep) {
      bool changed = false;
      for (size_t n = 0; n < count; ++n) changed |= improve(choices, n);
      for (size_t n = count; n-- > 0;) changed |= improve(choices, n);
      if (!changed) break;
    }
    const double us = total(choices);
    return {std::move(choices.tactics), us};
  }

 private:
  static bool flows(const NetworkNode& node, size_t input) {
    return node.inputs[input] != kNoValue && !node.problem.inputs[input].constant;
  }

  static bool works_in(const NetworkNode& node, const Tactic& tactic, const Format& format) {
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (flows(node, i) && tactic.inputs[i] != format) return false;
    }
    return std::all_of(tactic.outputs.begin(), tactic.outputs.end(),
                       [&](const Format& f) { return f == format; });
  }

  Choices choices_of(std::vector<size_t> tactics) const {
    Choices out{std::move(tactics), {}};
    for (const auto& [v, edge] : edges_) {
      WantedFormats& wanted = out.wanted[v];
      if (edge.is_graph_output) wanted[{boundary_format(network_.graph.value(v)), false}] = 1;
    }
    for (size_t n = 0; n < out.tactics.size(); ++n) count_wanted(out, n, 1);
    return out;
  }

  void count_wanted(Choices& choices, size_t n, int by) const {
    const NetworkNode& node = network_.nodes[n];
    const Tactic& tactic = node.tactics[choices.tactics[n]];
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (!flows(node, i)) continue;
      WantedFormats& wanted = choices.wanted[node.inputs[i]];
      const auto want = wanted.try_emplace(wanted_by(tactic, i)).first;
      want->second += by;
      if (want->second == 0) wanted.erase(want);
    }
  }

  void choose(Choices& choices, size_t n, size_t tactic) const {
    count_wanted(choices, n, -1);
    choices.tactics[n] = tactic;
    count_wanted(choices, n, 1);
  }

  // Microseconds of the reformats of one value.
  double edge_cost(ValueId v, const Choices& choices) const {
    const Edge& e = edges_.at(v);
    const Value& value = network_.graph.value(v);
    const auto n = static_cast<size_t>(e.producer), output = static_cast<size_t>(e.output);
    const Tactic* maker = e.producer < 0 ? nullptr : &network_.nodes[n].tactics[choices.tactics[n]];
    const WantedFormats& wanted = choices.wanted.at(v);
    const Format lies = lying(value, maker, output, wanted);
    double sum = 0;
    each_reformat(value, lies, wanted, [&](const Format& format) {
      sum += reformat_({v, lies, format});
    });
    return sum;
  }

  double local_cost(const Choices& choices, size_t n, const std::set<ValueId>& touched) const {
    double sum = costs_[n][choices.tactics[n]];
    for (const ValueId v : touched) sum += edge_cost(v, choices);
    return sum;
  }

  bool improve(Choices& choices, size_t n) const {
    const NetworkNode& node = network_.nodes[n];
    std::set<ValueId> touched(node.outputs.begin(), node.outputs.end());
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (flows(node, i)) touched.insert(node.inputs[i]);
    }
    const size_t before = choices.tactics[n];
    size_t best = before;
    double least = local_cost(choices, n, touched);
    for (size_t t = 0; t < costs_[n].size(); ++t) {
      if (t == before || costs_[n][t] == std::numeric_limits<double>::infinity()) continue;
      choose(choices, n, t);
      const double cost = local_cost(choices, n, touched);
      if (cost < least - kImprovement) {
        least = cost;
        best = t;
      }
    }
    if (choices.tactics[n] != best) choose(choices, n, best);
    return best != before;
  }

  double total(const Choices& choices) const {
    double sum = 0;
    for (size_t n = 0; n < choices.tactics.size(); ++n) sum += costs_[n][choices.tactics[n]];
    for (const auto& [v, edge] : edges_) sum += edge_cost(v, choices);
    return sum;
  }

  const Network& network_;
  const TacticCosts& costs_;
  const ReformatCost& reformat_;
  std::map<ValueId, Edge> edges_;
};

}  // namespace

std::vector<Tactic> chosen_tactics(const Network& network, const Solution& solution) {
  std::vector<Tactic> out;
  for (size_t n = 0; n < network.nodes.size(); ++n)
    out.push_back(network.nodes[n].tactics[solution.choice[n]]);
  return out;
}

std::vector<Solution> search_layouts(const Network& network, const TacticCosts& costs,
                                     const ReformatCost& reformat, size_t max_solutions) {
  Search search(network, costs, reformat);
  std::vector<Solution> found{search.descend(search.fastest())};
  for (const Format& format : search.formats()) {
    Solution solution = search.descend(search.uniform(format));
    bool fresh = std::none_of(found.begin(), found.end(),
                              [&](const Solution& s) { return s.choice == solution.choice; });
    if (fresh) found.push_back(std::move(solution));
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Solution& a, const Solution& b) { return a.total_us < b.total_us; });
  if (found.size() > max_solutions) found.resize(max_solutions);
  return found;
}

}  // namespace enginery
