#include "engine/tactics/cuda/kernel/text/program.h"

#include "enginery/result.h"

namespace enginery {

std::string program_text(const KernelProgram& program) {
  std::string text = "#define ENGINERY_KERNEL_TEXT 1\n";
  text += kernel_text("text/args.h");
  text += kernel_text("text/common.cuh");
  for (const auto& [name, value] : program.macros) text += "#define " + name + " " + value + "\n";
  const auto append = [&](const std::vector<std::string>& files) {
    for (const std::string& file : files) {
      std::string_view part = kernel_text(file);
      ENSURE(!part.empty(), "no kernel text is called " + file);
      text += part;
    }
  };
  append(program.types);
  text += program.functions;
  append(program.files);
  return text;
}

}  // namespace enginery
