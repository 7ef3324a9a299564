// A GPU on the host, enough of one to run our kernels' text: threads of a block are fibers,
// barriers and warp instructions make them meet. Copies are immediate and blocks run one after the
// other.
//
// Order: a warp runs until every lane of it waits for other warps, then the next one does. So a
// warp is as far ahead of the others as the barriers allow, and a missing barrier gives wrong
// numbers. In `backward` order blocks, warps and lanes run from the last to the first: what writes
// into another's place does so after its owner.
//
// Included before a kernel's text, compiled by the host's compiler into a library of its own
// (emulated_source.cpp). EMULATE_SM: the compute capability to be. Blocks of a cluster run
// together.
#pragma once

#include <ucontext.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#define ENGINERY_EMULATE 1
#define HAVE_ASYNC_COPY (EMULATE_SM >= 80)
#define __CUDA_ARCH__ (EMULATE_SM * 10)
#define __device__
#define __global__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __shared__ static
#define __align__(bytes) __attribute__((aligned(bytes)))

struct float2 {
  float x, y;
};
struct float4 {
  float x, y, z, w;
};

namespace emulator {

struct Index {
  unsigned x = 0, y = 0, z = 0;
};

// Fibers that meet.
struct Group {
  int size = 0, arrived = 0;
  unsigned generation = 0;
  void leave() { --size, release(); }
  void release() {
    if (size > 0 && arrived == size) arrived = 0, ++generation;
  }
};

// What the lanes of a warp show each other.
struct Lanes {
  const void* pointer[32];
  unsigned a[32][4], b[32][2];
  float value[32];
};

struct Block {
  Group group;
  Index index;
  std::vector<Group> warps;
  std::vector<Lanes> lanes;
  std::vector<unsigned char> memory;
  unsigned char* shared() {
    auto address = reinterpret_cast<uintptr_t>(memory.data());
    return reinterpret_cast<unsigned char*>((address + 1023) / 1024 * 1024);
  }
};

struct Fiber {
  ucontext_t context;
  std::unique_ptr<char[]> stack;
  Block* block = nullptr;
  Index thread;
  bool awaited = false;  // has called await_predecessors()
  bool done = false;
  std::vector<std::function<void()>> begun;                 // products of the open group
  std::vector<std::vector<std::function<void()>>> running;  // groups that nobody waited for
};

inline Fiber* current = nullptr;
inline ucontext_t scheduler;
inline std::vector<Block> blocks;  // those that run now: one, or a cluster's
inline Group cluster;
inline void (*body)() = nullptr;

inline bool all_awaited = true;
inline unsigned long progress = 0;  // counts arrivals, meetings and ends

inline void yield() {
  swapcontext(&current->context, &scheduler);
}
inline void meet(Group& group) {
  unsigned generation = group.generation;
  ++group.arrived;
  ++progress;
  group.release();
  while (group.generation == generation) yield();
  ++progress;
}
inline Group& warp() {
  return current->block->warps[current->thread.x / 32];
}
inline Lanes& lanes() {
  return current->block->lanes[current->thread.x / 32];
}
inline unsigned lane() {
  return current->thread.x % 32;
}

inline void enter() {
  body();
  all_awaited = all_awaited && current->awaited;
  current->done = true;
  warp().leave();
  current->block->group.leave();
  cluster.leave();
  ++progress;
  yield();
}

// Runs the lanes [first, last) as far as they come without other warps.
inline void run_warp(std::vector<Fiber>& fibers, size_t first, size_t last, bool backward) {
  for (unsigned long before = progress + 1; before != progress;) {
    before = progress;
    for (size_t i = first; i < last; ++i) {
      Fiber& fiber = fibers[backward ? last - 1 - (i - first) : i];
      if (fiber.done) continue;
      current = &fiber;
      swapcontext(&scheduler, &current->context);
    }
  }
}

// False where some threads wait for a barrier that others never reach.
inline bool run_warps(std::vector<Fiber>& fibers, size_t count, bool backward) {
  std::vector<std::pair<size_t, size_t>> warps;
  for (size_t i = 0; i < count;) {
    size_t first = i;
    for (++i; i < count && fibers[i].thread.x % 32 != 0; ++i) {
    }
    warps.emplace_back(first, i);
  }
  if (backward) std::reverse(warps.begin(), warps.end());
  for (unsigned long before = progress + 1; before != progress;) {
    before = progress;
    for (auto [first, last] : warps) run_warp(fibers, first, last, backward);
  }
  for (size_t i = 0; i < count; ++i) {
    if (!fibers[i].done) return false;
  }
  return true;
}

inline bool run_blocks(unsigned threads, unsigned shared_bytes, bool backward) {
  constexpr size_t kStackBytes = 256 * 1024;
  static std::vector<Fiber> fibers;
  if (fibers.size() < blocks.size() * threads) {
    fibers.clear();
    fibers.resize(blocks.size() * threads);
    for (Fiber& f : fibers) f.stack = std::make_unique<char[]>(kStackBytes);
  }
  size_t count = blocks.size() * threads;
  cluster = {static_cast<int>(count), 0, 0};
  for (Block& b : blocks) {
    b.group = {static_cast<int>(threads), 0, 0};
    b.warps.assign((threads + 31) / 32, {});
    b.lanes.resize(b.warps.size());
    for (unsigned t = 0; t < threads; ++t) ++b.warps[t / 32].size;
    b.memory.assign(shared_bytes + 1024, 0xff);
  }
  for (size_t i = 0; i < count; ++i) {
    Fiber& f = fibers[i];
    f.block = &blocks[i / threads];
    f.thread = {static_cast<unsigned>(i % threads), 0, 0};
    f.awaited = f.done = false;
    getcontext(&f.context);
    f.context.uc_stack.ss_sp = f.stack.get();
    f.context.uc_stack.ss_size = kStackBytes;
    f.context.uc_link = nullptr;
    makecontext(&f.context, reinterpret_cast<void (*)()>(enter), 0);
  }
  return run_warps(fibers, count, backward);
}

// False where threads of a block wait for each other for ever, or one of them never awaited the
// kernels before its own.
template <typename Args>
bool launch(void (*kernel)(Args), const void* arguments, const unsigned (&grid)[3],
            unsigned threads, unsigned shared_bytes, unsigned cluster_z, bool backward) {
  static Args args;
  static void (*entry)(Args);
  std::memcpy(&args, arguments, sizeof args);
  entry = kernel;
  body = [] { entry(args); };
  const unsigned clusters_z = grid[2] / cluster_z, count = grid[0] * grid[1] * clusters_z;
  for (unsigned i = 0; i < count; ++i) {
    const unsigned at = backward ? count - 1 - i : i;
    const unsigned x = at % grid[0], y = at / grid[0] % grid[1], z = at / grid[0] / grid[1];
    blocks.resize(cluster_z);
    for (unsigned b = 0; b < cluster_z; ++b) blocks[b].index = {x, y, z * cluster_z + b};
    if (!run_blocks(threads, shared_bytes, backward) || !all_awaited) return false;
  }
  return true;
}

inline float half_bits_to_float(unsigned short h) {
  _Float16 f;
  std::memcpy(&f, &h, sizeof f);
  return static_cast<float>(f);
}

inline float float_of(unsigned bits) {
  float f;
  std::memcpy(&f, &bits, sizeof f);
  return f;
}

inline float tf32(float value) {
  unsigned bits;
  std::memcpy(&bits, &value, sizeof bits);
  return float_of((bits + 0x1000u) & ~0x1fffu);
}

}  // namespace emulator

