// KernelProgram: the text of one kernel variant: our files, its parameters as macros, generated
// functions.
//
// Where: made by a family's plan from a problem and a variant, compiled by KernelCompiler
// (engine/kernels/cuda). Threads: a value and pure functions.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace enginery {

struct KernelProgram {
  std::vector<std::pair<std::string, std::string>>
      macros;                      // tile shape, types: in the order of definition
  std::vector<std::string> types;  // what the functions read and write besides: "text/bytes.cuh"
  std::string functions;           // generated: the fused epilogue, a chain's elements
  std::vector<std::string> files;  // after text/args.h and text/common.cuh: "gemv/gemv.cuh"

  void define(std::string name, std::string value) {
    macros.emplace_back(std::move(name), std::move(value));
  }
  void define(std::string name, int64_t value) { define(std::move(name), std::to_string(value)); }
};

// The whole text, as the compiler gets it. The same program gives the same text. Aborts where a
// file does not exist.
std::string program_text(const KernelProgram& program);

// One of the embedded files by its path below engine/tactics/cuda/kernel; empty when there is none
// of that name. Defined in a file that embed.cmake generates.
std::string_view kernel_text(std::string_view file);

}  // namespace enginery
