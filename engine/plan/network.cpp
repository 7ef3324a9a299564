#include "engine/plan/network.h"

#include <algorithm>
#include <map>
#include <utility>

#include "engine/plan/problem_of.h"
#include "engine/plan/siblings.h"
#include "engine/plan/slices.h"

namespace enginery {
namespace {

// The sources of these tactics, without the reference.
std::set<std::string> sources_of(const std::vector<Tactic>& tactics) {
  std::set<std::string> out;
  for (const Tactic& t : tactics) {
    if (t.trust != Trust::reference) out.insert(t.source);
  }
  return out;
}

// Whether a float64 value would lie in a format of another type: it would be rounded unseen.
bool narrows_float64(const std::vector<TensorDesc>& descs, const std::vector<Format>& formats) {
  for (size_t i = 0; i < descs.size() && i < formats.size(); ++i) {
    const bool lies_somewhere = descs[i].present && !descs[i].constant;
    if (lies_somewhere && descs[i].type.type == DataType::float64 &&
        formats[i].type != DataType::float64)
      return true;
  }
  return false;
}

class Lowering {
 public:
  Lowering(Graph graph, const TacticSources& sources, const std::set<Precision>& allowed,
           const NodePrecisions& of_nodes)
      : sources_(sources), allowed_(allowed), of_nodes_(of_nodes) {
    network_.graph = std::move(graph);
  }

  Result<Network> run() {
    give_outputs_a_producer();
    std::map<int32_t, std::vector<NodeId>> groups;
    std::vector<NodeId> order = network_.graph.topological_order();
    std::erase_if(order, [&](NodeId id) { return make_float_weights(id); });
    users_ = network_.graph.users();
    for (NodeId id : order) {
      int32_t group = network_.graph.node(id).group;
      if (group != kNoGroup) groups[group].push_back(id);
    }
    for (NodeId id : order) {
      int32_t group = network_.graph.node(id).group;
      // A group stands where its last node stood: there all of its operands exist.
      if (group == kNoGroup)
        CHECK_OK(add(Members(&id, 1)));
      else if (groups[group].back() == id)
        CHECK_OK(add_group(groups[group]));
    }
    add_regions(order);
    add_siblings();
    offer_slices(network_);
    return std::move(network_);
  }

 private:
  // An output that is a constant or an input is copied by a node, so that plan knows one kind of
  // output only; so is the second of two outputs that are the same value.
  void give_outputs_a_producer() {
    Graph& graph = network_.graph;
    std::vector<ValueId> outputs = graph.outputs();
    std::set<ValueId> seen;
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (graph.value(outputs[i]).producer != kNoNode && seen.insert(outputs[i]).second) continue;
      auto copy = graph.add_node(graph.value(outputs[i]).name + ".copy", Identity{}, {outputs[i]});
      ENSURE(copy.ok(), "identity takes any value");
      graph.set_output(i, (*copy)[0]);
    }
  }

  // Quantised weights are kept in the graph as they are, for regions that read integers; everybody
  // else has them as the constants in float that they stand for. Says whether the node's result is
  // such a constant now, which nothing has to compute.
  bool make_float_weights(NodeId id) {
    Graph& graph = network_.graph;
    const Node& node = graph.node(id);
    const auto is_known = [&](ValueId v) { return v == kNoValue || graph.constant(v) != nullptr; };
    if (!std::holds_alternative<Dequantize>(node.op) || !std::ranges::all_of(node.inputs, is_known))
      return false;
    std::vector<const Tensor*> inputs;
    for (const ValueId v : node.inputs) inputs.push_back(graph.constant(v));
    auto results = run_reference(node.op, inputs);
    if (!results || graph.is_output(node.outputs[0])) return false;
    graph.value(node.outputs[0]).constant = std::move((*results)[0]);
    return true;
  }

  // Gives the node what the sources offer for it in the precisions of its members. Errors:
  // unsupported.
  Status offer(Members members, NetworkNode& node) const {
    std::vector<Precision> asked;
    for (const NodeId id : members) {
      const auto found = of_nodes_.find(id);
      if (found != of_nodes_.end()) asked.push_back(found->second);
    }
    node.precisions = allowed_together(asked);
    return offer(node);
  }

