// Ctrl-C as a question instead of a sudden end: while one of these lives, SIGINT and SIGTERM only
// set a flag.
//
// Threads: make at most one at a time, on the main thread; a second Ctrl-C ends the process at
// once.
#pragma once

namespace enginery {

class Interrupt {
 public:
  Interrupt();
  ~Interrupt();  // restores what was before
  Interrupt(const Interrupt&) = delete;

  bool requested() const;
};

}  // namespace enginery
