// A device that is made for a test: this host's CPU under another name, on which every tactic takes
// a time that follows from its problem and its name. So several of them on one machine are several
// devices, and tunings of the same network choose the same, however busy the machine is.
#pragma once

#include "worker/steps/build_session.h"

namespace enginery::test {

// The target of the SKU on the made device of that id: three tactics for each problem, right and
// of different made-up times, and the reference, slower than they.
Result<Target> open_made_device(const std::string& id, const std::string& sku,
                                const BuildOptions& options);

}  // namespace enginery::test
