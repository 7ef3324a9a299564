// Where an engine goes once it is built or fetched: stdout, the file that the user names, or the
// default file. Threads: free functions without state.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "cli/output/console.h"
#include "engine/base/digest.h"

namespace enginery {

// What `--output` says, and what the default file is named by.
struct EngineOutput {
  std::string output;  // "" for the default file, "-" for stdout
  std::string name, sku;
};

// NAME.EXTENSION, with slashes, backslashes and control characters replaced by '_'.
std::string default_file_name(const std::string& name, const std::string& extension);
// ./NAME.SKU.engine, with slashes, backslashes and control characters replaced by '_'.
std::filesystem::path default_engine_path(const std::string& name, const std::string& sku);

// Whether write_engine can write there, asked before anything is built or fetched. Errors: as
// check_output_file; usage, where a file that is no engine would be overwritten.
Status check_engine_output(const EngineOutput& where);

// Writes the engine file; says on stderr when it takes the place of another engine. Returns its
// path; nothing when it went to stdout, where no other data may follow it. Errors: storage, naming
// the file.
Result<std::optional<std::filesystem::path>> write_engine(const EngineOutput& where,
                                                          const Bytes& engine, Console& console);

}  // namespace enginery
