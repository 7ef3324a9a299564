// How long a build will take from its tuning on, guessed from how far the tuning is.
//
// Where: tuning.cpp, for the progress that people see. The tuner goes through its phases in an
// order (tuner.h: code, tune, layouts, network), and assembling, verifying and profiling follow;
// each is given a share of the whole. Threads: one.
#pragma once

#include <string>

namespace enginery {

class BuildEta {
 public:
  // Seconds until the build's end, after `elapsed_s` since the tuning began; 0: not known yet. A
  // phase that the tuner comes back to (a reformat is tuned while layouts are searched) takes
  // nothing back.
  double seconds_left(const std::string& phase, int done, int total, double elapsed_s);

 private:
  double first_ = -1;  // the share that was done when the tuning began
  double done_ = 0;    // the largest share that was reached
};

}  // namespace enginery
