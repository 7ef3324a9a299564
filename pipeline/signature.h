// The signature of an engine: the unsigned blob (content and provenance) becomes the engine file by
// appending the trailer.
//
// Where: the `sign` step, which only the holder of the signing key runs: the coordinator on a
// thread of its own (coordinator/server/signer.h), a local build in place. Threads: thread-safe as
// far as the blob store is.
#pragma once

#include "cache/blob_store.h"
#include "engine/base/sign.h"
#include "schemas/values.h"

namespace enginery {

// Reads the unsigned engine, appends the signature over its digest and stores the file; the blob
// "engine". Errors: not_found or corrupt_data (the unsigned blob is gone or damaged), storage.
Result<NamedBlob> sign_engine(BlobStore& blobs, const SigningKey& key,
                              const Digest& unsigned_engine);

}  // namespace enginery
