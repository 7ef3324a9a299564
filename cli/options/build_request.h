// What a user asks of a build: the options that `build` and `submit` share, and the model read and
// packed.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/options/options.h"
#include "cli/output/console.h"
#include "engine/compile/compile.h"

namespace enginery {

// The options as given; settle() turns them into BuildOptions.
struct BuildFlags {
  std::vector<std::string> precisions, tactic_sources, skip_passes;
  std::string shapes, min_shapes, opt_shapes, max_shapes, calib, mem_pool_size, profiling_verbosity;
  std::optional<int64_t> threads, level, max_aux_streams;

  void declare(Options& options);

  // usage: a word that means nothing; unsupported: what later releases bring (int8, ranges of
  // shapes, calibration), named.
  Result<BuildOptions> settle() const;
};

// A model file as it travels and as it is named.
struct PackedModel {
  std::string file;  // its name without folders
  std::string name;  // --name, else the file's name without extension, made of [A-Za-z0-9._+-]
  Bytes bytes;       // needs nothing else
  Digest digest;     // of the bytes
};

// `--name`, else the file's name without extension; characters that no name has become '_'.
std::string engine_name(const std::string& wanted, const std::filesystem::path& file);

// Reads and packs the model; `-` is stdin. An empty `name` takes the file's.
Result<PackedModel> pack_model_file(const std::string& file, const std::string& name);

// Imports, specialises and optimises, and says the notes. Errors of the model are invalid_argument
// or unsupported.
Result<LoadedModel> load_packed(const PackedModel& model, const BuildOptions& options,
                                Console& console);

}  // namespace enginery
