// Progress for people, on stderr: bars with phase and ETA on a terminal, plain lines elsewhere,
// never too many of either.
//
// Where: build shows one row, submit --wait one for each target. Threads: one thread at a time.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/output/console.h"
#include "engine/base/clock.h"

namespace enginery {

// One line of the display. `total` 0: how much there is to do is not known.
struct ProgressRow {
  std::string label;  // "cpu-avx2"
  std::string phase;  // "tuning"
  uint64_t done = 0, total = 0;
  double eta_seconds = 0;  // 0: not known
  std::string note;        // behind the bar
};

// "cpu-avx2  tuning  [#####-----]  45/100  ETA 12 s"; at most `columns` wide.
std::string progress_bar(const ProgressRow& row, size_t label_width, int columns);
// "cpu-avx2: tuning 45/100, ETA 12 s"
std::string progress_line(const ProgressRow& row);

class ProgressDisplay {
 public:
  // Bars are drawn at most ten times a second. A plain line is printed when a row has been in a new
  // phase for half a second, else at most every five seconds for a row, and only when something
  // moved.
  ProgressDisplay(Console& console, const Clock& clock) : console_(console), clock_(clock) {}
  ~ProgressDisplay() { finish(); }
  ProgressDisplay(const ProgressDisplay&) = delete;

  // Shows the rows as they are now; rows keep their order.
  void show(const std::vector<ProgressRow>& rows);
  // Takes the bars away, so that a result can be printed. Idempotent.
  void finish();

 private:
  void draw_bars(const std::vector<ProgressRow>& rows);
  void print_lines(const std::vector<ProgressRow>& rows);

  struct Printed {
    std::string phase, line;  // as printed last
    Nanoseconds at{};         // when
    std::string new_phase;    // seen since, and not printed yet
    Nanoseconds new_phase_since{};
  };
  Console& console_;
  const Clock& clock_;
  size_t drawn_lines_ = 0;
  Nanoseconds drawn_at_{};
  std::map<std::string, Printed> printed_;
};

}  // namespace enginery
