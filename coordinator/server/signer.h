// Signs engines in a thread of its own, so that reading and hashing a large file never holds up the
// queue.
//
// Where: ControlServer posts what the core asks for and feeds the answers back. Workers have no
// key: only the coordinator vouches for an engine, and only for the one that the
// build left, with a provenance that it states itself (pipeline/signature.h).
// Errors: in SignAnswer::fault (storage, not_found, corrupt_data: the core asks again; untrusted,
// incompatible: it is no engine). Threads: post and take from any thread.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "cache/blob_store.h"
#include "coordinator/core/core.h"
#include "engine/base/sign.h"
#include "pipeline/signature.h"

namespace enginery {

class Signer {
 public:
  // `blobs` outlives it; `check` and `done`, whenever an answer waits, are called from its thread.
  Signer(BlobStore& blobs, SigningKey key, EngineCheck check, std::function<void()> done);
  ~Signer();  // finishes the task in hand and drops the others

  void post(SignTask task);        // in order; returns at once
  std::vector<SignAnswer> take();  // what was signed, or failed, since the last call

 private:
  void run();

  BlobStore& blobs_;
  SigningKey key_;
  EngineCheck check_;
  std::function<void()> done_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<SignTask> tasks_;
  std::vector<SignAnswer> answers_;
  bool stop_ = false;
  std::thread thread_;
};

// One task: reads the blob and checks it, appends the trailer, stores the file.
SignAnswer sign_engine(BlobStore& blobs, const SigningKey& key, const EngineCheck& check,
                       const SignTask& task);

}  // namespace enginery
