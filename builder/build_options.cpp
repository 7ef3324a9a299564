#include "builder/build_options.h"

#include <algorithm>
#include <filesystem>

#include "engine/base/file.h"
#include "engine/base/log.h"
#include "engine/device/sku_table.h"
#include "engine/tactics/tactic.h"

namespace enginery {
namespace {

constexpr int32_t kMaxLevel = 5, kMaxThreads = 4096;

std::string text_of(const char* text) {
  return text ? text : "";
}

Status check_range(const char* name, int32_t value, int32_t least, int32_t most) {
  if (value >= least && value <= most) return {};
  return Error{ErrorCode::invalid_argument,
               std::string(name) + ": expected a number from " + std::to_string(least) + " to " +
                   std::to_string(most) + ", got " + std::to_string(value)};
}

// Names of engines are names of files, too.
std::string safe_name(std::string name) {
  const auto is_safe = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) ||
           std::string_view("._-+").find(c) != std::string_view::npos;
  };
  for (char& c : name) c = is_safe(c) ? c : '_';
  return name.empty() ? "network" : name;
}

Result<std::string> sku_named(const std::string& name) {
  if (!name.empty() && name != "this") {
    if (resolve_sku_name(name)) return name;
    return Error{ErrorCode::not_found,
                 "there is no device type '" + name + "' (enginery skus --all lists them)"};
  }
  const std::vector<LocalSku> local = local_skus();
  if (local.empty())
    return Error{ErrorCode::incompatible,
                 "this machine has no device that enginery knows (enginery doctor)"};
  return local.front().name;
}

std::set<std::string> words_of(const std::string& list) {
  std::set<std::string> words;
  for (size_t begin = 0; begin < list.size();) {
    const size_t end = std::min(list.find(',', begin), list.size());
    if (end > begin) words.insert(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

Result<std::set<std::string>> sources_named(const std::string& list) {
  const std::vector<std::string> known = tactic_source_names();
  std::set<std::string> words = words_of(list);
  for (const std::string& word : words) {
    if (std::ranges::find(known, word) == known.end())
      return Error{ErrorCode::not_found,
                   "without_sources: there is no tactic source '" + word + "'"};
  }
  return words;
}

Result<BuildOptions> engine_options(const enginery_build_options& from) {
  CHECK_OK(check_range("level", from.level, 0, kMaxLevel));
  CHECK_OK(check_range("threads", from.threads, 0, kMaxThreads));
  CHECK_OK(check_range("aux_streams", from.aux_streams, -1, kMaxAuxStreams));
  BuildOptions out;
  if (from.precisions && *from.precisions) {
    TRY(out.precisions, parse_precisions(from.precisions));
  }
  TRY(out.layer_precisions, parse_layer_precisions(text_of(from.layer_precisions)));
  TRY(out.shapes, parse_shapes(text_of(from.shapes)));
  TRY(out.limits, parse_limits(text_of(from.limits)));
  TRY(out.memory_pools, parse_memory_pools(text_of(from.memory_pools)));
  TRY(out.without_sources, sources_named(text_of(from.without_sources)));
  out.level = from.level;
  out.threads = from.threads;
  out.aux_streams = from.aux_streams;
  out.provisional = from.provisional != 0;
  return out;
}

}  // namespace

enginery_build_options default_build_options() {
  const BuildOptions defaults;
  enginery_build_options out{};
  out.struct_size = sizeof out;
  out.level = defaults.level;
  out.aux_streams = defaults.aux_streams;
  return out;
}

Result<LocalBuildRequest> read_build_options(const enginery_build_options& from,
                                             const std::string& fallback_name) {
  LocalBuildRequest out;
  TRY(out.options, engine_options(from));
  TRY(out.sku, sku_named(text_of(from.sku)));
  out.name = safe_name(from.name && *from.name ? from.name : fallback_name);
  out.rebuild = from.rebuild != 0;
  out.timing_cache = text_of(from.timing_cache);
  out.keys = keys_of(from);
  if (from.command) {
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(from.command, ignored))
      return Error{ErrorCode::not_found,
                   "command: there is no program " + std::string(from.command)};
    out.runner = {from.command, "runner"};
    out.sandbox = SandboxMode::prefer;
  }
  return out;
}

std::filesystem::path keys_of(const enginery_build_options& options) {
  return options.keys && *options.keys ? std::filesystem::path(options.keys)
                                       : data_folder() / "keys";
}

std::filesystem::path catalog_of(const enginery_build_options& options) {
  return options.catalog && *options.catalog ? std::filesystem::path(options.catalog)
                                             : data_folder();
}

StepHooks hooks_of(const enginery_build_options& options) {
  StepHooks hooks;
  if (options.progress)
    hooks.progress = [&options](const Progress& p) {
      options.progress(options.user, p.phase.c_str(), p.done, p.total);
    };
  if (options.cancelled)
    hooks.cancelled = [&options] { return options.cancelled(options.user) != 0; };
  hooks.log = [](const std::string& line) { log_info(line); };
  return hooks;
}

}  // namespace enginery
