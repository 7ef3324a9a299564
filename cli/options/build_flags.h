// What a user asks of a build: the options that `build` and `submit` share.
//
// Where: a verb declares them into its Options; resolve() makes the BuildOptions that keys, wire
// and compiler know. Threads: as any value.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/options/options.h"
#include "engine/options/options.h"

namespace enginery {

// The options as given.
struct BuildFlags {
  std::vector<std::string> precisions, layer_precisions, tactic_sources, skip_passes, limits,
      mem_pool_size;
  std::vector<std::string> calib_data, accuracy_data;  // "[NAME=]PATH"
  std::string accuracy_labels, max_accuracy_drop, preprocess, shapes, min_shapes, opt_shapes,
      max_shapes, calib, calibrator, profiling_verbosity;
  std::optional<int64_t> threads, level, max_aux_streams, calib_images, accuracy_images;
  bool bias_correction = false;

  void declare(Options& options);
  // Whether there is data for --preprocess to prepare.
  bool has_data() const { return !calib_data.empty() || !accuracy_data.empty(); }

  // The options with every default filled in: `threads` is a number afterwards. Errors: usage (a
  // word that means nothing, naming the option; a calibration without int8); unsupported (what this
  // release does not build: ranges of shapes). What --calib holds is not read here.
  Result<BuildOptions> resolve() const;
};

// What `--precision` allows: fp32 and the words. Errors: usage.
Result<std::set<Precision>> allowed_precisions(const std::vector<std::string>& words);

// What an engine is called: `wanted` (--name), or where that is "" the file's name without
// extension; characters outside of [A-Za-z0-9._+-] become '_'.
std::string engine_name(const std::string& wanted, const std::filesystem::path& file);

}  // namespace enginery
