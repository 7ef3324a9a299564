// Tactic sources that offer no tactic with more scratch memory than a user allows.
//
// Where: around the sources of a build's target (open_target), so that whatever asks for tactics
// keeps to the limit: lowering, the tuner, changes of format. Engines run without it: what one of
// them needs was decided when it was built. Thread-safe as the sources behind it.
#pragma once

#include "engine/tactics/tactic.h"

namespace enginery {

// Offers what `source` offers, but tactics whose workspace is above `bytes`; unsupported, with the
// least that would be needed, where none is left. Its name and traits are the source's.
std::unique_ptr<TacticSource> within_workspace(std::unique_ptr<TacticSource> source, int64_t bytes);

// "needs 4096 bytes of scratch memory, the limit is 1024": of a tactic or of the least of several.
std::string over_workspace(int64_t needed, int64_t limit);

}  // namespace enginery
