// The signature of an engine: the unsigned blob (content and provenance) becomes the engine file by
// appending the trailer.
//
// Where: the `sign` step, which only the holder of the signing key runs: the coordinator on a
// thread of its own (coordinator/server/signer.h), a local build in place. Threads: thread-safe as
// far as the blob store is.
#pragma once

#include <functional>
#include <memory>

#include "cache/blob_store.h"
#include "engine/base/sign.h"
#include "schemas/values.h"

namespace enginery {

// Whether the bytes are an unsigned engine, by the reader that will load them: who signs vouches
// for what is in it, and a worker's word is not enough. Given by whoever wires the program, because
// this half knows no engine format. Errors: untrusted or incompatible (no engine), out_of_memory.
using EngineCheck = std::function<Status(std::shared_ptr<const Bytes>)>;

// Reads the unsigned engine, appends the signature over its digest where `check` accepts it, and
// stores the file; the blob "engine". Errors: not_found or corrupt_data (the unsigned blob is gone
// or damaged), storage; those of `check`.
Result<NamedBlob> sign_engine(BlobStore& blobs, const SigningKey& key, const EngineCheck& check,
                              const Digest& unsigned_engine);

}  // namespace enginery
