// Tactic source `onednn`: Intel's oneDNN on the CPU. The only folder that includes its headers
// (version 2.6; what version 3 changed is listed in the specification's page on CPU tactics).
#pragma once

#include "engine/tactics/tactic.h"

namespace enginery {

// Caps the library's instruction set for the whole process to the device's. Errors: incompatible
// when oneDNN already runs under another cap in this process.
Result<std::unique_ptr<TacticSource>> make_onednn_source(const DeviceInfo& info);

}  // namespace enginery
