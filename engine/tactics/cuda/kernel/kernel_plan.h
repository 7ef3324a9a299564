// KernelPlan: how a tactic of the `kernel` source runs: a program, its launches, and how weights
// are packed. Plain data, so that it runs on a device, on the emulator of the tests, or is compiled
// only.
#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "engine/kernels/cuda/program.h"
#include "engine/kernels/cuda/src/args.h"
#include "engine/tactics/tactic.h"

namespace enginery {

enum class PointerSource { input, output, constant, workspace };

// A pointer that is written into a launch's arguments when the addresses are known.
struct PointerSlot {
  size_t offset = 0;  // in the arguments
  PointerSource source = PointerSource::input;
  int index = 0;  // of the input, output or constant
};

struct KernelLaunch {
  std::string entry = "kernel";
  std::array<unsigned, 3> grid{1, 1, 1};
  unsigned threads = 128;
  unsigned shared_bytes = 0;  // dynamic shared memory
  Bytes arguments;            // one struct of args.h
  std::vector<PointerSlot> slots;
};

// Packs one constant from the problem's weights, as the kernel reads it.
using PackConstant = std::function<Bytes(Weights)>;

struct KernelPlan {
  KernelProgram program;
  std::vector<KernelLaunch> launches;
  std::vector<PackConstant> constants;
  int64_t workspace_bytes = 0;

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

template <typename T>
Bytes bytes_of_values(const std::vector<T>& values) {
  return Bytes(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

gpu::Divisor make_divisor(int64_t divisor);

inline int64_t divide_up(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}
inline int64_t round_up(int64_t a, int64_t b) {
  return divide_up(a, b) * b;
}

// Blocks of `threads` for `total` threads.
inline std::array<unsigned, 3> grid_for(int64_t total, unsigned threads) {
  return {static_cast<unsigned>(divide_up(total, threads)), 1, 1};
}

}  // namespace enginery
