// A build on this machine's GPU in which tactics for convolutions take their runner down: what
// deploy/gpu-suite's part `faults` runs.
//
//   gpu_faults hang|fault [PRECISION,...]
//
// The kernel source of the runner has one more family, whose kernel never ends (hang) or writes to
// no address (fault). The build must go on without it, and its timings must say why. Prints a line
// of what was blamed; exit status 0 where the engine was built and every planted tactic that was
// measured was rejected for the right reason. The same program is the runner (its verb `runner`).
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "engine/base/file.h"
#include "engine/options/options.h"
#include "engine/tactics/cuda/kernel/kernel_source.h"
#include "tests/worker/small_models.h"
#include "worker/local_farm.h"
#include "worker/steps/runner.h"
#include "worker/timing/timing_file.h"

namespace enginery {
namespace {

// Read by the runner: which of the two kernels it plants.
constexpr char kFaultVariable[] = "ENGINERY_TEST_FAULT";

// The arguments of the planted kernels: the output's address.
struct PlantedArgs {
  void* y;
};

constexpr char kHang[] = R"(
struct PlantedArgs { void* y; };
extern "C" __global__ void kernel(const PlantedArgs a) {
  volatile unsigned* word = static_cast<volatile unsigned*>(a.y);
  do { *word = 1; } while (*word == 1);
}
)";
constexpr char kFault[] = R"(
struct PlantedArgs { void* y; };
extern "C" __global__ void kernel(const PlantedArgs a) {
  *reinterpret_cast<volatile unsigned*>(16) = a.y != nullptr;
}
)";

bool hangs() {
  const char* wish = std::getenv(kFaultVariable);
  return wish && std::strcmp(wish, "hang") == 0;
}

// Looks a little better than the best of the others, so that it is among those that are measured.
Status offer_planted(const Problem& problem, const KernelContext&, std::vector<Tactic>& out) {
  if (!std::holds_alternative<Convolution>(problem.op) || out.empty())
    return refusal("convolutions only");
  double best = out[0].estimated_us;
  for (const Tactic& t : out) best = std::min(best, t.estimated_us);
  Tactic tactic = make_kernel_tactic(problem, "planted/one");
  tactic.estimated_us = 0.99 * best;
  out.push_back(std::move(tactic));
  return {};
}

Result<KernelPlan> plan_planted(const Problem&, const Tactic& tactic, const KernelContext&) {
  if (tactic.id != "planted/one") return no_variant(tactic);
  KernelPlan plan;
  plan.program.functions = hangs() ? kHang : kFault;
  KernelLaunch launch = launch_of(PlantedArgs{}, 1, 32);
  launch.slots = {{offsetof(PlantedArgs, y), PointerSource::output, 0}};
  plan.launches.push_back(std::move(launch));
  return plan;
}

Result<Target> open_with_faults(const std::string& sku, const BuildOptions& options) {
  TRY(Target target, open_target(sku, options));
  KernelSourceOptions with;
  with.more_families = {{"planted", offer_planted, plan_planted}};
  TRY(target.sources.at(0), make_kernel_source(static_cast<CudaDevice&>(*target.device), with));
  return target;
}

Result<std::string> gpu_sku() {
  for (const LocalSku& sku : local_skus()) {
    if (sku.kind == DeviceKind::cuda) return sku.name;
  }
  return Error{ErrorCode::unavailable, "find a GPU: this machine shows none"};
}

// Whether the timings blame every planted tactic for what it did, and nobody else for it.
Result<bool> blames_the_planted(const std::filesystem::path& timings) {
  TRY(const Bytes text, read_file(timings));
  TRY(const auto entries, parse_timings(text));
  const FailureKind wanted = hangs() ? FailureKind::timed_out : FailureKind::fault;
  int planted = 0, right = 0, lost_others = 0;
  std::string reason;
  for (const TimingEntryText& entry : entries) {
    const Timing& timing = entry.timing;
    if (timing.tactic.starts_with("kernel:planted/")) {
      ++planted;
      right += timing.failure_kind == wanted;
      reason = timing.failure;
    } else {
      lost_others += timing.failure_kind == FailureKind::timed_out ||
                     timing.failure_kind == FailureKind::fault;
    }
  }
  std::printf("%d planted, %d rejected as %s, %d others lost; \"%s\"\n", planted, right,
              std::string(to_string(wanted)).c_str(), lost_others, reason.c_str());
  return planted > 0 && right == planted && lost_others == 0;
}

Result<bool> build_among_faults(const std::string& program, const std::string& precisions) {
  const test::TemporaryFolder folder;
  LocalBuildRequest request;
  TRY(request.sku, gpu_sku());
  TRY(request.options.precisions, parse_precisions(precisions));
  request.options.level = 2;
  request.model = folder.path / "net.onnx";
  request.keys = folder.path / "keys";
  request.timing_cache = (folder.path / "timings.json").string();
  request.runner = {program, "runner"};
  request.max_trial = std::chrono::seconds(20);
  CHECK_OK(write_file(request.model, test::convolutions(2, 1)));
  TRY(const auto catalog, Catalog::open(folder.path / "catalog"));
  TRY(const LocalBuildReport report, build_local(*catalog, request));
  std::printf("built for %s, error %g of %g\n", report.sku.c_str(), report.error, report.bar);
  return blames_the_planted(request.timing_cache);
}

}  // namespace
}  // namespace enginery

int main(int argc, char** argv) {
  using namespace enginery;
  const std::string verb = argc > 1 ? argv[1] : "";
  if (verb == "runner") return run_runner({open_with_faults});
  if (verb != "hang" && verb != "fault") {
    std::fprintf(stderr, "usage: %s hang|fault [PRECISION,...]\n", argv[0]);
    return 2;
  }
  setenv(kFaultVariable, verb.c_str(), 1);
  const auto right = build_among_faults(argv[0], argc > 2 ? argv[2] : "fp32");
  if (!right.ok()) std::fprintf(stderr, "error: %s\n", right.error().message.c_str());
  return right.ok() && *right ? 0 : 1;
}
