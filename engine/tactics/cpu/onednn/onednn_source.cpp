#include "engine/tactics/cpu/onednn/onednn_source.h"

#include <algorithm>
#include <set>

#include "engine/device/cpu/cpu_device.h"
#include "engine/tactics/cpu/onednn/prepared_primitive.h"

namespace enginery {
namespace onednn {
namespace {

Recipes recipes_of(const Library& library, const Problem& p) {
  for (const auto* descs : {&p.inputs, &p.outputs}) {
    for (const TensorDesc& desc : *descs) {
      if (desc.present && !is_static(desc.type.dims))
        return unsupported(to_string(desc.type) + " has run-time sizes");
      if (desc.present && volume(desc.type.dims) == 0) return unsupported("an empty tensor");
    }
  }
  if (is_reformat(p)) return reformat_recipes(library, p);
  if (std::holds_alternative<Convolution>(p.op)) return convolution_recipes(library, p);
  if (std::holds_alternative<Deconvolution>(p.op)) return deconvolution_recipes(library, p);
  if (std::holds_alternative<Gemm>(p.op)) return gemm_recipes(library, p);
  if (std::holds_alternative<MatMul>(p.op)) return matmul_recipes(library, p);
  if (std::holds_alternative<Pooling>(p.op)) return pooling_recipes(library, p);
  if (std::holds_alternative<GlobalPooling>(p.op)) return global_pooling_recipes(library, p);
  if (std::holds_alternative<Softmax>(p.op)) return softmax_recipes(library, p);
  if (std::holds_alternative<Lrn>(p.op)) return lrn_recipes(library, p);
  if (std::holds_alternative<BatchNorm>(p.op)) return batch_norm_recipes(library, p);
  if (std::holds_alternative<Activation>(p.op)) return activation_recipes(library, p);
  if (std::holds_alternative<Binary>(p.op)) return binary_recipes(library, p);
  return unsupported(std::string(op_name(p.op)) + " is not one of its operators");
}

// The library's own last resort: a thousand times slower than its others.
bool is_library_reference(const std::string& name) {
  return name.starts_with("ref");
}

// How wide the vectors are that an implementation's name speaks of; 0 where it names no instruction
// set.
int named_width(const std::string& name) {
  if (name.find("avx512") != std::string::npos) return 3;
  if (name.find("avx2") != std::string::npos) return 2;
  if (name.find(":avx") != std::string::npos) return 1;
  return 0;
}

bool is_gemm(const std::string& name) {
  return name.find("gemm") != std::string::npos;
}

// A recipe's implementations worth measuring: no repeats (the library lists entries again once
// primitives are cached), not its reference, no narrower vectors than its widest, and gemm on
// channels-last only where nothing else is.
std::vector<Implementation> distinct_implementations(const Recipe& recipe) {
  std::vector<Implementation> all = recipe.implementations(), out;
  int widest = 0;
  for (const Implementation& i : all) widest = std::max(widest, named_width(i.name));
  bool last = !recipe.outputs.empty() && recipe.outputs[0].layout.kind == LayoutKind::channels_last;
  std::set<std::string> seen;
  for (Implementation& i : all) {
    bool avoided = !recipe.avoid.empty() && i.name.find(recipe.avoid) != std::string::npos;
    bool narrow = named_width(i.name) < widest &&
                  (named_width(i.name) > 0 || i.name.find("sse41") != std::string::npos);
    bool spare = is_gemm(i.name) && last && widest > 0;
    if (avoided || narrow || spare || is_library_reference(i.name)) continue;
    if (seen.insert(i.name).second) out.push_back(std::move(i));
  }
  return out;
}

// Nominal rates: they order candidates, nothing more.
double gigaflops_of(const Library& library) {
  double one = library.isa >= CpuIsa::avx512 ? 120
               : library.isa >= CpuIsa::avx2 ? 70
               : library.isa >= CpuIsa::avx  ? 35
                                             : 18;
  return one * library.threads;
}

double estimate_us(const Library& library, const Problem& p, const Recipe& recipe,
                   const std::string& name) {
  constexpr double kLaunch_us = 2, kGigabytesPerSecond = 20;
  double efficiency = is_gemm(name) ? 0.6 : 1;
  if (recipe.outputs[0].layout.kind == LayoutKind::linear &&
      std::holds_alternative<Convolution>(p.op))
    efficiency *= 0.7;
  double compute = flop_count(p) / (gigaflops_of(library) * 1e3 * efficiency * recipe.speedup);
  double memory = least_bytes(p) / (kGigabytesPerSecond * 1e3);
  return kLaunch_us + std::max(compute, memory);
}

class OnednnSource final : public TacticSource {
 public:
  explicit OnednnSource(std::shared_ptr<const Library> library) : library_(std::move(library)) {}
  SourceTraits traits() const override { return {.name = "onednn", .trust = Trust::may_be_wrong}; }

