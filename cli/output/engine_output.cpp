#include "cli/output/engine_output.h"

#include "engine/base/file.h"

namespace enginery {

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

Result<std::optional<std::filesystem::path>> write_engine(const EngineOutput& where,
                                                          const Bytes& engine, Console& console) {
  if (where.output == "-") {
    console.print(engine);
    return std::optional<std::filesystem::path>();
  }
  const std::filesystem::path path = where.output.empty()
                                         ? default_engine_path(where.name, where.sku)
                                         : std::filesystem::path(where.output);
  CHECK_OK(write_file(path, engine));
  return std::optional(path);
}

}  // namespace enginery
