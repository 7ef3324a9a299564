#include "engine/base/side_hash.h"

namespace enginery {
namespace {

constexpr size_t kMaxPieces = 8;

}  // namespace

SideHash::SideHash() : thread_([this] { run(); }) {}

SideHash::~SideHash() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void SideHash::update(Bytes piece) {
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return pieces_.size() < kMaxPieces; });
    pieces_.push_back(std::move(piece));
  }
  changed_.notify_all();
}

Digest SideHash::finish() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return pieces_.empty(); });
  return hash_.finish();
}

void SideHash::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return stop_ || !pieces_.empty(); });
    if (stop_) return;
    const Bytes& piece = pieces_.front();  // a deque's elements stay where they are
    lock.unlock();
    hash_.update(piece);
    lock.lock();
    pieces_.pop_front();
    changed_.notify_all();
  }
}

}  // namespace enginery
