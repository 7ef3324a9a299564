#include "cli/options/build_flags.h"

#include <algorithm>
#include <cctype>

#include "cli/output/text.h"
#include "engine/base/did_you_mean.h"
#include "engine/base/parallel.h"
#include "engine/tactics/tactic.h"

namespace enginery {
namespace {

Error later(const std::string& what) {
  return {ErrorCode::unsupported, what + " is not supported by this release"};
}

// trtexec writes CUDNN and CUBLAS_LT.
std::string source_name(std::string word) {
  std::erase(word, '_');
  for (char& c : word) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return word;
}

// --tactic-sources=-cudnn,-cublaslt excludes these; a later +X takes X back.
Result<std::set<std::string>> excluded_sources(const std::vector<std::string>& words) {
  const std::vector<std::string> known = tactic_source_names();
  std::set<std::string> without;
  for (const std::string& word : words) {
    const std::string name = source_name(word.substr(1));
    const bool sign = word.starts_with("-") || word.starts_with("+");
    const bool is_known = std::find(known.begin(), known.end(), name) != known.end();
    if (!sign || !is_known) {
      return Error{ErrorCode::usage, "--tactic-sources takes +NAME or -NAME of " +
                                         joined(known, ", ") + ", not '" + word + "'"};
    }
    if (word[0] == '-') without.insert(name);
    if (word[0] == '+') without.erase(name);
  }
  return without;
}

// The one fixed shape that --shapes or a range of equal ends says; "" for none.
Result<std::string> fixed_shapes(const BuildFlags& flags) {
  std::string fixed = flags.shapes;
  for (const std::string& one : {flags.opt_shapes, flags.min_shapes, flags.max_shapes}) {
    if (one.empty()) continue;
    if (!fixed.empty() && fixed != one)
      return later("a range of shapes (--min-shapes, --opt-shapes and --max-shapes that differ)");
    fixed = one;
  }
  return fixed;
}

Status check_supported(const BuildFlags& flags) {
  if (!flags.profiling_verbosity.empty() && flags.profiling_verbosity != "detailed")
    return later("--profiling-verbosity other than detailed");
  return {};
}

// A build reads its data twice: for their digest, and in the process that collects.
Status refuse_stdin(const std::string& option, const std::vector<std::string>& data) {
  const auto is_stdin = [](const std::string& word) { return word == "-" || word.ends_with("=-"); };
  if (std::ranges::none_of(data, is_stdin)) return {};
  return Error{ErrorCode::usage,
               option +
                   " -: calibrate alone reads data from stdin (calibrate MODEL --data - "
                   "--histograms FILE, then --calib FILE); name a file here"};
}

Status check_calibration(const BuildFlags& flags, const BuildOptions& options) {
  const bool from_file = !flags.calib.empty(), from_data = !flags.calib_data.empty();
  const std::string first = from_file ? "--calib" : "--calib-data";
  CHECK_OK(refuse_stdin("--calib-data", flags.calib_data));
  if (from_file && from_data)
    return Error{ErrorCode::usage, "--calib and --calib-data: scales come from one of them"};
  if ((from_file || from_data) && !options.precisions.contains(Precision::int8))
    return Error{ErrorCode::usage, first + " is for int8: allow it with --precision int8"};
  if (!from_file && !from_data && !flags.calibrator.empty())
    return Error{ErrorCode::usage,
                 "--calibrator is applied to histograms: give --calib or --calib-data"};
  if (!from_data && flags.calib_images)
    return Error{ErrorCode::usage, "--calib-images chooses from --calib-data, which is missing"};
  if (!from_data && flags.bias_correction)
    return Error{ErrorCode::usage,
                 "--bias-correction keeps means of --calib-data, which is missing; histograms of "
                 "calibrate --bias-correction have theirs, and --calib corrects by them"};
  return {};
}

Status check_accuracy(const BuildFlags& flags) {
  CHECK_OK(refuse_stdin("--accuracy-data", flags.accuracy_data));
  if (!flags.accuracy_data.empty()) return {};
  if (!flags.max_accuracy_drop.empty())
    return Error{ErrorCode::usage,
                 "--max-accuracy-drop is measured on --accuracy-data, which is missing"};
  if (flags.accuracy_images)
    return Error{ErrorCode::usage,
                 "--accuracy-images chooses from --accuracy-data, which is missing"};
  if (!flags.accuracy_labels.empty())
    return Error{ErrorCode::usage,
                 "--accuracy-labels are those of --accuracy-data, which is missing"};
  return {};
}

void declare_calibration(Options& options, BuildFlags& flags) {
  options.text("--calib", flags.calib, "FILE",
               "with --precision int8: a calibration table, or histograms (enginery calibrate); "
               "the engine computes in int8 where measuring shows that it is faster");
  options.text("--calibrator", flags.calibrator, "NAME",
               "what makes scales of --calib's histograms: mse (default), entropy, entropy2, "
               "minmax, percentile or legacy");
  options.texts("--calib-data", flags.calib_data, "[NAME=]PATH",
                "calibrate first, on a folder of images, JPEG, PNG, .npy or .npz; what was seen is "
                "kept in the catalog, so that the next build runs no data; repeatable");
  options.number("--calib-images", flags.calib_images, {1, INT64_MAX}, "N",
                 "take at most N rows of --calib-data (default: all)");
  options.flag("--bias-correction", flags.bias_correction,
               "with --calib-data: correct biases for the rounding of weights, by the means of "
               "channels over that data");
}

}  // namespace

Result<std::set<Precision>> allowed_precisions(const std::vector<std::string>& words) {
  std::set<Precision> all{Precision::fp32};
  for (const std::string& word : words) {
    if (word == "best") {
      all.insert({Precision::tf32, Precision::fp16, Precision::bf16});
      continue;
    }
    const auto precision = parse_precision(word);
    if (!precision.ok()) {
      return Error{ErrorCode::usage,
                   "--precision: '" + word + "' is none of fp32, tf32, fp16, bf16, int8, best" +
                       did_you_mean(word, {"fp32", "tf32", "fp16", "bf16", "int8", "best"})};
    }
    all.insert(*precision);
  }
  return all;
}

void BuildFlags::declare(Options& options) {
  options.list("--precision", precisions, "LIST",
               "arithmetic to allow in addition to fp32: tf32, fp16, bf16, or best for all of "
               "them, and int8 (see --calib); the fastest wins layer by layer");
  options.list("--layer-precisions", layer_precisions, "NAME:P,...",
               "layers that compute in fp32 or in P and in nothing else: conv1:fp32,head/*:fp16; "
               "@first and @last are the products that no other one is before or behind; a name "
               "goes before patterns, the last pattern before others");
  options.text("--shapes", shapes, "NAME:DIMS,...",
               "the inputs' dimensions, e.g. data:1x3x224x224; without it symbolic ones become 1");
  options.text("--min-shapes", min_shapes, "NAME:DIMS,...",
               "smallest dimensions of a range; so far all three must be equal");
  options.text("--opt-shapes", opt_shapes, "NAME:DIMS,...", "the dimensions to tune for");
  options.text("--max-shapes", max_shapes, "NAME:DIMS,...", "largest dimensions of a range");
  options.number("--threads", threads, {1, 4096}, "N",
                 "CPU threads of one inference (default: the cores of the affinity mask)");
  options.number("--level", level, {0, 5}, "0..5",
                 "how hard to search: 0 measures nothing, 3 is the default, 5 is exhaustive");
  options.number("--max-aux-streams", max_aux_streams, {0, kMaxAuxStreams}, "N",
                 "most streams that run branches in parallel with the main one (default: as many "
                 "as make the network faster)");
  options.list("--tactic-sources", tactic_sources, "=+X,-Y",
               "exclude libraries, e.g. --tactic-sources=-cudnn,-cublaslt");
  options.list("--skip-pass", skip_passes, "LIST", "graph passes to skip");
  options.list("--limit", limits, "NAME=VALUE,...",
               "what the build may cost: value_mib (of one value), arena_mib (of all that live at "
               "the same time), folded_mib and folded_gflop (of constants made at build time)");
  declare_calibration(options, *this);
  options.texts("--accuracy-data", accuracy_data, "[NAME=]PATH",
                "hold each engine against the model in float on this data before it is signed, and "
                "say how near it comes; repeatable");
  options.number("--accuracy-images", accuracy_images, {1, INT64_MAX}, "N",
                 "take at most N rows of --accuracy-data (default: all)");
  options.text("--accuracy-labels", accuracy_labels, "FILE",
               "the classes of --accuracy-data's rows, in lines NAME,CLASS: top-1 is counted, too");
  options.text("--max-accuracy-drop", max_accuracy_drop, "PERCENT",
               "sign no engine that loses more: rows that get another first class than in float; "
               "with --accuracy-labels what top-1 loses; of outputs without classes the error's "
               "share. Layers that a calibration makes lose most stay in float");
  options.text("--preprocess", preprocess, "FILE",
               "TOML file that says how images become the input");
  options.list("--mem-pool-size", mem_pool_size, "workspace:SIZE",
               "the most scratch memory that a layer's tactic may take, in MiB or with a unit (B, "
               "K, M, G): workspace:64, workspace:0.5G; tactics that need more are left out, and a "
               "layer that has no other runs by the slow "
               "reference");
  options.text("--profiling-verbosity", profiling_verbosity, "WORD",
               "detailed is the only choice: engines always keep everything");
}

Result<BuildOptions> BuildFlags::resolve() const {
  BuildOptions options;
  TRY(options.precisions, allowed_precisions(precisions));
  TRY(options.layer_precisions, parse_layer_precisions(joined(layer_precisions, ",")));
  TRY(options.without_sources, excluded_sources(tactic_sources));
  options.skip_passes = {skip_passes.begin(), skip_passes.end()};
  options.threads = static_cast<int>(threads.value_or(allowed_core_count()));
  options.level = static_cast<int>(level.value_or(options.level));
  options.aux_streams = static_cast<int>(max_aux_streams.value_or(options.aux_streams));
  CHECK_OK(check_supported(*this));
  CHECK_OK(check_calibration(*this, options));
  CHECK_OK(check_accuracy(*this));
  if (!max_accuracy_drop.empty()) {
    auto drop = accuracy_drop_text(max_accuracy_drop);
    if (!drop.ok()) return drop.error().within("--max-accuracy-drop");
    options.max_accuracy_drop = std::move(*drop);
  }
  TRY(options.limits, parse_limits(joined(limits, ",")));
  auto pools = parse_memory_pools(joined(mem_pool_size, ","));
  if (!pools.ok()) return pools.error().within("--mem-pool-size");
  options.memory_pools = *pools;
  TRY(const std::string shapes_text, fixed_shapes(*this));
  TRY(options.shapes, parse_shapes(shapes_text));
  return options;
}

std::string engine_name(const std::string& wanted, const std::filesystem::path& file) {
  const std::string name = wanted.empty() ? file.stem().string() : wanted;
  return name.empty() ? "model" : with_safe_characters(name, "._-+");
}

}  // namespace enginery
