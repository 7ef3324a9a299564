// Answers what the catalog alone knows (FindEngines, WhyMiss, AskCatalog) and carries out orders to
// it (OrderCatalog) in a thread of its own, over a connection of its own, so that a long question
// never holds up the queue.
//
// Where: ControlServer has one for what is answered at once and one for what takes its time; it
// posts the questions and sends the answers. At most 64 wait; further ones are
// dropped, because every request is repeated. Errors: as ErrorReply. Threads: post and take from
// any thread.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <variant>
#include <vector>

#include "coordinator/catalog/catalog_actions.h"
#include "coordinator/core/core.h"

namespace enginery {

class CatalogReader {
 public:
  struct Question {
    ReplyTo to;
    std::variant<FindEngines, WhyMiss, AskCatalog, OrderCatalog> what;
    std::optional<JobView> job;  // that the question names
  };

  // `reader` is a connection of its own to `catalog`, which orders change and which outlives this.
  // `done`, whenever an answer waits, is called from its thread.
  CatalogReader(Catalog& catalog, std::unique_ptr<Catalog> reader, std::function<void()> done);
  ~CatalogReader();  // finishes the question in hand and drops the others

  // False when it was dropped; a repetition of one that waits is the same question.
  bool post(Question question);
  std::vector<Reply> take();  // the answers since the last call

 private:
  void run();
  Body answer(const Question& question);
  Body document(const CatalogCall& call, bool is_order);

  Catalog& catalog_;
  std::unique_ptr<Catalog> reader_;
  std::function<void()> done_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Question> questions_;  // the first is being answered
  std::vector<Reply> answers_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace enginery
