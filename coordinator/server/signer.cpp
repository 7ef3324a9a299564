#include "coordinator/server/signer.h"

namespace enginery {

SignAnswer sign_engine(BlobStore& blobs, const SigningKey& key, const EngineCheck& check,
                       const SignTask& task) {
  SignAnswer answer{task.step, task.epoch, std::nullopt, {}};
  const Result<NamedBlob> engine = sign_engine(blobs, key, check, task.engine);
  if (engine.ok())
    answer.engine = *engine;
  else
    answer.fault = {engine.error().code, "sign: " + engine.error().message};
  return answer;
}

Signer::Signer(BlobStore& blobs, SigningKey key, EngineCheck check, std::function<void()> done)
    : blobs_(blobs),
      key_(std::move(key)),
      check_(std::move(check)),
      done_(std::move(done)),
      thread_([this] { run(); }) {
  ENSURE(check_, "a signer needs a reader of engines");
}

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
    tasks_.push_back(std::move(task));
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
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    SignAnswer answer = sign_engine(blobs_, key_, check_, task);
    {
      const std::lock_guard lock(mutex_);
      answers_.push_back(std::move(answer));
    }
    done_();
  }
}

}  // namespace enginery
