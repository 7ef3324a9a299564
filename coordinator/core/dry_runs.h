// Dry runs: what a submit would find in the catalog and in flight, without making anything.
//
// Where: inside Jobs. Each target asks the catalog for its engine and for its tuning; the reply
// leaves when all have answered. A restart forgets dry runs: their clients repeat them. Threads: as
// Core.
#pragma once

#include "coordinator/core/queue.h"
#include "pipeline/keys.h"

namespace enginery {

class DryRuns {
 public:
  // Both outlive it.
  DryRuns(const Queue& queue, const CoreOptions& options) : queue_(queue), options_(options) {}

  // The request has been checked.
  void begin(const Request& request, const SubmitRequest& submit, Turn& turn);
  // An answer to one of its lookups; the last one sends the reply.
  void answer(const LookupAnswer& answer, Turn& turn);

 private:
  struct DryRun {
    ReplyTo to;
    SubmitRequest request;
    JobView view;
    size_t open = 0;  // lookups without an answer
  };
  void note_engine(TargetView& target, const LookupAnswer& answer, bool hit) const;
  void note_tuning(TargetView& target, const LookupAnswer& answer, bool hit) const;

  const Queue& queue_;
  const CoreOptions& options_;
  std::map<uint64_t, DryRun> runs_;
  uint64_t next_ = 1;
};

}  // namespace enginery
