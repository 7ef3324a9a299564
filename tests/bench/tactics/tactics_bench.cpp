// Times every tactic of a model's distinct layers (or of one problem) and prints them best first.
//
//   tactics_bench --model squeezenet1.1.onnx [--sku SKU] [--threads 2] [--top 4] [--filter conv]
//   tactics_bench --problem "softmax axis=-1 | float32[4420x2]"
//
// Inputs stay hot. With --ring weights rotate through copies of that many megabytes together, as in
// a network whose weights pass the last-level cache.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>

#include "engine/compile/compile.h"
#include "engine/device/measurer.h"
#include "engine/device/sku_table.h"
#include "tests/support/problem_text.h"
#include "tests/support/tactic_harness.h"

namespace enginery {
namespace {

struct Options {
  std::string model, problem, sku, filter;
  int threads = 2, top = 4, rounds = 15, ring_megabytes = 0;
};

constexpr int64_t kMegabyte = int64_t{1} << 20;
constexpr int64_t kMaxCopies = 24;

struct Timed {
  std::string key;
  double median_us = 0, low_us = 0;
};

// The copies of one tactic that are timed in turn.
struct Ring {
  std::string key;
  std::vector<std::unique_ptr<TacticRun>> runs;
  std::vector<double> samples_us;
};

Result<Ring> make_ring(Target& target, Stream& stream, const Problem& problem, const Tactic& tactic,
                       const ProblemData& data, int64_t ring_bytes) {
  Ring ring{tactic_key(tactic), {}, {}};
  const TacticSource* source = find_source(target.sources, tactic.source);
  int64_t copies = 1;
  for (int64_t i = 0; i < copies; ++i) {
    auto run = std::make_unique<TacticRun>(*target.device, stream);
    OperandPlace place =
        tactic.in_place_operand >= 0 ? OperandPlace::in_place : OperandPlace::separate;
    CHECK_OK(run->prepare(*source, problem, tactic, data, place));
    int64_t bytes = std::max<int64_t>(run->prepared().weight_bytes(), 1);
    if (i == 0) copies = std::clamp<int64_t>(ring_bytes / bytes, 1, bytes > 65536 ? kMaxCopies : 1);
    ring.runs.push_back(std::move(run));
  }
  return ring;
}

void sample(Ring& ring, Stream& stream, size_t round) {
  const TacticRun& run = *ring.runs[round % ring.runs.size()];
  Enqueue enqueue = run.enqueue();
  auto start = std::chrono::steady_clock::now();
  (void)enqueue(stream);
  std::chrono::duration<double, std::micro> elapsed = std::chrono::steady_clock::now() - start;
  ring.samples_us.push_back(elapsed.count());
}

// All tactics of a problem, their samples interleaved.
std::vector<Timed> time_problem(Target& target, Stream& stream, const Problem& problem,
                                const std::vector<Tactic>& tactics, const Options& options) {
  std::mt19937_64 random(1);
  ProblemData data;
  fill_random(problem, random, data);
  std::vector<Ring> rings;
  for (const Tactic& tactic : tactics) {
    if (tactic.trust == Trust::reference && tactics.size() > 1) continue;
    if (tactic.view_of >= 0) return {{tactic_key(tactic), 0, 0}};
    auto ring =
        make_ring(target, stream, problem, tactic, data, options.ring_megabytes * kMegabyte);
    if (ring.ok())
      rings.push_back(std::move(*ring));
    else
      std::printf("  failed: %s\n", ring.error().message.c_str());
  }
  int warm = 3;
  for (int round = 0; round < options.rounds + warm; ++round) {
    for (Ring& ring : rings) {
      // Twice in a row: the first puts the inputs back into the caches, the second, on other
      // weights, counts.
      sample(ring, stream, static_cast<size_t>(2 * round));
      ring.samples_us.pop_back();
      sample(ring, stream, static_cast<size_t>(2 * round + 1));
      if (round < warm) ring.samples_us.clear();
    }
  }
  std::vector<Timed> out;
  for (Ring& ring : rings) {
    std::sort(ring.samples_us.begin(), ring.samples_us.end());
    out.push_back({ring.key, ring.samples_us[ring.samples_us.size() / 2], ring.samples_us.front()});
  }
  std::sort(out.begin(), out.end(),
            [](const Timed& a, const Timed& b) { return a.median_us < b.median_us; });
  return out;
}

void print(const std::vector<Timed>& timed, int top) {
  for (size_t i = 0; i < timed.size() && i < static_cast<size_t>(top); ++i) {
    std::printf("    %9.1f us (least %9.1f)  %s\n", timed[i].median_us, timed[i].low_us,
                timed[i].key.c_str());
  }
}

Status bench_model(const Options& o, Target& target, Stream& stream) {
  BuildOptions options;
  options.threads = o.threads;
  TRY(ModelSource source, read_model(o.model));
  TRY(LoadedModel model, load_model(source, o.model, options));
  TRY(Network network, lower_model(model, target, options));
  std::map<std::string, std::pair<int, const NetworkNode*>> distinct;
  std::vector<std::string> order;
  for (const NetworkNode& node : network.nodes) {
    std::string key = node.problem.key();
    auto [at, fresh] = distinct.try_emplace(key, 0, &node);
    if (fresh) order.push_back(key);
    ++at->second.first;
  }
  double sum_us = 0, least_us = 0;
  for (const std::string& key : order) {
    if (key.find(o.filter) == std::string::npos) continue;
    auto [count, node] = distinct[key];
    std::vector<Timed> timed = time_problem(target, stream, node->problem, node->tactics, o);
    if (timed.empty()) continue;
    sum_us += count * timed[0].median_us;
    auto low = [](const Timed& a, const Timed& b) { return a.low_us < b.low_us; };
    least_us += count * std::min_element(timed.begin(), timed.end(), low)->low_us;
    std::printf("%d x %s\n", count, key.c_str());
    print(timed, o.top);
  }
  std::printf(
      "sum of best: %.1f us by medians, %.1f us by least samples, over %zu nodes, %zu distinct\n",
      sum_us, least_us, network.nodes.size(), order.size());
  return {};
}

Status bench_problem(const Options& o, Target& target, Stream& stream) {
  TRY(Problem problem, parse_problem(o.problem));
  TRY(auto tactics, offer_all(target.sources, problem, {Precision::fp32}));
  print(time_problem(target, stream, problem, tactics, o), o.top);
  return {};
}

Status run(const Options& o) {
  BuildOptions options;
  options.threads = o.threads;
  TRY(Target target, open_target(o.sku.empty() ? local_skus()[0].name : o.sku, options));
  TRY(auto stream, target.device->create_stream());
  std::printf("%s, %s, %d threads, foreign load %.2f\n", target.device->info().sku.c_str(),
              target.device->info().name.c_str(), target.device->info().threads,
              target.device->measurer()->state().foreign_load);
  CHECK_OK(o.model.empty() ? bench_problem(o, target, *stream) : bench_model(o, target, *stream));
  std::printf("foreign load %.2f\n", target.device->measurer()->state().foreign_load);
  return {};
}

}  // namespace
}  // namespace enginery

int main(int argc, char** argv) {
  enginery::Options options;
  CLI::App app("Times every tactic of a model's layers or of one problem.");
  app.add_option("--model", options.model);
  app.add_option("--problem", options.problem);
  app.add_option("--sku", options.sku);
  app.add_option("--threads", options.threads);
  app.add_option("--top", options.top);
  app.add_option("--filter", options.filter);
  app.add_option("--rounds", options.rounds);
  app.add_option("--ring", options.ring_megabytes);
  CLI11_PARSE(app, argc, argv);
  enginery::Status status = enginery::run(options);
  if (!status.ok()) std::fprintf(stderr, "tactics_bench: %s\n", status.error().message.c_str());
  return status.ok() ? 0 : 1;
}
