#include "engine/device/cpu/cpu_stream.h"

#include <omp.h>
#include <sched.h>
#include <xmmintrin.h>

namespace enginery {
namespace {

constexpr unsigned kFlushToZero = 0x8000, kDenormalsAreZero = 0x0040;

void bind_this_thread(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  sched_setaffinity(0, sizeof set, &set);  // a refusal costs speed only
}

// Moves the calling thread to `core` and leaves it as free as it was.
void move_this_thread(int core) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0 || !CPU_ISSET(core, &allowed)) return;
  bind_this_thread(core);
  sched_setaffinity(0, sizeof allowed, &allowed);
}

}  // namespace

CpuTeams::CpuTeams(int threads, std::vector<int> cores)
    : threads_(threads),
      cores_(std::move(cores)),
      bound_(threads <= static_cast<int>(cores_.size()) &&
             omp_get_proc_bind() == omp_proc_bind_false) {}

std::vector<int> CpuTeams::cores_of_this_thread() {
  size_t ordinal = 0;
  {
    std::lock_guard lock(mutex_);
    ordinal = ordinals_.try_emplace(std::this_thread::get_id(), ordinals_.size()).first->second;
  }
  // Teams side by side take neighbouring cores and wrap around.
  std::vector<int> cores;
  size_t first = ordinal * static_cast<size_t>(threads_);
  for (size_t i = 0; i < static_cast<size_t>(threads_); ++i)
    cores.push_back(cores_[(first + i) % cores_.size()]);
  return cores;
}

void CpuStream::enter() {
  if (owner_ != std::this_thread::get_id() || omp_get_max_threads() != teams_->threads())
    prepare_team();
  if (home_ >= 0 && sched_getcpu() != home_) move_this_thread(home_);
}

void CpuStream::prepare_team() {
  int threads = teams_->threads();
  omp_set_num_threads(threads);
  std::vector<int> cores;
  if (teams_->bound()) cores = teams_->cores_of_this_thread();
#pragma omp parallel num_threads(threads)
  {
    int i = omp_get_thread_num();
    if (i > 0) {
      _mm_setcsr(_mm_getcsr() | kFlushToZero | kDenormalsAreZero);
      if (!cores.empty()) bind_this_thread(cores[static_cast<size_t>(i)]);
    }
  }
  home_ = cores.empty() ? -1 : cores[0];
  owner_ = std::this_thread::get_id();
}

ComputeScope::ComputeScope(Stream& stream) : saved_(_mm_getcsr()) {
  auto& cpu = static_cast<CpuStream&>(stream);
  threads_ = cpu.threads();
  cpu.enter();
  _mm_setcsr(saved_ | kFlushToZero | kDenormalsAreZero);
}

ComputeScope::~ComputeScope() {
  _mm_setcsr(saved_);
}

}  // namespace enginery
