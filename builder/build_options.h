// What a caller of the build library asks for, as a local build takes it.
//
// Where: between enginery_build_options and build_local. Free functions without state.
#pragma once

#include "enginery/build.h"
#include "worker/local_farm.h"

namespace enginery {

enginery_build_options default_build_options();

// The request of a model that is called `model`; its name, where the options have none, is
// `fallback_name`. Errors: invalid_argument and usage (a text that is none, a number out of range),
// incompatible (no device), not_found (no such command).
Result<LocalBuildRequest> read_build_options(const enginery_build_options& options,
                                             const std::string& fallback_name);

// Where this build's keys and catalog are.
std::filesystem::path keys_of(const enginery_build_options& options);
std::filesystem::path catalog_of(const enginery_build_options& options);

// Progress and cancelling as the caller hears of them. `options` outlives the hooks.
StepHooks hooks_of(const enginery_build_options& options);

}  // namespace enginery
