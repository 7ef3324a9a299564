// Answers what the catalog alone knows (FindEngines, WhyMiss, AskCatalog, ListEvents, MakeSet) and
// carries out orders to it (OrderCatalog) in a thread of its own, over a connection of its own, so
// that a long question never holds up the queue. ListEvents may be a long poll: without lines it is
// held until the journal grows, or its time is over.
//
// Where: ControlServer has one for what is answered at once and one for what takes its time; it
// posts the questions and sends the answers. At most 64 wait; further ones are
// dropped, because every request is repeated. Errors: as ErrorReply. Threads: post and take from
// any thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <variant>
#include <vector>

#include "coordinator/catalog/catalog_actions.h"
#include "coordinator/core/core.h"
#include "engine/base/sign.h"

namespace enginery {

class CatalogReader {
 public:
  struct Question {
    ReplyTo to;
    std::variant<FindEngines, WhyMiss, AskCatalog, OrderCatalog, ListEvents, MakeSet> what;
    std::optional<JobView> job;  // that the question names
    DomainSight domains = {};    // whose engines and keys may be found
    Sight sight = {};            // whose jobs
  };

  // `reader` is a connection of its own to `catalog`, which orders change and which outlives this.
  // `key` signs sets; `done`, whenever an answer waits, is called from its thread.
  CatalogReader(Catalog& catalog, std::unique_ptr<Catalog> reader, SigningKey key,
                std::function<void()> done);
  ~CatalogReader();  // finishes the question in hand and drops the others

  // False when it was dropped; a repetition of one that waits is the same question.
  bool post(Question question);
  std::vector<Reply> take();  // the answers since the last call
  // There are new lines: questions that are held are asked again. From any thread.
  void journal_grew();

 private:
  using Time = std::chrono::steady_clock::time_point;
  struct Held {
    Question question;
    Time until;
  };

  void run();
  Body answer(const Question& question);
  Body document(const CatalogCall& call, bool is_order, const DomainSight& sight);
  bool held_back(const Question& question, const Body& body);
  void release_held();  // what is due becomes a question again
  Time next_wake() const;

  Catalog& catalog_;
  std::unique_ptr<Catalog> reader_;
  SigningKey key_;
  std::function<void()> done_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Question> questions_;  // the first is being answered
  std::vector<Held> held_;
  bool grew_ = false;
  std::vector<Reply> answers_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace enginery
