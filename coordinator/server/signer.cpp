#include "coordinator/server/signer.h"

#include "engine/base/signed_file.h"

namespace enginery {

SignAnswer sign_engine(BlobStore& blobs, const SigningKey& key, const SignTask& task) {
  SignAnswer answer{task.step, task.epoch, std::nullopt, {}};
  const auto failed = [&](const Error& error) {
    answer.fault = {error.code, "sign: " + error.message};
    return answer;
  };
  Result<Bytes> file = blobs.get(task.unsigned_engine);
  if (!file.ok()) return failed(file.error());
  *file +=
      signature_trailer(task.unsigned_engine, key);  // the blob's name is the digest of its bytes
  const Result<Digest> stored = blobs.put(as_bytes(*file));
  if (!stored.ok()) return failed(stored.error());
  answer.engine = NamedBlob{"engine", *stored, file->size()};
  return answer;
}

Signer::Signer(BlobStore& blobs, SigningKey key, std::function<void()> done)
    : blobs_(blobs), key_(std::move(key)), done_(std::move(done)), thread_([this] { run(); }) {}

Signer::~Signer() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Signer::post(SignTask task) {
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(task);
  }
  changed_.notify_all();
}

std::vector<SignAnswer> Signer::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(answers_, {});
}

void Signer::run() {
  while (true) {
    SignTask task;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return stop_ || !tasks_.empty(); });
      if (stop_) return;
      task = tasks_.front();
      tasks_.pop_front();
    }
    SignAnswer answer = sign_engine(blobs_, key_, task);
    {
      const std::lock_guard lock(mutex_);
      answers_.push_back(std::move(answer));
    }
    done_();
  }
}

}  // namespace enginery
