// Blobs between the farm and this worker's disk, without ever holding one in memory.
//
// Where: BlobCache fetches, StepRun uploads. Threads: free functions; the connection belongs to
// one.
#pragma once

#include <filesystem>

#include "worker/agent/farm_connection.h"

namespace enginery {

// Downloads the blob into `file` (0444), which then is whole and checked. What an earlier try has
// left in FILE.part is gone on with. not_found, corrupt_data (the farm's copy), storage, cancelled.
Status download_file(FarmConnection& farm, const Digest& digest, const std::filesystem::path& file,
                     const TransferProgress& progress);

// Uploads an output that a runner has left in the folder; the coordinator hashes it. Errors of
// open_output; corrupt_data: other bytes than reported; storage, cancelled.
Status upload_output(FarmConnection& farm, const std::filesystem::path& folder,
                     const NamedBlob& output, const TransferProgress& progress);

}  // namespace enginery
