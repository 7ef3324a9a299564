// How steady the tuner's instrument is on this GPU: the closest tactics of a few problems against
// each other, in several fixtures (each with memory of its own) and again and again over time. The
// ratios' spread over fixtures and over time says what a tie must be.
//
//   steadiness_bench --out steadiness.csv [--labs 6] [--visits 20] [--rounds 8] [--pause-ms 100]
//
// Columns: problem, lab, visit, seconds, tactic, median_us, guard_us.
#include <CLI/CLI.hpp>
#include <chrono>
#include <fstream>
#include <thread>

#include "engine/base/statistics.h"
#include "engine/plan/network.h"
#include "tests/bench/gpu/gpu.h"
#include "tests/support/gpu_sources.h"
#include "tests/support/problem_text.h"
#include "tuner/measurement_fixture.h"

namespace enginery {
namespace {

struct Options {
  int labs = 6, visits = 20, rounds = 8, pause_ms = 100;
  std::string out = "steadiness.csv";
};

const char* const kProblems[] = {
    "conv strides=[1,1] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] | float32[1x512x28x28] "
    "w:float32[256x512x1x1] w:float32[256] | act kind=relu",
    "conv strides=[1,1] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1] | float32[1x32x28x28] "
    "w:float32[128x32x3x3] w:float32[128] | act kind=relu",
    "conv strides=[1,1] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] | float32[1x128x56x56] "
    "w:float32[16x128x1x1] w:float32[16] | act kind=relu",
};

struct Bench {
  Gpu gpu;
  std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
};

struct Station {
  std::unique_ptr<MeasurementFixture> fixture;
  std::vector<Candidate> candidates;
};

Result<Station> make_station(Bench& b, const Problem& problem, const std::vector<Tactic>& tactics) {
  Station out;
  TRY(out.fixture, MeasurementFixture::make(problem, *b.gpu.device, 1));
  for (const Tactic& t : tactics) {
    TRY(PreparedCandidate prepared, out.fixture->prepare(*find_source(b.gpu.sources, t.source), t));
    TRY(out.candidates.emplace_back(), out.fixture->candidate(prepared));
  }
  return out;
}

Result<std::vector<std::vector<double>>> sample(const std::vector<Candidate>& candidates,
                                                int rounds) {
  std::vector<std::vector<double>> out(candidates.size());
  for (int r = 0; r < rounds; ++r) {
    for (size_t i = 0; i < candidates.size(); ++i) {
      TRY(double us, candidates[i].time_us());
      out[i].push_back(us);
    }
  }
  return out;
}

// The five fastest half-precision ones over channels-last tensors.
Result<std::vector<Tactic>> closest(Bench& b, const Problem& problem) {
  TRY(std::vector<Tactic> found, offer_all(b.gpu.sources, problem, {Precision::fp16}));
  std::erase_if(found, [](const Tactic& t) {
    return t.trust == Trust::reference ||
           tactic_key(t).find("(float16:nhwc->float16:nhwc)") == std::string::npos;
  });
  for (const auto& source : b.gpu.sources) {
    std::vector<Tactic> own;
    std::copy_if(found.begin(), found.end(), std::back_inserter(own),
                 [&](const Tactic& t) { return t.source == source->name(); });
    compile_in_parallel(*source, problem, own);
  }
  std::vector<std::pair<double, Tactic>> timed;
  for (const Tactic& t : found) {
    auto station = make_station(b, problem, {t});
    if (!station.ok()) continue;
    auto samples = sample(station->candidates, 5);
    if (samples.ok()) timed.emplace_back(median((*samples)[0]), t);
  }
  std::sort(timed.begin(), timed.end(),
            [](const auto& a, const auto& c) { return a.first < c.first; });
  std::vector<Tactic> out;
  for (size_t i = 0; i < timed.size() && i < 5; ++i) out.push_back(timed[i].second);
  return out;
}

Status watch(Bench& b, const Options& o, int number, std::ofstream& csv) {
  TRY(Problem problem, parse_problem(kProblems[number]));
  TRY(std::vector<Tactic> tactics, closest(b, problem));
  TRY(Problem probe_problem,
      parse_problem("conv strides=[1,1] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1] | "
                    "float32[1x64x28x28] w:float32[64x64x3x3]"));
  TRY(std::vector<Tactic> probes, offer_all(b.gpu.sources, probe_problem, {Precision::fp32}));
  probes.resize(1);
  TRY(Station probe, make_station(b, probe_problem, probes));
  std::vector<Station> stations;
  std::vector<DeviceMemory> between;  // so that no two fixtures lie alike
  for (int i = 0; i < o.labs; ++i) {
    TRY(stations.emplace_back(), make_station(b, problem, tactics));
    TRY(between.emplace_back(),
        b.gpu.device->allocate((static_cast<size_t>(i) * 7919 + 100) << 10));
  }
  for (int visit = 0; visit < o.visits; ++visit) {
    for (size_t s = 0; s < stations.size(); ++s) {
      TRY(auto before, sample(probe.candidates, 3));
      const double seconds = b.seconds();
      TRY(auto samples, sample(stations[s].candidates, o.rounds));
      for (size_t i = 0; i < tactics.size(); ++i) {
        csv << number << "," << s << "," << visit << "," << seconds << ",\""
            << tactic_key(tactics[i]) << "\"," << median(samples[i]) << "," << median(before[0])
            << "\n";
      }
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(o.pause_ms));
  }
  return {};
}

Status run(const Options& o) {
  Bench b;
  TRY(b.gpu, open_gpu({}));
  std::ofstream csv(o.out);
  csv << "problem,lab,visit,seconds,tactic,median_us,guard_us\n";
  for (int p = 0; p < static_cast<int>(std::size(kProblems)); ++p) CHECK_OK(watch(b, o, p, csv));
  return {};
}

}  // namespace
}  // namespace enginery

int main(int argc, char** argv) {
  enginery::Options o;
  CLI::App app{"How steady the tuner's instrument is on this GPU"};
  app.add_option("--out", o.out);
  app.add_option("--labs", o.labs);
  app.add_option("--visits", o.visits);
  app.add_option("--rounds", o.rounds);
  app.add_option("--pause-ms", o.pause_ms);
  CLI11_PARSE(app, argc, argv);
  return enginery::exit_status(enginery::run(o));
}
