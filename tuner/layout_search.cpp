#include "tuner/layout_search.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

namespace enginery {
namespace {

constexpr int kMaxSweeps = 20;
constexpr double kImprovement = 1e-9;

// A value as the search sees it: who makes it, who reads it, and whether the caller has it linear.
struct Edge {
  int producer = -1, output = 0;             // -1: a graph input
  std::vector<std::pair<int, int>> readers;  // (node, input)
  bool is_graph_output = false;
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
        if (node.inputs[i] == kNoValue || node.problem.inputs[i].constant) continue;
        edges_[node.inputs[i]].readers.emplace_back(static_cast<int>(n), static_cast<int>(i));
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

  Solution descend(std::vector<size_t> choice) const {
    for (int sweep = 0; sweep < kMaxSweeps; ++sweep) {
      bool changed = false;
      for (size_t n = 0; n < choice.size(); ++n) changed |= improve(choice, n);
      for (size_t n = choice.size(); n-- > 0;) changed |= improve(choice, n);
      if (!changed) break;
    }
    return {choice, total(choice)};
  }

 private:
  static bool works_in(const NetworkNode& node, const Tactic& tactic, const Format& format) {
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      bool flows = node.inputs[i] != kNoValue && !node.problem.inputs[i].constant;
      if (flows && tactic.inputs[i] != format) return false;
    }
    return std::all_of(tactic.outputs.begin(), tactic.outputs.end(),
                       [&](const Format& f) { return f == format; });
  }

  // Microseconds of the reformats of one value under `choice`.
  double edge_cost(ValueId v, const std::vector<size_t>& choice) const {
    const Edge& e = edges_.at(v);
    const Value& value = network_.graph.value(v);
    Format made = boundary_format(value);
    if (e.producer >= 0) {
      size_t n = static_cast<size_t>(e.producer);
      made = network_.nodes[n].tactics[choice[n]].outputs[static_cast<size_t>(e.output)];
    }
    std::set<Format> wanted;
    for (auto [reader, input] : e.readers) {
      size_t n = static_cast<size_t>(reader);
      wanted.insert(network_.nodes[n].tactics[choice[n]].inputs[static_cast<size_t>(input)]);
    }
    if (e.is_graph_output) wanted.insert(boundary_format(value));
    double sum = 0;
    for (const Format& f : wanted) {
      if (!same_placement(value.type.dims, made, f)) sum += reformat_({v, made, f});
    }
    return sum;
  }

  double local_cost(const std::vector<size_t>& choice, size_t n) const {
    const NetworkNode& node = network_.nodes[n];
    double sum = costs_[n][choice[n]];
    std::set<ValueId> touched(node.outputs.begin(), node.outputs.end());
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i] != kNoValue && !node.problem.inputs[i].constant)
        touched.insert(node.inputs[i]);
    }
    for (ValueId v : touched) sum += edge_cost(v, choice);
    return sum;
  }

  bool improve(std::vector<size_t>& choice, size_t n) const {
    size_t before = choice[n], best = before;
    double least = local_cost(choice, n);
    for (size_t t = 0; t < costs_[n].size(); ++t) {
      if (t == before || costs_[n][t] == std::numeric_limits<double>::infinity()) continue;
      choice[n] = t;
      double cost = local_cost(choice, n);
      if (cost < least - kImprovement) {
        least = cost;
        best = t;
      }
    }
    choice[n] = best;
    return best != before;
  }

  double total(const std::vector<size_t>& choice) const {
    double sum = 0;
    for (size_t n = 0; n < choice.size(); ++n) sum += costs_[n][choice[n]];
    for (const auto& [v, edge] : edges_) sum += edge_cost(v, choice);
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
