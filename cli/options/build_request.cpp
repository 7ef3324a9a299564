#include "cli/options/build_request.h"

#include <algorithm>
#include <cctype>

#include "cli/local/engine_session.h"
#include "cli/options/did_you_mean.h"
#include "engine/plan/streams.h"
#include "engine/tactics/tactic.h"
#include "tuner/tuner.h"

namespace enginery {
namespace {

Error later(const std::string& what) {
  return {ErrorCode::unsupported, what + " is not supported by this release"};
}

Result<std::set<Precision>> precisions_of(const std::vector<std::string>& words) {
  std::set<Precision> all{Precision::fp32};
  for (const std::string& word : words) {
    if (word == "best") {
      all.insert({Precision::tf32, Precision::fp16, Precision::bf16});
      continue;
    }
    const auto precision = parse_precision(word);
    if (!precision.ok()) {
      return Error{ErrorCode::usage,
                   "--precision: '" + word + "' is none of fp32, tf32, fp16, bf16, best" +
                       did_you_mean(word, {"fp32", "tf32", "fp16", "bf16", "best"})};
    }
    if (*precision == Precision::int8) return later("--precision int8 (it needs calibration)");
    all.insert(*precision);
  }
  return all;
}

// --tactic-sources=-cudnn,-cublaslt: those to leave out; +X takes one in again.
Result<std::set<std::string>> left_out(const std::vector<std::string>& words) {
  const std::vector<std::string> known = tactic_source_names();
  std::set<std::string> without;
  for (const std::string& word : words) {
    const std::string name = word.substr(1);
    const bool sign = word.starts_with("-") || word.starts_with("+");
    const bool is_known = std::find(known.begin(), known.end(), name) != known.end();
    if (!sign || !is_known) {
      std::string names;
      for (const std::string& known_name : known) names += (names.empty() ? "" : ", ") + known_name;
      return Error{ErrorCode::usage,
                   "--tactic-sources takes +NAME or -NAME of " + names + ", not '" + word + "'"};
    }
    if (word[0] == '-') without.insert(name);
    if (word[0] == '+') without.erase(name);
  }
  return without;
}

std::string plain_name(std::string name) {
  for (char& c : name) {
    const bool good = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_' ||
                      c == '-' || c == '+';
    if (!good) c = '_';
  }
  return name.empty() ? "model" : name;
}

}  // namespace

void BuildFlags::declare(Options& options) {
  options.list("--precision", precisions, "LIST",
               "arithmetic to allow beside fp32: tf32, fp16, bf16, or best for all; the fastest "
               "wins layer by layer");
  options.text("--shapes", shapes, "NAME:DIMS,...",
               "the inputs' dimensions, e.g. data:1x3x224x224; without it symbolic ones become 1");
  options.text("--min-shapes", min_shapes, "NAME:DIMS,...", "least dimensions of a range");
  options.text("--opt-shapes", opt_shapes, "NAME:DIMS,...", "the dimensions to tune for");
  options.text("--max-shapes", max_shapes, "NAME:DIMS,...", "greatest dimensions of a range");
  options.number("--threads", threads, {1, 4096}, "N",
                 "CPU threads of one inference (default: the cores of the affinity mask)");
  options.number("--level", level, {0, 5}, "0..5",
                 "how hard to search: 0 measures nothing, 3 is the default, 5 is exhaustive");
  options.number(
      "--max-aux-streams", max_aux_streams, {0, kMaxStreams - 1}, "N",
      "streams beside the main one for branches side by side, at most (default: where they win)");
  options.list("--tactic-sources", tactic_sources, "=+X,-Y",
               "leave libraries out, e.g. --tactic-sources=-cudnn,-cublaslt");
  options.list("--skip-pass", skip_passes, "LIST", "graph passes not to run");
  options.text("--calib", calib, "FILE", "calibration table for int8");
  options.text("--mem-pool-size", mem_pool_size, "POOL:BYTES", "memory limits");
  options.text("--profiling-verbosity", profiling_verbosity, "WORD",
               "detailed (what engines always keep)");
}

Result<BuildOptions> BuildFlags::settle() const {
  BuildOptions options;
  TRY(options.precisions, precisions_of(precisions));
  TRY(options.without_sources, left_out(tactic_sources));
  options.skip_passes = {skip_passes.begin(), skip_passes.end()};
  options.threads = static_cast<int>(threads.value_or(affinity_cores()));
  options.level = static_cast<int>(level.value_or(kDefaultLevel));
  options.aux_streams = static_cast<int>(max_aux_streams.value_or(-1));
  if (!calib.empty()) return later("--calib");
  if (!mem_pool_size.empty()) return later("--mem-pool-size");
  if (!profiling_verbosity.empty() && profiling_verbosity != "detailed")
    return later("--profiling-verbosity other than detailed");
  std::string fixed = shapes;
  for (const std::string& one : {opt_shapes, min_shapes, max_shapes}) {
    if (one.empty()) continue;
    if (!fixed.empty() && fixed != one)
      return later("a range of shapes (--min-shapes, --opt-shapes and --max-shapes that differ)");
    fixed = one;
  }
  TRY(options.shapes, parse_shapes(fixed));
  return options;
}

std::string engine_name(const std::string& wanted, const std::filesystem::path& file) {
  return plain_name(wanted.empty() ? file.stem().string() : wanted);
}

Result<PackedModel> pack_model_file(const std::string& file, const std::string& name) {
  const std::filesystem::path path = file == "-" ? "/dev/stdin" : file;
  PackedModel model;
  model.file = path.filename().string();
  model.name = engine_name(name, path);
  TRY(model.bytes, pack_model(path));
  model.digest = sha256(model.bytes);
  return model;
}

Result<LoadedModel> load_packed(const PackedModel& model, const BuildOptions& options,
                                Console& console) {
  TRY(LoadedModel loaded,
      load_model(ModelSource{model.file, model.bytes, {}}, model.name, options));
  for (const std::string& note : loaded.notes) console.note(note);
  return loaded;
}

}  // namespace enginery
