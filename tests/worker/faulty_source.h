// A tactic source whose tactics for the convolutions of small_models.h fail as ENGINERY_TEST_FAULT
// says:
//   segv     a launch raises SIGSEGV
//   lost     a launch returns device_lost
//   hang     a launch never returns
//   prepare  of two prepared side by side the second raises SIGSEGV; the first is harmless, but
//            cannot be prepared either
//   late     the 100th launch of them in a process raises SIGSEGV; until then they are right
//   error    a launch fails, and nothing else happens
//   wrong    right on every number but the weights of convolutions(layers, 1): the first layer is
//            wrong in a whole engine; `good` is right and slower
//   hopeless the same for twenty tactics
// Their estimates promise to be the fastest, so that they are chosen where nothing is measured.
#pragma once

#include "worker/steps/build_session.h"

namespace enginery::test {

// The product's target with that source before its own. Where one must not lose a race (late,
// wrong, hopeless), the others but the reference leave those convolutions to it.
Result<Target> open_with_faults(const std::string& sku, const BuildOptions& options);

}  // namespace enginery::test
