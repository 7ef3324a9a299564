// Writes engines to begin with into the folder named on the command line: random small graphs, each
// step by one of its tactics, and one engine for each problem of the conformance suite and source
// that serves it. For the lowest instruction set; without a signature.
#include <cstdio>

#include "engine/base/file.h"
#include "engine/format/engine_file.h"
#include "tests/support/problem_list.h"
#include "tests/support/problem_text.h"
#include "tests/support/random_graph.h"

namespace enginery {
namespace {

constexpr char kSku[] = "cpu-sse41";
constexpr uint64_t kGraphs = 60;
constexpr int64_t kMaxSeedBytes = 256 << 10;

// The manifest of a plan: what the caller is told of it.
Manifest manifest_of(const Plan& plan) {
  Manifest m;
  m.name = "seed";
  m.sku = kSku;
  m.precisions = {"fp32"};
  const auto describe = [&](const std::vector<int>& tensors, std::vector<NamedType>& out) {
    for (const int t : tensors)
      out.push_back(
          {plan.tensors[static_cast<size_t>(t)].name, plan.tensors[static_cast<size_t>(t)].type});
  };
  describe(plan.inputs, m.inputs);
  describe(plan.outputs, m.outputs);
  return m;
}

// The graph with each node's tactic drawn from all that are offered.
Result<Plan> plan_of(Graph graph, const TacticSources& sources, std::mt19937_64& random) {
  TRY(Network network, lower(std::move(graph), sources, {Precision::fp32}));
  TacticSelection selection;
  for (const NetworkNode& node : network.nodes)
    selection.tactics.push_back(node.tactics[random() % node.tactics.size()]);
  CHECK_OK(complete_reformats(network, sources, selection));
  selection.streams = 1 + static_cast<int>(random() % 3);
  return make_plan(network, selection);
}

// One node of the problem's operator; what the problem has for weights are constants.
Result<Plan> plan_of(const Problem& problem, const TacticSource& source, std::mt19937_64& random) {
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

class Seeds {
 public:
  explicit Seeds(std::string folder) : folder_(std::move(folder)) {}

  // An engine that is small and that the reader takes; others are passed over.
  Status write(const std::string& name, const Result<Plan>& plan) {
    if (!plan.ok()) return {};
    TRY(Bytes body, write_content(manifest_of(*plan), *plan));
    if (static_cast<int64_t>(body.size()) > kMaxSeedBytes) return {};
    const auto read = read_unsigned_engine(std::make_shared<const Bytes>(body));
    if (!read.ok()) return read.error().within(name);
    ++count;
    return write_file(folder_ + "/" + name + ".engine", body);
  }

  int count = 0;

 private:
  const std::string folder_;
};

Result<int> write_seeds(const std::string& folder) {
  CHECK_OK(make_folder(folder));
  DeviceOptions one_thread;
  one_thread.threads = 1;
  TRY(const auto device, open_device(kSku, one_thread));
  TRY(const auto sources, make_tactic_sources(*device));
  Seeds seeds(folder);
  std::mt19937_64 random(1);
  for (uint64_t seed = 1; seed <= kGraphs; ++seed) {
    const int nodes = 2 + static_cast<int>(seed % 8);
    CHECK_OK(seeds.write("graph" + std::to_string(seed),
                         plan_of(test::random_graph(seed, nodes).graph, sources, random)));
  }
  for (const ProblemRow& row : conformance_problems()) {
    TRY(const Problem problem, parse_problem(row.text));
    for (const auto& source : sources)
      CHECK_OK(seeds.write(std::string(row.name) + "-" + std::string(source->name()),
                           plan_of(problem, *source, random)));
  }
  return seeds.count;
}

}  // namespace
}  // namespace enginery

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: engine_fuzz_seeds FOLDER\n"), 2;
  const auto written = enginery::write_seeds(argv[1]);
  if (!written.ok()) return std::fprintf(stderr, "%s\n", written.error().message.c_str()), 1;
  return std::printf("%d engines\n", *written), 0;
}
