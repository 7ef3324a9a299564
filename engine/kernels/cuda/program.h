// KernelProgram: the text of one kernel variant: our files under src/, its parameters as macros,
// generated functions.
//
// Where: made by tactics/cuda_kernel from a problem and a variant, compiled by KernelCompiler. A
// value.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/digest.h"

namespace enginery {

struct KernelProgram {
  std::vector<std::pair<std::string, std::string>>
      macros;                      // tile shape, types: in the order of definition
  std::string functions;           // generated: the fused epilogue, a chain's elements
  std::vector<std::string> files;  // of src/, after args.h and common.cuh

  void define(std::string name, std::string value) {
    macros.emplace_back(std::move(name), std::move(value));
  }
  void define(std::string name, int64_t value) { define(std::move(name), std::to_string(value)); }
};

// The whole text, as the compiler gets it. The same program gives the same text.
std::string program_text(const KernelProgram& program);

// One of the files under src/; empty when there is none of that name.
std::string_view kernel_text(std::string_view file);

}  // namespace enginery