  Result<std::vector<Tactic>> offer(const Problem& problem,
                                    const std::set<Precision>& allowed) const override {
    if (!allowed.contains(Precision::fp32)) return unsupported("only float32 arithmetic so far");
    ThreadCountScope threads(library_->threads);
    auto offered = guarded(std::string(op_name(problem.op)), [&]() -> Result<std::vector<Tactic>> {
      TRY(auto recipes, recipes_of(*library_, problem));
      std::vector<Tactic> tactics;
      for (const Recipe& recipe : recipes) {
        for (const Implementation& i : distinct_implementations(recipe))
          tactics.push_back(tactic_of(problem, recipe, i));
      }
      if (tactics.empty()) return unsupported("no implementation but its reference");
      std::stable_sort(tactics.begin(), tactics.end(), [](const Tactic& a, const Tactic& b) {
        return a.estimated_us < b.estimated_us;
      });
      return tactics;
    });
    // A description that the library refuses is one more thing that it cannot run.
    bool refused = !offered.ok() && offered.error().code == ErrorCode::internal;
    return refused ? unsupported(offered.error().message) : offered;
  }

  Result<std::shared_ptr<const PreparedTactic>> prepare(const Problem& problem,
                                                        const Tactic& tactic,
                                                        Weights weights) const override {
    using Prepared = Result<std::shared_ptr<const PreparedTactic>>;
    ThreadCountScope threads(library_->threads);
    return guarded("prepare " + tactic_key(tactic), [&]() -> Prepared {
      TRY(auto recipes, recipes_of(*library_, problem));
      for (const Recipe& recipe : recipes) {
        if (recipe.inputs != tactic.inputs || recipe.outputs != tactic.outputs) continue;
        for (const Implementation& i : distinct_implementations(recipe)) {
          if (recipe.prefix + i.name == tactic.id)
            return prepare_primitive(library_, recipe, i, weights);
        }
      }
      return Error{ErrorCode::incompatible, "prepare " + tactic_key(tactic) + ": oneDNN " +
                                                library_->version +
                                                " no longer offers this implementation"};
    });
  }

 private:
  Tactic tactic_of(const Problem& problem, const Recipe& recipe,
                   const Implementation& implementation) const {
    Tactic tactic;
    tactic.source = name();
    tactic.id = recipe.prefix + implementation.name;
    tactic.inputs = recipe.inputs;
    tactic.outputs = recipe.outputs;
    tactic.workspace_bytes =
        static_cast<int64_t>(implementation.descriptor.scratchpad_desc().get_size());
    tactic.in_place_operand = recipe.in_place_operand;
    tactic.estimated_us = estimate_us(*library_, problem, recipe, implementation.name);
    return tactic;
  }

  const std::shared_ptr<const Library> library_;
};

}  // namespace
}  // namespace onednn

Result<std::unique_ptr<TacticSource>> make_onednn_source(const DeviceInfo& info) {
  TRY(auto library, onednn::open_library(cpu_isa_of(info), info.threads));
  return std::unique_ptr<TacticSource>(std::make_unique<onednn::OnednnSource>(std::move(library)));
}

}  // namespace enginery
