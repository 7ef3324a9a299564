#include "coordinator/server/catalog_reader.h"

#include <algorithm>

#include "coordinator/server/catalog_questions.h"

namespace enginery {
namespace {

constexpr size_t kMaxQuestions = 64;
constexpr size_t kMaxDocumentBytes = kMaxControlBytes - 4096;
constexpr uint32_t kMaxHoldMs = 30000;

template <typename Reply>
Body body_of(Result<Reply> result) {
  if (!result.ok()) return ErrorReply{{result.error().code, result.error().message}};
  return std::move(*result);
}

}  // namespace

CatalogReader::CatalogReader(Catalog& catalog, std::unique_ptr<Catalog> reader, SigningKey key,
                             std::function<void()> done)
    : catalog_(catalog),
      reader_(std::move(reader)),
      key_(std::move(key)),
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
      if (waiting.to == question.to) return true;
    for (const Held& held : held_)
      if (held.question.to == question.to) return true;
    if (questions_.size() + held_.size() >= kMaxQuestions) return false;
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
Body CatalogReader::document(const CatalogCall& call, bool is_order, const DomainSight& sight) {
  if (is_order != (kind_of_action(call.action) == CatalogActionKind::order))
    return ErrorReply{
        {ErrorCode::invalid_argument, "catalog: '" + call.action.substr(0, 40) +
                                          (is_order ? "' is no order" : "' is no question")}};
  Result<std::string> json = carry_out({catalog_, *reader_, sight}, call);
  if (!json.ok()) return ErrorReply{{json.error().code, json.error().message}};
  if (json->size() > kMaxDocumentBytes)
    return ErrorReply{{ErrorCode::invalid_argument,
                       "catalog: the answer is too large for a message; ask for less (--limit)"}};
  return CatalogAnswer{std::move(*json)};
}

void CatalogReader::journal_grew() {
  {
    const std::lock_guard lock(mutex_);
    grew_ = true;
  }
  changed_.notify_all();
}

Body CatalogReader::answer(const Question& question) {
  struct Answer {
    CatalogReader& self;
    const Question& question;
    Body operator()(const FindEngines& find) {
      return body_of(find_engines(*self.reader_, question.job, find, question.domains));
    }
    Body operator()(const WhyMiss& why) {
      return body_of(why_miss(*self.reader_, question.job, why, question.domains.narrowed()));
    }
    Body operator()(const ListEvents& list) {
      return body_of(list_events(*self.reader_, list, question.sight));
    }
    Body operator()(const MakeSet& make) {
      return body_of(make_set(*self.reader_, question.job, make, self.key_, question.domains));
    }
    Body operator()(const AskCatalog& ask) {
      return self.document({ask.action, ask.words, ask.options}, false, question.domains);
    }
    Body operator()(const OrderCatalog& order) {
      return self.document({order.action, order.words, order.options}, true, question.domains);
    }
  };
  return std::visit(Answer{*this, question}, question.what);
}

// A question without lines waits for them from where it has read to. Called with the lock held.
bool CatalogReader::held_back(const Question& question, const Body& body) {
  const auto* list = std::get_if<ListEvents>(&question.what);
  const auto* events = std::get_if<EventList>(&body);
  if (list == nullptr || events == nullptr || !events->events.empty() || list->hold_ms == 0)
    return false;
  ListEvents later = *list;
  later.after = std::max<int64_t>(events->next, 0);
  later.hold_ms = 0;
  const auto hold = std::chrono::milliseconds(std::min(list->hold_ms, kMaxHoldMs));
  held_.push_back({{question.to, later, question.job, question.domains, question.sight},
                   std::chrono::steady_clock::now() + hold});
  return true;
}

void CatalogReader::release_held() {
  const Time now = std::chrono::steady_clock::now();
  for (Held& held : held_) {
    auto& list = std::get<ListEvents>(held.question.what);
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(held.until - now).count();
    if (!grew_ && left > 0) continue;
    list.hold_ms = static_cast<uint32_t>(std::max<int64_t>(left, 0));
    questions_.push_back(std::move(held.question));
    held.until = {};
  }
  std::erase_if(held_, [](const Held& held) { return held.until == Time(); });
  grew_ = false;
}

CatalogReader::Time CatalogReader::next_wake() const {
  Time next = std::chrono::steady_clock::now() + std::chrono::hours(1);
  for (const Held& held : held_) next = std::min(next, held.until);
  return next;
}

void CatalogReader::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait_until(lock, next_wake(), [&] { return stop_ || grew_ || !questions_.empty(); });
    if (stop_) return;
    release_held();
    if (questions_.empty()) continue;
    const Question question = questions_.front();
    lock.unlock();
    Body body = answer(question);
    lock.lock();
    questions_.pop_front();
    if (held_back(question, body)) continue;
    answers_.push_back({question.to, std::move(body)});
    lock.unlock();
    done_();
    lock.lock();
  }
}

}  // namespace enginery
