#include "engine/passes/pass.h"

#include <algorithm>
#include <chrono>

#include "engine/base/did_you_mean.h"
#include "engine/passes/canonicalize.h"
#include "engine/passes/drop_dead_rows.h"
#include "engine/passes/drop_zero_points.h"
#include "engine/passes/fold_batch_norm.h"
#include "engine/passes/fold_constants.h"
#include "engine/passes/fold_into_next.h"
#include "engine/passes/fold_pads.h"
#include "engine/passes/fuse_activations.h"
#include "engine/passes/fuse_attention.h"
#include "engine/passes/fuse_normalizations.h"
#include "engine/passes/fuse_vertical.h"
#include "engine/passes/join_pads.h"
#include "engine/passes/lift_gemm.h"
#include "engine/passes/merge_common.h"
#include "engine/passes/merge_products.h"
#include "engine/passes/nest_concats.h"
#include "engine/passes/raise_quantize.h"
#include "engine/passes/remove_dead.h"
#include "engine/passes/remove_no_ops.h"
#include "engine/passes/sink_transposes.h"
#include "engine/passes/split_einsum.h"

namespace enginery {

const std::vector<Pass>& pass_list() {
  static const std::vector<Pass> list = {
      {"fold_constants",
       fold_constants},  // first: what follows wants axes, shapes and weights as constants
      {"remove_no_ops", remove_no_ops},  // identities hide patterns from the passes below
      {"split_einsum", split_einsum},    // before transposes and products are looked at
      {"canonicalize",
       canonicalize},  // one spelling for each computation (mean over the plane = global pooling)
      {"lift_gemm", lift_gemm},            // reshapes hide what follows a product
      {"merge_common", merge_common},      // before fusion, so that shared producers are seen once
      {"fuse_attention", fuse_attention},  // while its pieces are as the exporter wrote them
      {"fuse_normalizations",
       fuse_normalizations},  // layer, RMS and group normalisation from their exported pieces
      {"fuse_activations",
       fuse_activations},        // swish, hard swish and GELU from their exported pieces
      {"fold_pads", fold_pads},  // behind activations, which say what is never negative
      {"join_pads", join_pads},  // so that nest_concats sees its joins
      {"fold_batch_norm",
       fold_batch_norm},                   // scale and shift into weights, before groups are formed
      {"fold_into_next", fold_into_next},  // and what is left into the reader's
      {"remove_dead", remove_dead},        // leftovers would count as users and block fusion
      {"merge_products", merge_products},  // for attentions, whose pieces must be gone
      {"drop_dead_rows", drop_dead_rows},  // behind attention, which can leave queries out
      {"sink_transposes", sink_transposes},    // before chains are formed, which a transpose cuts
      {"raise_quantize", raise_quantize},      // so that products before a concat give integers
      {"drop_zero_points", drop_zero_points},  // once it is final who reads integers
      {"nest_concats", nest_concats},          // behind what knows joins as exporters write them
      {"fuse_vertical", fuse_vertical},        // last: groups refer to final nodes
  };
  return list;
}

int layer_count(const Graph& graph) {
  std::set<int32_t> groups;
  int count = 0;
  for (NodeId id = 0; id < graph.node_count(); ++id) {
    const Node& node = graph.node(id);
    if (node.erased) continue;
    if (node.group == kNoGroup || groups.insert(node.group).second) ++count;
  }
  return count;
}

Status run_passes(Graph& graph, const PassOptions& options) {
  for (const std::string& name : options.skip) {
    std::vector<std::string> names;
    std::string list;
    for (const Pass& pass : options.list) {
      names.emplace_back(pass.name);
      list += (list.empty() ? "" : ", ") + names.back();
    }
    if (std::ranges::find(names, name) == names.end())
      return Error{ErrorCode::usage, "there is no pass '" + name + "' to skip" +
                                         did_you_mean(name, names) + " (there is: " + list + ")"};
  }
  for (const Pass& pass : options.list) {
    const std::string name(pass.name);
    if (options.skip.count(name)) continue;
    const int before = options.log ? layer_count(graph) : 0;
    const auto start = std::chrono::steady_clock::now();
    const auto changed = pass.run(graph);
    if (!changed) return changed.error().within("pass " + name);
    double ms =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    if (Status sound = verify(graph); !sound.ok()) {
      return Error{ErrorCode::internal,
                   "pass " + name + " broke the graph: " + sound.error().message};
    }
    if (options.dump) options.dump(pass.name, graph);
    if (options.log) {
      char line[160];
      std::snprintf(line, sizeof line, "after %s: %d layers, %d before (%d changed, %.1f ms)",
                    name.c_str(), layer_count(graph), before, *changed, ms);
      options.log(line);
    }
  }
  return {};
}

}  // namespace enginery
