#include "engine/tactics/cpu/onednn/onednn_source.h"

#include <algorithm>
#include <optional>
#include <set>

#include "engine/device/cpu/cpu_device.h"
#include "engine/tactics/cpu/onednn/prepared_primitive.h"
#include "engine/tactics/shapes/quantized_product.h"

namespace enginery {
namespace {

// One kind of problem that the library serves.
struct OnednnFamily {
  std::string_view name;
  bool (*serves)(const Problem&);
  OnednnRecipes (*offer)(const OnednnLibrary&, const Problem&);
};

// THE list. The first row that serves offers, so reformats (an Identity with formats) come first.
constexpr OnednnFamily kOnednnFamilies[] = {
    {"reformat", is_reformat, reformat_recipes},
    {"convolution", is_one_of<Convolution>, convolution_recipes},
    {"deconvolution", is_one_of<Deconvolution>, deconvolution_recipes},
    {"gemm", is_one_of<Gemm>, gemm_recipes},
    {"matmul", is_one_of<MatMul>, matmul_recipes},
    {"pooling", is_one_of<Pooling>, pooling_recipes},
    {"global_pooling", is_one_of<GlobalPooling>, global_pooling_recipes},
    {"softmax", is_one_of<Softmax>, softmax_recipes},
    {"lrn", is_one_of<Lrn>, lrn_recipes},
    {"batch_norm", is_one_of<BatchNorm>, batch_norm_recipes},
    {"activation", is_one_of<Activation>, activation_recipes},
    {"binary", is_one_of<Binary>, binary_recipes},
};

// Operators in which a NaN gets lost, because the library's maximum and minimum ignore it: a
// softmax makes probabilities of it. Our kernels serve the same problems in the same layouts. It is
// lost in activations with bounds that are fused into another primitive, too, and in max pooling of
// three dimensions: there it would cost a pass over memory, or the reference.
bool loses_nan(const Problem& p) {
  if (const auto* activation = std::get_if<Activation>(&p.op))
    return activation->kind == ActivationKind::relu || activation->kind == ActivationKind::clip;
  if (const auto* binary = std::get_if<Binary>(&p.op))
    return binary->kind == BinaryKind::min || binary->kind == BinaryKind::max;
  if (const auto* pool = std::get_if<GlobalPooling>(&p.op)) return pool->kind == PoolKind::max;
  if (const auto* pool = std::get_if<Pooling>(&p.op))
    return pool->kind == PoolKind::max && pool->kernel.size() <= 2;
  return std::holds_alternative<Softmax>(p.op);
}

// `weights`: none when tactics are offered.
OnednnRecipes recipes_of(const OnednnLibrary& library, const Problem& p, Weights weights) {
  if (is_region(p)) return quantized_recipes(library, p, weights);
  const Status sizes = require_elements(p);
  if (!sizes.ok()) return no_primitive(sizes.error().message);
  const auto* family =
      std::ranges::find_if(kOnednnFamilies, [&](const auto& f) { return f.serves(p); });
  if (family == std::end(kOnednnFamilies))
    return no_primitive(std::string(op_name(p.op)) + " is not one of its operators");
  if (loses_nan(p)) return no_primitive(std::string(op_name(p.op)) + " would lose a NaN");
  OnednnRecipes recipes = family->offer(library, p);
  if (!recipes.ok()) return recipes;
  // A constant has no address at run time; recipes that do not pack it cannot serve it.
  std::erase_if(*recipes, [&](const OnednnRecipe& recipe) {
    return std::ranges::any_of(recipe.arguments, [&](const RuntimeArgument& a) {
      return !a.output && (p.inputs[a.index].constant || p.inputs[a.index].value);
    });
  });
  if (recipes->empty()) return no_primitive("a constant where it reads run-time data");
  return recipes;
}

// The library's own last resort: a thousand times slower than its others.
bool is_library_reference(const std::string& name) {
  return name.starts_with("ref");
}

// How wide the vectors are that an implementation's name speaks of; 0 where it names no instruction
// set. Tiles count as wider ones: without them bfloat16 takes three times as long.
int named_width(const std::string& name) {
  if (name.find("amx_bf16") != std::string::npos) return 4;
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
std::vector<OnednnImplementation> distinct_implementations(const OnednnRecipe& recipe) {
  std::vector<OnednnImplementation> all = recipe.implementations({}), out;
  int widest = 0;
  for (const OnednnImplementation& i : all) widest = std::max(widest, named_width(i.name));
  bool last = !recipe.outputs.empty() && recipe.outputs[0].layout.kind == LayoutKind::channels_last;
  std::set<std::string> seen;
  for (OnednnImplementation& i : all) {
    bool avoided = !recipe.avoid.empty() && i.name.find(recipe.avoid) != std::string::npos;
    bool narrow = named_width(i.name) < widest &&
                  (named_width(i.name) > 0 || i.name.find("sse41") != std::string::npos);
    bool spare = is_gemm(i.name) && last && widest > 0;
    if (avoided || narrow || spare || is_library_reference(i.name)) continue;
    if (seen.insert(i.name).second) out.push_back(std::move(i));
  }
  return out;
}

// The recipe's implementation that a tactic's id names; none where it has no such one, or never
// offers it.
std::optional<OnednnImplementation> implementation_of(const OnednnRecipe& recipe,
                                                      std::string_view id) {
  if (!id.starts_with(recipe.prefix)) return {};
  const std::string name(id.substr(recipe.prefix.size()));
  if (is_library_reference(name)) return {};
  if (!recipe.avoid.empty() && name.find(recipe.avoid) != std::string::npos) return {};
  std::vector<OnednnImplementation> listed = recipe.implementations(name);
  if (listed.empty() || listed.back().name != name) return {};
  return std::move(listed.back());
}

// Nominal rates: they order candidates, nothing more.
double gigaflops_of(const OnednnLibrary& library) {
  double one = library.isa >= CpuIsa::avx512 ? 120
               : library.isa >= CpuIsa::avx2 ? 70
               : library.isa >= CpuIsa::avx  ? 35
                                             : 18;
  return one * library.threads;
}

double estimate_us(const OnednnLibrary& library, const Problem& p, const OnednnRecipe& recipe,
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
  explicit OnednnSource(std::shared_ptr<const OnednnLibrary> library)
      : library_(std::move(library)) {}
  SourceTraits traits() const override {
    return {.name = "onednn", .trust = Trust::may_fault, .takes_regions = true};
  }
  std::vector<RegionPattern> regions() const override {
    std::vector<RegionPattern> out = quantized_patterns();
    for (const auto operands :
         {RegionPattern::Operands::dequantized, RegionPattern::Operands::in_float}) {
      std::ranges::move(quantized_patterns_with_addend(operands), std::back_inserter(out));
    }
    return out;
  }

  Result<std::vector<Tactic>> offer(const Problem& problem,
                                    const std::set<Precision>& allowed) const override {
    if (!allowed.contains(Precision::fp32)) return no_primitive("nothing without float32");
    ThreadCountScope threads(library_->threads);
    auto offered =
        dnnl_guarded(std::string(op_name(problem.op)), [&]() -> Result<std::vector<Tactic>> {
          TRY(auto recipes, recipes_of(*library_, problem, {}));
          std::vector<Tactic> tactics;
          for (const OnednnRecipe& recipe : recipes) {
            if (!allowed.contains(recipe.compute)) continue;
            for (const OnednnImplementation& i : distinct_implementations(recipe))
              tactics.push_back(tactic_of(problem, recipe, i));
          }
          if (tactics.empty()) return no_primitive("no implementation but its reference");
          std::stable_sort(tactics.begin(), tactics.end(), [](const Tactic& a, const Tactic& b) {
            return a.estimated_us < b.estimated_us;
          });
          return tactics;
        });
    // A description that the library refuses is one more thing that it cannot run.
    bool refused = !offered.ok() && offered.error().code == ErrorCode::internal;
    return refused ? no_primitive(offered.error().message) : offered;
  }

  Result<std::shared_ptr<const PreparedTactic>> prepare(const Problem& problem,
                                                        const Tactic& tactic,
                                                        Weights weights) const override {
    using Prepared = Result<std::shared_ptr<const PreparedTactic>>;
    ThreadCountScope threads(library_->threads);
    return dnnl_guarded("prepare " + tactic_key(tactic), [&]() -> Prepared {
      TRY(auto recipes, recipes_of(*library_, problem, weights));
      for (const OnednnRecipe& recipe : recipes) {
        if (recipe.inputs != tactic.inputs || recipe.outputs != tactic.outputs) continue;
        if (const auto found = implementation_of(recipe, tactic.id))
          return prepare_primitive(library_, recipe, *found, weights);
      }
      return Error{ErrorCode::incompatible, "prepare " + tactic_key(tactic) + ": oneDNN " +
                                                library_->version +
                                                " no longer offers this implementation"};
    });
  }

 private:
  Tactic tactic_of(const Problem& problem, const OnednnRecipe& recipe,
                   const OnednnImplementation& implementation) const {
    Tactic tactic;
    tactic.source = name();
    tactic.id = recipe.prefix + implementation.name;
    tactic.inputs = recipe.inputs;
    tactic.outputs = recipe.outputs;
    tactic.workspace_bytes =
        static_cast<int64_t>(implementation.descriptor.scratchpad_desc().get_size());
    tactic.in_place_operand = recipe.in_place_operand;
    tactic.algorithm = recipe.algorithm;
    tactic.compute = recipe.compute;
    tactic.estimated_us = estimate_us(*library_, problem, recipe, implementation.name);
    return tactic;
  }

  const std::shared_ptr<const OnednnLibrary> library_;
};

}  // namespace

Result<std::unique_ptr<TacticSource>> make_onednn_source(const DeviceInfo& info) {
  TRY(auto library, open_library(cpu_isa_of(info), info.threads));
  return std::unique_ptr<TacticSource>(std::make_unique<OnednnSource>(std::move(library)));
}

}  // namespace enginery
