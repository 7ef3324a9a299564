// Progress for people, on stderr: bars with phase and ETA on a terminal, plain lines elsewhere, at
// a rate that neither floods a log nor leaves a person without news.
//
// Where: `build` shows one row, `submit --wait` one for each target. Threads: one thread at a time.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/output/console.h"
#include "engine/base/clock.h"

namespace enginery {

// One line of the display.
struct ProgressRow {
  std::string label;  // "cpu-avx2"; identifies the row from one call to the next
  std::string phase;  // "tuning"
  uint64_t done = 0;
  uint64_t total = 0;      // 0: how much there is to do is not known, and no bar is shown
  double eta_seconds = 0;  // 0: not known
  std::string note;        // after the bar
};

// "cpu-avx2  tuning  [#####-----]  45/100  ETA 12 s"; at most `columns` wide.
std::string progress_bar(const ProgressRow& row, size_t label_width, int columns);
// "cpu-avx2: tuning 45/100, ETA 12 s"
std::string progress_line(const ProgressRow& row);

// Shows rows as they change. What it draws belongs to the Console, which takes it away before
// anything else is printed; the next show() draws it again.
class ProgressDisplay {
 public:
  // Both references must outlive the display.
  ProgressDisplay(Console& console, const Clock& clock) : console_(console), clock_(clock) {}
  ~ProgressDisplay() { finish(); }
  ProgressDisplay(const ProgressDisplay&) = delete;

  // Shows the rows in their order. On a terminal bars are drawn at most ten times a second.
  // Elsewhere a row's line is printed when it has been in a new phase for half a second, else at
  // most every five seconds, and only when it says something new.
  void show(const std::vector<ProgressRow>& rows);
  // Takes the bars away. Idempotent.
  void finish();

 private:
  void draw_bars(const std::vector<ProgressRow>& rows);
  void print_lines(const std::vector<ProgressRow>& rows);

  struct Printed {
    std::string phase, line;  // as printed last
    Nanoseconds at{};         // when
    std::string new_phase;    // seen since then, and not printed yet
    Nanoseconds new_phase_since{};
  };
  Console& console_;
  const Clock& clock_;
  Nanoseconds drawn_at_{};
  std::map<std::string, Printed> printed_;
};

}  // namespace enginery
