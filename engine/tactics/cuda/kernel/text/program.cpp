#include "engine/tactics/cuda/kernel/text/program.h"

#include "enginery/result.h"

namespace enginery {

std::string program_text(const KernelProgram& program) {
  std::string text = "#define ENGINERY_KERNEL_TEXT 1\n";
  text += kernel_text("text/args.h");
  text += kernel_text("text/common.cuh");
  for (const auto& [name, value] : program.macros) text += "#define " + name + " " + value + "\n";
  text += program.functions;
  for (const std::string& file : program.files) {
    std::string_view part = kernel_text(file);
    ENSURE(!part.empty(), "no kernel text is called " + file);
    text += part;
  }
  return text;
}

}  // namespace enginery
