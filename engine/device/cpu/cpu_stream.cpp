#include "engine/device/cpu/cpu_stream.h"

#include <omp.h>
#include <sched.h>
#include <xmmintrin.h>

#include <algorithm>

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

CpuTeams::Seat CpuTeams::seat_of_this_thread() {
  const std::lock_guard lock(mutex_);
  std::erase_if(seats_, [](const auto& seat) { return seat.second.expired(); });
  std::weak_ptr<const size_t>& own = seats_[std::this_thread::get_id()];
  if (Seat taken = own.lock()) return taken;
  size_t free = 0;
  const auto is_taken = [&](const auto& seat) {
    const Seat taken = seat.second.lock();
    return taken && *taken == free;
  };
  while (std::any_of(seats_.begin(), seats_.end(), is_taken)) ++free;
  Seat seat = std::make_shared<const size_t>(free);
  own = seat;
  return seat;
}

std::vector<int> CpuTeams::cores_of(size_t seat) const {
  // Teams side by side take neighbouring cores and wrap around.
  std::vector<int> cores;
  const size_t first = seat * static_cast<size_t>(threads_);
  for (size_t i = 0; i < static_cast<size_t>(threads_); ++i)
    cores.push_back(cores_[(first + i) % cores_.size()]);
  return cores;
}

void CpuStream::take_seat() {
  owner_ = std::this_thread::get_id();
  workers_.resize(static_cast<size_t>(teams_->threads()));
  if (!teams_->bound()) return;
  seat_ = teams_->seat_of_this_thread();
  cores_ = teams_->cores_of(*seat_);
}

void CpuStream::enter() {
  if (depth_++ > 0) return;
  if (owner_ != std::this_thread::get_id()) take_seat();
  mode_found_ = _mm_getcsr();
  threads_found_ = omp_get_max_threads();
  const int threads = teams_->threads();
  omp_set_num_threads(threads);
  if (!cores_.empty() && sched_getcpu() != cores_[0]) move_this_thread(cores_[0]);
  if (threads > 1) {
#pragma omp parallel num_threads(threads)
    if (const auto i = static_cast<size_t>(omp_get_thread_num()); i > 0) {
      Worker& worker = workers_[i];
      worker.mode = _mm_getcsr();
      _mm_setcsr(worker.mode | kFlushToZero | kDenormalsAreZero);
      worker.bound =
          !cores_.empty() && sched_getaffinity(0, sizeof worker.cores, &worker.cores) == 0;
      if (worker.bound) bind_this_thread(cores_[i]);
    }
  }
  _mm_setcsr(mode_found_ | kFlushToZero | kDenormalsAreZero);
}

void CpuStream::leave() {
  if (--depth_ > 0) return;
  const int threads = teams_->threads();
  if (threads > 1) {
#pragma omp parallel num_threads(threads)
    if (const auto i = static_cast<size_t>(omp_get_thread_num()); i > 0) {
      const Worker& worker = workers_[i];
      if (worker.bound) sched_setaffinity(0, sizeof worker.cores, &worker.cores);
      _mm_setcsr(worker.mode);
    }
  }
  omp_set_num_threads(threads_found_);
  _mm_setcsr(mode_found_);
}

ComputeScope::ComputeScope(Stream& stream) : stream_(static_cast<CpuStream&>(stream)) {
  stream_.enter();
}

ComputeScope::~ComputeScope() {
  stream_.leave();
}

}  // namespace enginery
