#include "tests/support/failing_allocations.h"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

// How many allocations still succeed.
std::atomic<int64_t> allowed{INT64_MAX};
// Whether those after the first that fails succeed again.
std::atomic<bool> only_one{false};

bool is_to_fail() {
  const int64_t left = allowed.fetch_sub(1, std::memory_order_relaxed);
  return left == 0 || (left < 0 && !only_one);
}

void* allocate_or_null(size_t bytes, size_t alignment) {
  return is_to_fail() ? nullptr
                      : std::aligned_alloc(alignment, (bytes + alignment) / alignment * alignment);
}

void* allocate(size_t bytes, size_t alignment) {
  void* const memory = allocate_or_null(bytes, alignment);
  if (!memory) throw std::bad_alloc();
  return memory;
}

}  // namespace

enginery::test::Failing::Failing(int64_t after, bool one) : after_(after) {
  only_one = one;
  allowed = after;
}
enginery::test::Failing::~Failing() {
  allowed = INT64_MAX;
}
int64_t enginery::test::Failing::made() const {
  return after_ - allowed;
}

#if defined(__SANITIZE_ADDRESS__)
// oneDNN loses what it had made of a primitive when the next allocation fails.
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libdnnl";
}
#endif

void* operator new(size_t bytes) {
  return allocate(bytes, alignof(std::max_align_t));
}
void* operator new(size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, static_cast<size_t>(alignment));
}
void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  return allocate_or_null(bytes, alignof(std::max_align_t));
}
void* operator new(size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return allocate_or_null(bytes, static_cast<size_t>(alignment));
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, size_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, size_t, std::align_val_t) noexcept {
  std::free(memory);
}
