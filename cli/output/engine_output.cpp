#include "cli/output/engine_output.h"

#include "cli/output/output_file.h"
#include "engine/base/file.h"

namespace enginery {
namespace {

bool is_stdout(const EngineOutput& where) {
  return where.output == "-" || where.output == "/dev/stdout";
}

std::filesystem::path path_of(const EngineOutput& where) {
  return where.output.empty() ? default_engine_path(where.name, where.sku)
                              : std::filesystem::path(where.output);
}

void note_replacement(const std::filesystem::path& path, const Bytes& engine, Console& console) {
  std::error_code failed;
  if (!std::filesystem::is_regular_file(path, failed)) return;
  const Result<Bytes> before = read_file(path);
  if (!before.ok() || before->empty() || *before == engine) return;
  console.note(path.string() + " held another engine (" +
               sha256(as_bytes(*before)).text().substr(0, 19) + "), which this one replaces");
}

}  // namespace

std::string default_file_name(const std::string& name, const std::string& extension) {
  std::string file = name + "." + extension;
  for (char& c : file) {
    const bool is_separator = c == '/' || c == '\\';
    const bool is_control = static_cast<unsigned char>(c) < 0x20;
    if (is_separator || is_control) c = '_';
  }
  return file;
}

std::filesystem::path default_engine_path(const std::string& name, const std::string& sku) {
  return std::filesystem::path(".") / default_file_name(name, sku + ".engine");
}

Status check_engine_output(const EngineOutput& where) {
  if (is_stdout(where)) return {};
  return check_output_file(path_of(where), files_that_begin_with("ENGINERY"));
}

Result<std::optional<std::filesystem::path>> write_engine(const EngineOutput& where,
                                                          const Bytes& engine, Console& console) {
  if (is_stdout(where)) {
    console.print(engine);
    return std::optional<std::filesystem::path>();
  }
  const std::filesystem::path path = path_of(where);
  note_replacement(path, engine, console);
  CHECK_OK(write_output_file(path, engine));
  return std::optional(path);
}

}  // namespace enginery