  // The same in the precisions that the node has.
  Status offer(NetworkNode& node) const {
    TRY(node.tactics,
        offer_all(sources_, node.problem, node.precisions.empty() ? allowed_ : node.precisions));
    return {};
  }

  // The members as one problem without tactics: an anchor with its epilogue, or else a region.
  // Errors: unsupported.
  Result<NetworkNode> made(Members members) const {
    if (is_epilogue(network_.graph, members)) return make_node(network_.graph, members);
    auto region = make_region(network_.graph, users_, members);
    if (!region) return Error{ErrorCode::unsupported, "these operators are no region"};
    return std::move(*region);
  }

  // The members as one problem with what the sources offer for it. Errors: unsupported.
  Result<NetworkNode> offered(Members members) const {
    TRY(NetworkNode node, made(members));
    CHECK_OK(offer(members, node));
    return node;
  }

  Status add(Members members) {
    TRY(NetworkNode node, made(members));
    for (const TensorDesc& d : node.problem.outputs) {
      if (!is_static(d.type.dims)) {
        return Error{ErrorCode::invalid_argument, "node '" + node.name + "': its output " +
                                                      to_string(d.type) +
                                                      " has a run-time size; give --shapes"};
      }
    }
    const Status has_tactics = offer(members, node);
    if (!has_tactics.ok())
      return has_tactics.error().within("node '" + node.name + "' (" +
                                        std::string(op_name(node.problem.op)) + ")");
    for (const NodeId id : members) node_of_[id] = network_.nodes.size();
    network_.nodes.push_back(std::move(node));
    return {};
  }

  // Keeps the longest head of the group that some source other than the reference can run, and does
  // the same with the rest. Shorter heads that let other sources in are alternatives.
  Status add_group(Members members) {
    size_t keep = members.size();
    std::set<std::string> served;
    for (; keep > 1; --keep) {
      auto head = offered(members.first(keep));
      if (head) served = sources_of(head->tactics);
      if (!served.empty()) break;
    }
    const size_t first = network_.nodes.size();
    CHECK_OK(add(members.first(keep)));
    for (size_t head = keep; head > 1; --head)
      add_alternative(members.first(keep), head - 1, first, served);
    if (keep < members.size()) return add_group(members.subspan(keep));
    return {};
  }

  // The group cut behind its first `head` members, where sources run that head which run no longer
  // one; they are `served` from now on.
  void add_alternative(Members members, size_t head, size_t first, std::set<std::string>& served) {
    auto node = offered(members.first(head));
    if (!node) return;
    const std::set<std::string> able = sources_of(node->tactics);
    if (std::includes(served.begin(), served.end(), able.begin(), able.end())) return;
    Alternative out;
    for (size_t i = first; i < network_.nodes.size(); ++i) out.replaces.push_back(i);
    out.instead.push_back(std::move(*node));
    if (!add_rest(members.subspan(head), out.instead)) return;
    served.insert(able.begin(), able.end());
    network_.alternatives.push_back(std::move(out));
  }

  // As one problem, where a source other than the reference runs it; otherwise node by node. False
  // where nothing runs one of them.
  bool add_rest(Members rest, std::vector<NetworkNode>& nodes) const {
    auto whole = offered(rest);
    if (whole && !sources_of(whole->tactics).empty()) {
      nodes.push_back(std::move(*whole));
      return true;
    }
    for (size_t i = 0; i < rest.size(); ++i) {
      auto single = offered(rest.subspan(i, 1));
      if (!single) return false;
      nodes.push_back(std::move(*single));
    }
    return true;
  }

  // Regions that sources propose, each as an alternative to the nodes that its members are part of.
  void add_regions(const std::vector<NodeId>& order) {
    std::set<std::pair<std::vector<NodeId>, RegionPattern::Operands>> seen;
    for (const auto& source : sources_) {
      for (const RegionPattern& pattern : source->regions()) {
        for (const auto& members : find_regions(network_.graph, users_, order, pattern)) {
          if (seen.insert({members, pattern.operands}).second)
            add_region(order, members, pattern.operands);
        }
      }
    }
  }

