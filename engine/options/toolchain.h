// What a build's result depends on besides the request: this program's version and kernels, the
// tactic libraries' versions.
//
// Where: part of every action key; also of the worker's agent, which has no compiler in it.
// Threads: free functions without state.
#pragma once

#include <string>

#include "engine/device/device.h"

namespace enginery {

std::string builder_name();  // "enginery 0.1.0"
// This program's importer and passes: another one may find another structure in the same model, so
// what it found is no answer here. "enginery 0.1.0 graph=0f1e2d3c4b5a6978"
std::string reader_name();
// Name and version of each part, in a fixed order: part of action keys.
Properties toolchain(DeviceKind kind);

// The toolchain as one line, as keys and workers say it: "enginery=0.1.0;kernels=...;onednn=2.6.3".
// `info` is null where no such device is at hand (a provisional build): then this program's own
// facts alone.
std::string toolchain_text(DeviceKind kind, const DeviceInfo* info);

}  // namespace enginery
