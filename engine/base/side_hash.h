// SHA-256 of a stream, computed on a thread of its own while the stream is received or written.
//
// Where: transfers of blobs, at both ends. At most a few pieces wait; update() then waits for the
// hash. Threads: one thread at a time calls it; it owns the other one.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "engine/base/digest.h"

namespace enginery {

class SideHash {
 public:
  SideHash();
  ~SideHash();  // without finish(): what waits is dropped
  SideHash(const SideHash&) = delete;

  void update(Bytes piece);  // the next bytes of the stream
  Digest finish();           // of all of them; ends its use

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Bytes> pieces_;  // the first is being hashed
  bool stop_ = false;
  Sha256 hash_;
  std::thread thread_;
};

}  // namespace enginery
