// What a runner left in its folder, read as what it is: files of a process that nobody trusts.
//
// Where: between a runner's report and whoever takes its outputs (StepRun uploads them, a local
// build stores them). Threads: a free function without state.
#pragma once

#include <filesystem>

#include "schemas/values.h"
#include "worker/runner/runner_process.h"

namespace enginery {

// A reported output larger than this is refused.
inline constexpr uint64_t kMaxOutputBytes = uint64_t{64} << 30;

// A reported output, opened for reading: as read_output, but for its bytes, which whoever takes
// them hashes. Errors: internal, storage, corrupt_data (another size).
Result<OwnedFd> open_output(const std::filesystem::path& folder, const NamedBlob& output);

// The bytes of a reported output. Nothing is read but a regular file of exactly the reported size
// that has a plain name in the folder and no other name elsewhere: a link would hand out whatever
// it points to. Errors: internal (the report or the file is not so), storage, corrupt_data (another
// size or other bytes than reported).
Result<Bytes> read_output(const std::filesystem::path& folder, const NamedBlob& output);

}  // namespace enginery
