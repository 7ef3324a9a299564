#include "coordinator/server/catalog_reader.h"

#include <algorithm>

#include "coordinator/server/catalog_questions.h"

namespace enginery {
namespace {

constexpr size_t kMaxQuestions = 64;

template <typename Reply>
Body body_of(Result<Reply> result) {
  if (!result.ok()) return ErrorReply{{result.error().code, result.error().message}};
  return std::move(*result);
}

}  // namespace

CatalogReader::CatalogReader(std::unique_ptr<Catalog> catalog, std::function<void()> done)
    : catalog_(std::move(catalog)), done_(std::move(done)), thread_([this] { run(); }) {}

CatalogReader::~CatalogReader() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

bool CatalogReader::post(Question question) {
  {
    const std::lock_guard lock(mutex_);
    for (const Question& waiting : questions_)
      if (waiting.to.request == question.to.request) return true;
    if (questions_.size() >= kMaxQuestions) return false;
    questions_.push_back(std::move(question));
  }
  changed_.notify_all();
  return true;
}

std::vector<Reply> CatalogReader::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(answers_, {});
}

Body CatalogReader::answer(const Question& question) {
  if (const auto* find = std::get_if<FindEngines>(&question.what))
    return body_of(find_engines(*catalog_, question.job, *find));
  return body_of(why_miss(*catalog_, question.job, std::get<WhyMiss>(question.what)));
}

void CatalogReader::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return stop_ || !questions_.empty(); });
    if (stop_) return;
    const Question question = questions_.front();
    lock.unlock();
    Body body = answer(question);
    lock.lock();
    questions_.pop_front();
    answers_.push_back({question.to, std::move(body)});
    lock.unlock();
    done_();
    lock.lock();
  }
}

}  // namespace enginery
