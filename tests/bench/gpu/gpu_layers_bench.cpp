// Times every tactic of ResNet-50's layers on the GPU, alone, in CUDA graphs, and writes one CSV
// row a tactic.
//
//   gpu_layers_bench --batch 1 --precision fp16 --out layers.csv [--sources kernel,cudnn,cublaslt]
//   [--layer res4]
//   gpu_layers_bench --precision fp32 --problem "dequantize | int8[256x3x224x224] ..."
//
// With --problem it is that problem or region alone, and its tactics are printed, best first.
//
// Columns: batch, precision, layer, count, source, tactic, median_us, roofline_us, failure.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>

#include "engine/device/measurer.h"
#include "tests/bench/gpu/gpu.h"
#include "tests/bench/gpu/resnet50_layers.h"
#include "tests/support/gpu_sources.h"
#include "tests/support/problem_text.h"
#include "tests/support/tactic_harness.h"

namespace enginery {
namespace {

struct Options {
  int batch = 1, samples = 9;
  std::string precision = "fp16", out = "layers.csv", layer, without, problem;
  bool every = false;
};

struct Bench {
  Gpu gpu;
  std::unique_ptr<Stream> stream;
};

// Median device time of one launch, from recorded sequences that are long enough to resolve.
Result<double> time_us(Bench& b, const TacticRun& run, int samples) {
  Measurer& measurer = *b.gpu.device->measurer();
  Enqueue once = run.enqueue();
  int launches = 4;
  for (;;) {
    TRY(auto sequence, b.gpu.device->record(*b.stream, [&](Stream& s) -> Status {
      for (int i = 0; i < launches; ++i) CHECK_OK(once(s));
      return {};
    }));
    TRY(double first, measurer.time_us(*b.stream, *sequence));
    if (first < measurer.min_resolvable_us() && launches < 4096) {
      launches = static_cast<int>(std::min(
          4096.0,
          launches * std::max(2.0, 1.2 * measurer.min_resolvable_us() / std::max(first, 1.0))));
      continue;
    }
    std::vector<double> values;
    for (int i = 0; i < samples; ++i) {
      TRY(double us, measurer.time_us(*b.stream, *sequence));
      values.push_back(us / launches);
    }
    std::nth_element(values.begin(), values.begin() + samples / 2, values.end());
    return values[static_cast<size_t>(samples / 2)];
  }
}

double roofline_us(const DeviceInfo& info, const Problem& problem, Precision precision) {
  double peak = precision == Precision::fp16   ? info.float16_flops
                : precision == Precision::tf32 ? info.tf32_flops
                                               : info.float32_flops;
  double bytes = least_bytes(problem) * (precision == Precision::fp16 ? 0.5 : 1.0);
  return 1e6 * std::max(flop_count(problem) / peak, bytes / info.bytes_per_second);
}

Result<double> time_tactic(Bench& b, const TacticSource& source, const Problem& problem,
                           const Tactic& tactic, const ProblemData& data, int samples) {
  TacticRun run(*b.gpu.device, *b.stream);
  CHECK_OK(run.prepare(source, problem, tactic, data, OperandPlace::separate));
  CHECK_OK(run.launch());
  return time_us(b, run, samples);
}

// Every tactic of one problem, the best first.
Status bench_problem(Bench& b, const Options& o, Precision precision) {
  TRY(const Problem problem, parse_problem(o.problem));
  std::mt19937_64 random(1);
  ProblemData data;
  fill_random(problem, random, data);
  std::vector<std::pair<double, std::string>> times;
  for (const auto& source : b.gpu.sources) {
    if (source->traits().trust == Trust::reference || !require_served(*source, problem).ok())
      continue;
    auto tactics = source->offer(problem, {Precision::fp32, precision});
    if (!tactics.ok()) continue;
    std::erase_if(*tactics, [&](const Tactic& t) { return t.compute != precision; });
    compile_in_parallel(*source, problem, *tactics);
    for (const Tactic& tactic : *tactics) {
      auto us = time_tactic(b, *source, problem, tactic, data, o.samples);
      if (us.ok())
        times.emplace_back(*us, tactic_key(tactic));
      else
        std::printf("  %s failed: %s\n", tactic_key(tactic).c_str(), us.error().message.c_str());
    }
  }
  std::ranges::sort(times);
  for (const auto& [us, key] : times) std::printf("%10.2f us  %s\n", us, key.c_str());
  return {};
}

Status bench_layer(Bench& b, const Options& o, const LayerRow& layer, Precision precision,
                   std::ofstream& csv, std::map<std::string, double>& sums) {
  TRY(Problem problem, parse_problem(layer_text(layer, o.batch)));
  std::mt19937_64 random(1);
  ProblemData data;
  fill_random(problem, random, data);
  double roof = roofline_us(b.gpu.device->info(), problem, precision), best = 0;
  std::map<std::string, std::pair<double, std::string>> best_of;
  for (const auto& source : b.gpu.sources) {
    if (source->traits().trust == Trust::reference) continue;
    auto tactics = source->offer(problem, {precision});
    if (!tactics.ok()) {
      std::printf("  %s: %s\n", std::string(source->name()).c_str(),
                  tactics.error().message.c_str());
      continue;
    }
    std::erase_if(*tactics, [&](const Tactic& t) { return t.compute != precision; });
    compile_in_parallel(*source, problem, *tactics);
    for (const Tactic& tactic : *tactics) {
      auto us = time_tactic(b, *source, problem, tactic, data, o.samples);
      std::string failure = us.ok() ? "" : us.error().message;
      std::replace(failure.begin(), failure.end(), ',', ';');
      std::replace(failure.begin(), failure.end(), '\n', ' ');
      csv << o.batch << "," << o.precision << "," << layer.name << "," << layer.count << ","
          << tactic.source << "," << tactic.id << "," << (us.ok() ? *us : 0) << "," << roof << ","
          << tactic.estimated_us << "," << failure << "\n";
      if (!us.ok()) {
        std::printf("  %s failed: %s\n", tactic_key(tactic).c_str(), failure.c_str());
        continue;
      }
      auto& place = best_of[tactic.source];
      if (place.second.empty() || *us < place.first) place = {*us, tactic.id};
      if (best == 0 || *us < best) best = *us;
    }
  }
  sums["best"] += layer.count * best;
  std::printf("%-24s x%d roofline %7.2f us", layer.name, layer.count, roof);
  for (const auto& [source, timed] : best_of) {
    sums[source] += layer.count * timed.first;
    std::printf(" | %s %7.2f %s", source.c_str(), timed.first, timed.second.c_str());
  }
  std::printf("\n");
  std::fflush(stdout);
  return {};
}

Status run(const Options& o) {
  Bench b;
  TRY(b.gpu, open_gpu({{o.without}}));
  TRY(b.stream, b.gpu.device->create_stream());
  if (o.every && !b.gpu.sources.empty() && b.gpu.sources[0]->name() == "kernel")
    show_every_kernel(*b.gpu.device, 0, b.gpu.sources);
  TRY(Precision precision, parse_precision(o.precision));
  for (const auto& [name, value] : b.gpu.device->info().hardware)
    std::printf("%s=%s ", name.c_str(), value.c_str());
  for (const auto& [name, value] : b.gpu.device->info().software)
    std::printf("%s=%s ", name.c_str(), value.c_str());
  std::printf("\n");
  if (!o.problem.empty()) return bench_problem(b, o, precision);
  std::ofstream csv(o.out, std::ios::app);
  std::map<std::string, double> sums;
  for (const LayerRow& layer : resnet50_layers()) {
    if (std::string(layer.name).find(o.layer) == std::string::npos) continue;
    auto status = bench_layer(b, o, layer, precision, csv, sums);
    if (!status.ok()) std::printf("%s: %s\n", layer.name, status.error().message.c_str());
  }
  DeviceState state = b.gpu.device->measurer()->state();
  std::printf("sum over layers:");
  for (const auto& [source, us] : sums) std::printf(" %s %.1f us", source.c_str(), us);
  std::printf("; clock %.0f MHz, %.0f C, %.0f W, throttle %llx\n", state.clock_mhz,
              state.temperature_c, state.power_w,
              static_cast<unsigned long long>(state.throttle_bits));
  return {};
}

}  // namespace
}  // namespace enginery

int main(int argc, char** argv) {
  enginery::Options o;
  CLI::App app{"Times every tactic of ResNet-50's layers on the GPU"};
  app.add_option("--batch", o.batch);
  app.add_option("--samples", o.samples);
  app.add_option("--precision", o.precision);
  app.add_option("--out", o.out);
  app.add_option("--layer", o.layer);
  app.add_option("--without", o.without);
  app.add_option("--problem", o.problem);
  app.add_flag("--every", o.every);
  CLI11_PARSE(app, argc, argv);
  return enginery::exit_status(enginery::run(o));
}
