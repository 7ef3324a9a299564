// What may be signed: the one reader of engines that stands between a worker's bytes and the key.
//
// Where: given to the coordinator by the command line, and used by a local build. Threads: a free
// function without state.
#pragma once

#include "pipeline/signature.h"

namespace enginery {

// Reads the unsigned engine as the runtime will, and holds it against what the coordinator knows:
// its content is the one that the build's steps left, for this model and SKU. Of the
// provenance what was measured stays the worker's word; which content, model, key and worker it
// names is stated anew, and all of it once more as an in-toto statement
// (engine/format/statement.h). Errors: untrusted (no engine, or another one; the message names the
// worker), incompatible (a newer format), out_of_memory.
Result<EngineToSign> check_engine(std::shared_ptr<const Bytes> file, const UnsignedEngine& engine);

}  // namespace enginery
