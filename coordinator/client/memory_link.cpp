#include "coordinator/client/memory_link.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <deque>
#include <mutex>

namespace enginery {
namespace {

// One direction of the wire; `ready` counts what waits, so that poll can see it.
class Queue {
 public:
  Queue() : ready_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC | EFD_SEMAPHORE)) {}
  ~Queue() { close(ready_); }
  Queue(const Queue&) = delete;

  void push(const Message& message) {
    const std::lock_guard lock(mutex_);
    messages_.push_back(message);
    const uint64_t one = 1;
    (void)!write(ready_, &one, sizeof one);
  }
  std::optional<Message> pop() {
    const std::lock_guard lock(mutex_);
    if (messages_.empty()) return std::nullopt;
    uint64_t one = 0;
    (void)!read(ready_, &one, sizeof one);
    Message message = std::move(messages_.front());
    messages_.pop_front();
    return message;
  }
  int ready() const { return ready_; }

 private:
  std::mutex mutex_;
  std::deque<Message> messages_;
  int ready_;
};

class MemoryLink final : public Link {
 public:
  MemoryLink(std::shared_ptr<Queue> in, std::shared_ptr<Queue> out)
      : in_(std::move(in)), out_(std::move(out)) {}

  Status send(const Message& message) override {
    out_->push(message);
    return {};
  }
  Result<std::optional<Message>> receive(std::chrono::milliseconds timeout, int wake) override {
    pollfd items[] = {{in_->ready(), POLLIN, 0}, {wake, POLLIN, 0}};
    (void)poll(items, wake >= 0 ? 2 : 1, static_cast<int>(timeout.count()));
    return in_->pop();
  }

 private:
  std::shared_ptr<Queue> in_, out_;
};

}  // namespace

std::pair<std::unique_ptr<Link>, std::unique_ptr<Link>> make_memory_links() {
  const auto a = std::make_shared<Queue>(), b = std::make_shared<Queue>();
  return {std::make_unique<MemoryLink>(a, b), std::make_unique<MemoryLink>(b, a)};
}

}  // namespace enginery
