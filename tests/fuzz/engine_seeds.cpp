#include "tests/fuzz/engine_seeds.h"

#include <cstring>

#include "engine/graph/text.h"
#include "tests/engine/format/small_engine.h"
#include "tests/support/problem_list.h"
#include "tests/support/problem_text.h"
#include "tests/support/random_graph.h"
#include "tests/support/sliced_graph.h"

namespace enginery::test {
namespace {

constexpr char kSku[] = "cpu-sse41";
constexpr uint64_t kGraphs = 60, kSliced = 20;
constexpr int64_t kMaxSeedBytes = 256 << 10;

// The graph with each node's tactic drawn from all that are offered.
Result<Plan> plan_of(Graph graph, const TacticSources& sources, Random& random) {
  TRY(Network network, lower(std::move(graph), sources, {Precision::fp32}));
  TacticSelection selection;
  for (const NetworkNode& node : network.nodes)
    selection.tactics.push_back(node.tactics[random() % node.tactics.size()]);
  CHECK_OK(complete_reformats(network, sources, selection));
  selection.streams = 1 + static_cast<int>(random() % 3);
  return make_plan(network, selection);
}

// One node of the problem's operator; what the problem has for weights are constants.
Result<Plan> plan_of(const Problem& problem, const TacticSource& source, Random& random) {
  CHECK_OK(require_served(source, problem));
  TRY(auto tactics, source.offer(problem, {Precision::fp32}));
  Plan plan;
  PlanStep step;
  step.name = "step";
  step.problem = problem;
  step.tactic = tactics[random() % tactics.size()];
  if (step.tactic.view_of >= 0) return Error{ErrorCode::unsupported, "a view"};
  const auto add = [&](const TensorDesc& desc, const Format& format, StorageKind kind,
                       std::vector<int>& callers) -> Result<int> {
    if (format != Format{desc.type.type, {}}) return Error{ErrorCode::unsupported, "a layout"};
    const int index = static_cast<int>(plan.tensors.size());
    plan.storages.push_back(
        {kind, bytes_of(desc.type), static_cast<int64_t>(callers.size()), 0, 0});
    plan.tensors.push_back({"t" + std::to_string(index), desc.type, format, index});
    callers.push_back(index);
    return index;
  };
  for (size_t i = 0; i < problem.inputs.size(); ++i) {
    const TensorDesc& desc = problem.inputs[i];
    step.inputs.push_back(-1);
    step.constants.push_back(-1);
    if (desc.present && desc.constant) {
      step.constants.back() = static_cast<int>(plan.constants.size());
      Tensor zeros(desc.type.type, desc.type.dims);
      std::memset(zeros.mutable_bytes(), 0, static_cast<size_t>(zeros.bytes()));
      plan.constants.push_back({"c", desc.value ? *desc.value : zeros});
    } else if (desc.present) {
      TRY(step.inputs.back(), add(desc, step.tactic.inputs[i], StorageKind::input, plan.inputs));
    }
  }
  for (size_t i = 0; i < problem.outputs.size(); ++i) {
    TRY(const int t,
        add(problem.outputs[i], step.tactic.outputs[i], StorageKind::output, plan.outputs));
    step.outputs.push_back(t);
  }
  if (step.tactic.workspace_bytes > 0) {
    step.workspace = static_cast<int>(plan.storages.size());
    plan.storages.push_back({StorageKind::arena, step.tactic.workspace_bytes, 0, 0, 0});
    plan.arena_bytes = step.tactic.workspace_bytes;
  }
  plan.steps.push_back(std::move(step));
  return plan;
}

// Takes the engines that are small; one that the reader refuses is an error.
class Seeds {
 public:
  // `sizes`: of its outputs, told by each run.
  Status add(const std::string& name, const Result<Plan>& plan, const RunTimeSizes& sizes = {}) {
    if (!plan.ok()) return {};
    Manifest manifest = manifest_of(*plan, kSku);
    manifest.run_time_sizes = sizes;
    TRY(Bytes body, write_content(manifest, *plan));
    if (static_cast<int64_t>(body.size()) > kMaxSeedBytes) return {};
    const auto read = read_unsigned_engine(std::make_shared<const Bytes>(body));
    if (!read.ok()) return read.error().within(name);
    taken.push_back({name, std::move(body)});
    return {};
  }

  std::vector<FuzzSeed> taken;
};

// Engines of which a run tells sizes of outputs: of two outputs at once, of two dimensions of one,
// and of boxes that were chosen.
constexpr std::pair<const char*, const char*> kCounted[] = {
    {"found",
     "input %x : float32[2x3]\n %all, %n = find_non_zero(%x)\n "
     "%y = compact(%all, %n) axes=[1]\n %s = binary(%all, %all) kind=mul\n "
     "%z = compact(%s, %n) axes=[1]\n %size = identity(%n)\n output %y\n output %z\n "
     "output %size"},
    {"table",
     "input %x : float32[6]\n input %t : float32[6x6]\n %all, %n = find_non_zero(%x)\n "
     "%three = constant int64[] {3}\n %m = binary(%n, %three) kind=min\n "
     "%y = compact(%t, %n, %m) axes=[0,1]\n %rows = identity(%n)\n %columns = identity(%m)\n "
     "output %y\n output %rows\n output %columns"},
    {"boxes",
     "input %b : float32[1x5x4]\n input %s : float32[1x2x5]\n %k = constant int64[] {3}\n "
     "%all, %n = non_max_suppression(%b, %s, %k)\n %y = compact(%all, %n) axes=[0]\n "
     "%size = identity(%n)\n output %y\n output %size"}};
const RunTimeSizes kCountedSizes[] = {{{0, 1, 2}, {1, 1, 2}}, {{0, 0, 1}, {0, 1, 2}}, {{0, 0, 1}}};

Status add_counted(Seeds& seeds, const TacticSources& sources, Random& random) {
  for (size_t i = 0; i < std::size(kCounted); ++i) {
    const auto& [name, text] = kCounted[i];
    TRY(Graph graph, parse_graph("graph counted { " + std::string(text) + " }"));
    TRY(const Plan plan, plan_of(std::move(graph), sources, random));
    CHECK_OK(seeds.add(name, plan, kCountedSizes[i]));
  }
  return {};
}

}  // namespace

Result<std::vector<FuzzSeed>> engine_seeds() {
  DeviceOptions one_thread;
  one_thread.threads = 1;
  TRY(const auto device, open_device(kSku, one_thread));
  TRY(const auto sources, make_tactic_sources(*device));
  Seeds seeds;
  Random random(1);
  for (uint64_t seed = 1; seed <= kGraphs; ++seed) {
    const int nodes = 2 + static_cast<int>(seed % 8);
    CHECK_OK(seeds.add("graph" + std::to_string(seed),
                       plan_of(random_graph(seed, nodes).graph, sources, random)));
  }
  for (uint64_t seed = 1; seed <= kSliced; ++seed)
    CHECK_OK(seeds.add("sliced" + std::to_string(seed),
                       plan_of(sliced_graph(seed, 8), sources, random)));
  CHECK_OK(add_counted(seeds, sources, random));
  std::vector<ProblemRow> rows = conformance_problems();
  const std::vector<ProblemRow> regions = conformance_regions();
  rows.insert(rows.end(), regions.begin(), regions.end());
  for (const ProblemRow& row : rows) {
    TRY(const Problem problem, parse_problem(row.text));
    for (const auto& source : sources)
      CHECK_OK(seeds.add(std::string(row.name) + "-" + std::string(source->name()),
                         plan_of(problem, *source, random)));
  }
  return std::move(seeds.taken);
}

}  // namespace enginery::test