  // Whether the region computes with integers what is asked to be computed in floats. Sums and
  // activations are computed in float32 there, too.
  bool breaks_a_promise(const std::vector<NodeId>& members) const {
    const auto op_of = [&](NodeId id) -> const Op& { return network_.graph.node(id).op; };
    const bool reads_integers = std::ranges::any_of(
        members, [&](NodeId id) { return std::holds_alternative<Dequantize>(op_of(id)); });
    return reads_integers && std::ranges::any_of(members, [&](NodeId id) {
             const auto asked = of_nodes_.find(id);
             return asked != of_nodes_.end() && asked->second != Precision::int8 &&
                    !is_operator<Dequantize, Quantize, Binary, Activation>(op_of(id));
           });
  }

  // Nothing where the members are no region or no source but the reference runs it. What is left of
  // the groups that it takes its members from runs node by node. Of all that it replaces only the
  // last one's result is read by others, since nobody reads what is inside of a region or a group.
  void add_region(const std::vector<NodeId>& order, const std::vector<NodeId>& members,
                  RegionPattern::Operands operands) {
    if (breaks_a_promise(members)) return;
    auto region = make_region(network_.graph, users_, members, operands);
    if (!region) return;
    if (!offer(members, *region).ok() || sources_of(region->tactics).empty()) return;
    std::set<size_t> replaced;
    for (const NodeId id : members) {
      const bool stays = id != members.back() && has_other_readers(id, members);
      if (!stays) replaced.insert(node_of_.at(id));
    }
    Alternative out{.replaces = {replaced.begin(), replaced.end()}, .instead = {}};
    for (const NodeId id : order) {
      if (id == members.back()) out.instead.push_back(*region);
      const bool left = replaced.contains(node_of_.at(id)) &&
                        std::find(members.begin(), members.end(), id) == members.end();
      if (!left) continue;
      auto single = offered(Members(&id, 1));
      if (!single) return;
      out.instead.push_back(std::move(*single));
    }
    network_.alternatives.push_back(std::move(out));
  }

  // Behind all other alternatives: records of covers name these by their indices.
  void add_siblings() {
    for (MergedSiblings& merged : merge_siblings(network_.graph, network_.nodes)) {
      if (!offer(merged.convolution).ok() || sources_of(merged.convolution.tactics).empty() ||
          !offer(merged.split).ok())
        continue;
      Alternative out{.replaces = merged.siblings, .instead = {}, .leads = true};
      out.instead.push_back(std::move(merged.convolution));
      out.instead.push_back(std::move(merged.split));
      network_.alternatives.push_back(std::move(out));
    }
  }

  bool has_other_readers(NodeId id, const std::vector<NodeId>& members) const {
    const auto& readers = users_[static_cast<size_t>(network_.graph.node(id).outputs[0])];
    return std::ranges::any_of(readers, [&](NodeId reader) {
      return std::find(members.begin(), members.end(), reader) == members.end();
    });
  }

  const TacticSources& sources_;
  const std::set<Precision>& allowed_;
  const NodePrecisions& of_nodes_;
  Network network_;
  Users users_;                       // of the graph's values
  std::map<NodeId, size_t> node_of_;  // the network's node that a node of the graph is part of
};

// The node that it stands in the place of.
size_t place_of(const Alternative& alternative) {
  return alternative.leads ? alternative.replaces.front() : alternative.replaces.back();
}

// Takes out every Dequantize that only what was replaced has read: its readers now do it for
// themselves.
void drop_unread(Network& network) {
  std::set<ValueId> read(network.graph.outputs().begin(), network.graph.outputs().end());
  std::vector<NetworkNode> kept;
  for (size_t n = network.nodes.size(); n-- > 0;) {
    NetworkNode& node = network.nodes[n];
    if (is_one_of<Dequantize>(node.problem) && !is_region(node.problem) &&
        !read.contains(node.outputs[0]))
      continue;
    read.insert(node.inputs.begin(), node.inputs.end());
    kept.push_back(std::move(node));
  }
  std::ranges::reverse(kept);
  network.nodes = std::move(kept);
}

}  // namespace

