// Compiles the conformance problems' kernels to PTX for one SM into a folder
// (engine/kernels/cuda/kernel_cache.h), for machines whose NVRTC no longer serves that SM. Needs no
// GPU.
//
//   compile_ptx --sm 61 --out FOLDER [--most N] [--only TEXT]
//
// N tactics a problem and family, by the analytic model; default 2. TEXT: only problems with that
// in their names.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>
#include <set>

#include "engine/base/file.h"
#include "engine/device/cuda/fingerprint.h"
#include "engine/kernels/cuda/kernel_cache.h"
#include "engine/tactics/cuda/kernel/kernel_source.h"
#include "tests/support/problem_list.h"
#include "tests/support/problem_text.h"
#include "tests/support/tactic_harness.h"

namespace enginery {
namespace {

Status run(int sm, const std::string& out, int most, const std::string& only) {
  TRY(Nvrtc nvrtc, Nvrtc::open(sm));
  SkuRow row;
  row.kind = DeviceKind::cuda, row.compute_capability = sm, row.sm_count = 132, row.memory_gib = 16;
  DeviceInfo info = device_info(row);
  KernelContext context{
      info, sm_limits(sm), {Precision::fp32, Precision::tf32, Precision::fp16, Precision::bf16}};
  KernelCacheFolder folder(out);
  CHECK_OK(make_folder(out));
  int count = 0;
  for (const ProblemRow& problem_row : conformance_rows()) {
    if (problem_row.name.find(only) == std::string::npos) continue;
    TRY(Problem problem, parse_problem(problem_row.text));
    auto tactics = offer_kernels(problem, context, true);
    if (!tactics.ok()) continue;
    const std::vector<Tactic> pitched = pitched_twins(problem, *tactics);
    tactics->insert(tactics->end(), pitched.begin(), pitched.end());
    std::map<std::string, int> taken;
    for (const Tactic& tactic : *tactics) {
      const std::string family = tactic.id.substr(0, tactic.id.find('/'));
      if (taken[family + (has_pitch(tactic.outputs[0])  ? " writes"
                          : has_pitch(tactic.inputs[0]) ? " reads"
                                                        : "")]++ >= most)
        continue;
      TRY(KernelPlan plan, plan_kernel(problem, tactic, context));
      if (plan.launches.empty()) continue;
      std::string text = program_text(plan.program);
      Digest key = kernel_cache_key(text, sm, CodeKind::ptx);
      if (folder.find(key)) continue;
      TRY(auto output, nvrtc.compile(text, sm, CodeKind::ptx, {}));
      folder.insert(key, output.code);
      ++count;
    }
  }
  std::printf("%d kernels for sm_%d with NVRTC %s\n", count, sm, nvrtc.version().c_str());
  return {};
}

}  // namespace
}  // namespace enginery

int main(int argc, char** argv) {
  int sm = 61, most = 2;
  std::string out = "ptx", only;
  CLI::App app{"Compiles kernels to PTX for one SM"};
  app.add_option("--sm", sm);
  app.add_option("--out", out);
  app.add_option("--most", most);
  app.add_option("--only", only);
  CLI11_PARSE(app, argc, argv);
  auto status = enginery::run(sm, out, most, only);
  if (!status.ok()) std::fprintf(stderr, "error: %s\n", status.error().message.c_str());
  return status.ok() ? 0 : 1;
}
