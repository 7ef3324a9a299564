#include "coordinator/server/catalog_reader.h"

#include <algorithm>

#include "coordinator/server/catalog_questions.h"

namespace enginery {
namespace {

constexpr size_t kMaxQuestions = 64;
constexpr size_t kMaxDocumentBytes = kMaxControlBytes - 4096;

template <typename Reply>
Body body_of(Result<Reply> result) {
  if (!result.ok()) return ErrorReply{{result.error().code, result.error().message}};
  return std::move(*result);
}

}  // namespace

CatalogReader::CatalogReader(Catalog& catalog, std::unique_ptr<Catalog> reader,
                             std::function<void()> done)
    : catalog_(catalog),
      reader_(std::move(reader)),
      done_(std::move(done)),
      thread_([this] { run(); }) {}

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

// A question and an order are two messages because they need two roles.
Body CatalogReader::document(const CatalogCall& call, bool is_order) {
  if (is_order != (kind_of_action(call.action) == CatalogActionKind::order))
    return ErrorReply{
        {ErrorCode::invalid_argument, "catalog: '" + call.action.substr(0, 40) +
                                          (is_order ? "' is no order" : "' is no question")}};
  Result<std::string> json = carry_out({catalog_, *reader_}, call);
  if (!json.ok()) return ErrorReply{{json.error().code, json.error().message}};
  if (json->size() > kMaxDocumentBytes)
    return ErrorReply{{ErrorCode::invalid_argument,
                       "catalog: the answer is too large for a message; ask for less (--limit)"}};
  return CatalogAnswer{std::move(*json)};
}

Body CatalogReader::answer(const Question& question) {
  if (const auto* find = std::get_if<FindEngines>(&question.what))
    return body_of(find_engines(*reader_, question.job, *find));
  if (const auto* why = std::get_if<WhyMiss>(&question.what))
    return body_of(why_miss(*reader_, question.job, *why));
  if (const auto* ask = std::get_if<AskCatalog>(&question.what))
    return document({ask->action, ask->words, ask->options}, false);
  const auto& order = std::get<OrderCatalog>(question.what);
  return document({order.action, order.words, order.options}, true);
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