std::vector<const Tensor*> Network::weights(const NetworkNode& node) const {
  std::vector<const Tensor*> out;
  for (ValueId v : node.inputs) out.push_back(graph.constant(v));
  return out;
}

Result<Network> Network::cut(const Cover& cover) const {
  const Error other{ErrorCode::incompatible, "the cover is one of another network"};
  std::vector<const Alternative*> in_force(nodes.size(), nullptr);
  for (const size_t a : cover) {
    if (a >= alternatives.size()) return other;
    for (const size_t n : alternatives[a].replaces) {
      if (std::exchange(in_force[n], &alternatives[a]) != nullptr) return other;
    }
  }
  Network out{.graph = graph, .nodes = {}};
  for (size_t n = 0; n < nodes.size(); ++n) {
    const Alternative* alternative = in_force[n];
    if (alternative == nullptr) out.nodes.push_back(nodes[n]);
    if (alternative == nullptr || place_of(*alternative) != n) continue;
    out.nodes.insert(out.nodes.end(), alternative->instead.begin(), alternative->instead.end());
  }
  if (!cover.empty()) drop_unread(out);
  return out;
}

const TacticSource* find_source(const TacticSources& sources, const std::string& name) {
  for (const auto& source : sources) {
    if (source->name() == name) return source.get();
  }
  return nullptr;
}

std::vector<SourceOffer> ask_sources(const TacticSources& sources, const Problem& problem,
                                     const std::set<Precision>& allowed) {
  std::vector<SourceOffer> out;
  for (const auto& source : sources) {
    const Status served = require_served(*source, problem);
    auto offered = served.ok() ? source->offer(problem, allowed) : served.error();
    if (offered.ok()) {
      std::erase_if(*offered, [&](const Tactic& tactic) {
        return narrows_float64(problem.inputs, tactic.inputs) ||
               narrows_float64(problem.outputs, tactic.outputs);
      });
      if (offered->empty())
        offered = Error{ErrorCode::unsupported, "float64 would be rounded to float32"};
      else
        for (Tactic& tactic : *offered) tactic.trust = source->traits().trust;
    }
    out.push_back({std::string(source->name()), std::move(offered)});
  }
  return out;
}

Result<std::vector<Tactic>> offer_all(const TacticSources& sources, const Problem& problem,
                                      const std::set<Precision>& allowed) {
  std::vector<Tactic> out;
  std::string reasons;
  for (SourceOffer& offer : ask_sources(sources, problem, allowed)) {
    if (offer.tactics.ok()) {
      std::ranges::move(*offer.tactics, std::back_inserter(out));
      continue;
    }
    if (offer.tactics.error().code != ErrorCode::unsupported) return offer.tactics.error();
    reasons += (reasons.empty() ? "" : "; ") + offer.source + ": " + offer.tactics.error().message;
  }
  if (out.empty())
    return Error{ErrorCode::unsupported, "no tactic source can run it (" + reasons + ")"};
  return out;
}

Result<Network> lower(Graph graph, const TacticSources& sources, const std::set<Precision>& allowed,
                      const NodePrecisions& of_nodes) {
  return Lowering(std::move(graph), sources, allowed, of_nodes).run();
}

std::set<Precision> allowed_together(const std::vector<Precision>& asked) {
  if (asked.empty()) return {};
  const bool agreed = std::ranges::all_of(asked, [&](Precision p) { return p == asked[0]; });
  return agreed ? std::set{Precision::fp32, asked[0]} : std::set{Precision::fp32};
}

std::string offer_key(const NetworkNode& node) {
  std::string key = node.problem.key();
  for (const Precision p : node.precisions) key += "\nin " + std::string(to_string(p));
  return key;
}

}  // namespace enginery
