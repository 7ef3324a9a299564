// KernelPlan: how a tactic of the `kernel` source runs: a program, its launches, and how constants
// are packed.
//
// Where: a family's plan makes it from a problem and a tactic; kernel_source.h runs it on a device,
// the emulator of the tests on the host, and the compile tests only compile it. Threads: plain
// data.
//
// An engine file keeps compiled code but not the plan: entries, argument structs and grids of a
// tactic id must fit code that was compiled before.
#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "engine/tactics/cuda/kernel/text/args.h"
#include "engine/tactics/cuda/kernel/text/program.h"
#include "engine/tactics/cuda/launch/operand_constants.h"

namespace enginery {

enum class PointerSource { input, output, constant, workspace };

// A pointer that is written into a launch's arguments when the addresses are known.
struct PointerSlot {
  size_t offset = 0;  // in the arguments, bytes
  PointerSource source = PointerSource::input;
  int index = 0;  // of the input, output or constant
};

struct KernelLaunch {
  std::string entry = "kernel";  // the function's name in the code
  std::array<unsigned, 3> grid{1, 1, 1};
  unsigned threads = 128;     // of a block
  unsigned shared_bytes = 0;  // dynamic shared memory
  Bytes arguments;            // one argument struct (args.h)
  std::vector<PointerSlot> slots;
};

struct KernelPlan {
  KernelProgram program;
  std::vector<KernelLaunch> launches;  // in this order on one stream; none for a view
  std::vector<PackConstant> constants;
  int64_t workspace_bytes = 0;

  // The constant's index, for a PointerSlot.
  int add_constant(PackConstant pack) {
    constants.push_back(std::move(pack));
    return static_cast<int>(constants.size()) - 1;
  }
};

template <typename Args>
Bytes argument_bytes(const Args& args) {
  Bytes bytes(sizeof(Args), '\0');
  std::memcpy(bytes.data(), &args, sizeof(Args));
  return bytes;
}

// Kernels count in 32 bits: require_static and launch_limits.h refuse what does not fit.
inline int to_int(int64_t value) {
  return static_cast<int>(value);
}

// Requires 1 <= divisor < 2^31.
gpu::Divisor make_divisor(int64_t divisor);

// Blocks of `threads` for `total` threads.
inline std::array<unsigned, 3> grid_for(int64_t total, unsigned threads) {
  return {static_cast<unsigned>(divide_up(total, threads)), 1, 1};
}

// A launch of `total` threads in blocks of `threads`, with its arguments.
template <typename Args>
KernelLaunch launch_of(const Args& args, int64_t total, unsigned threads) {
  KernelLaunch launch;
  launch.grid = grid_for(total, threads);
  launch.threads = threads;
  launch.arguments = argument_bytes(args);
  return launch;
}

// Adds the operands' constants and pointers to a launch whose arguments hold EpilogueArgs at
// `offset`.
void attach_operands(const std::vector<EpilogueSource>& sources, const EpilogueFrame& frame,
                     size_t offset, KernelPlan& plan, KernelLaunch& launch);
void attach_epilogue(const LoweredEpilogue& epilogue, size_t offset, KernelPlan& plan,
                     KernelLaunch& launch);

// Where a launch finds an input that is stored in order as `type`: a constant or an integer's known
// value is packed so.
PointerSlot operand_slot(const Problem& problem, int input, DataType type, size_t offset,
                         KernelPlan& plan);

// Text of the function `name`: the place of an operand that is stored in order beside an element of
// the output that is, too.
std::string place_beside_output(const Problem& problem, size_t input, const std::string& name);

}  // namespace enginery