#define threadIdx (emulator::current->thread)
#define blockIdx (emulator::current->block->index)

inline void __syncthreads() {
  emulator::meet(emulator::current->block->group);
}
inline void __syncwarp() {
  emulator::meet(emulator::warp());
}
inline float __shfl_xor_sync(unsigned, float v, int mask) {
  emulator::Lanes& lanes = emulator::lanes();
  lanes.value[emulator::lane()] = v;
  __syncwarp();
  float other = lanes.value[emulator::lane() ^ static_cast<unsigned>(mask)];
  __syncwarp();
  return other;
}
// Lanes below `delta` keep their own.
inline float __shfl_up_sync(unsigned, float v, unsigned delta) {
  emulator::Lanes& lanes = emulator::lanes();
  const unsigned lane = emulator::lane();
  lanes.value[lane] = v;
  __syncwarp();
  const float other = lanes.value[lane < delta ? lane : lane - delta];
  __syncwarp();
  return other;
}
inline float __uint_as_float(unsigned bits) {
  return emulator::float_of(bits);
}
inline float __int_as_float(int bits) {
  return emulator::float_of(static_cast<unsigned>(bits));
}
inline int __float_as_int(float value) {
  int bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}
inline unsigned __float_as_uint(float value) {
  return static_cast<unsigned>(__float_as_int(value));
}
inline int __shfl_up_sync(unsigned all, int v, unsigned delta) {
  return __float_as_int(__shfl_up_sync(all, __int_as_float(v), delta));
}
inline int __shfl_xor_sync(unsigned all, int v, int mask) {
  return __float_as_int(__shfl_xor_sync(all, __int_as_float(v), mask));
}
inline long long __shfl_xor_sync(unsigned all, long long v, int mask) {
  int halves[2];
  std::memcpy(halves, &v, sizeof v);
  for (int& half : halves) half = __shfl_xor_sync(all, half, mask);
  std::memcpy(&v, halves, sizeof v);
  return v;
}
// To nearest, ties to even, saturated; NaN is 0.
inline int __float2int_rn(float value) {
  if (std::isnan(value)) return 0;
  const double whole = std::nearbyint(static_cast<double>(value));
  return static_cast<int>(std::clamp(whole, -2147483648.0, 2147483647.0));
}
inline float half_to_float(unsigned short h) {
  return emulator::half_bits_to_float(h);
}
inline unsigned short float_to_half(float f) {
  auto half = static_cast<_Float16>(f);
  unsigned short bits;
  std::memcpy(&bits, &half, sizeof bits);
  return bits;
}
inline float bfloat_to_float(unsigned short b) {
  return emulator::float_of(static_cast<unsigned>(b) << 16);
}
inline unsigned short float_to_bfloat(float f) {
  if (std::isnan(f)) return 0x7fff;
  const auto bits = static_cast<unsigned>(__float_as_int(f));
  return static_cast<unsigned short>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
inline unsigned multiply_high(unsigned a, unsigned b) {
  return static_cast<unsigned>(static_cast<uint64_t>(a) * b >> 32);
}

inline void await_predecessors() {
  emulator::current->awaited = true;
}

// warp.cuh's functions
template <int kBytes>
void copy_async(void* to, const void* from, bool valid) {
  if (valid)
    std::memcpy(to, from, kBytes);
  else
    std::memset(to, 0, kBytes);
}
inline void commit_async() {}
template <int N>
void wait_async() {}
// Fibers do not interrupt each other.
inline int atomicMax(int* at, int value) {
  const int before = *at;
  if (value > before) *at = value;
  return before;
}
#include "tests/conformance/kernels/emulator_matrix.h"

// bytes.cuh's function
template <bool kUnsigned>
int dot4(int a, int b, int sum) {
  for (unsigned i = 0; i < 4; ++i)
    sum += emulator::byte_of<kUnsigned>(static_cast<unsigned>(a), i) *
           emulator::byte_of<false>(static_cast<unsigned>(b), i);
  return sum;
}
inline void cluster_sync() {
  emulator::meet(emulator::cluster);
}
inline float4 load_from_block(const float* p, unsigned rank) {
  auto offset = reinterpret_cast<const unsigned char*>(p) - emulator::current->block->shared();
  float4 v;
  std::memcpy(&v, emulator::blocks[rank].shared() + offset, sizeof v);
  return v;
}
