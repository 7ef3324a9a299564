// The signature of an engine: the unsigned blob (content and provenance) becomes the engine file by
// stating its provenance again and appending the trailer.
//
// Where: the `sign` step, which only the holder of the signing key runs: the coordinator on a
// thread of its own (coordinator/server/signer.h), a local build in place. Threads: thread-safe as
// far as the blob store is.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cache/blob_store.h"
#include "engine/base/sign.h"
#include "engine/options/options.h"
#include "schemas/values.h"

namespace enginery {

// Before the names of facts: of what a calibration was made from, and of what was asked for.
inline constexpr std::string_view kCalibrationFact = "calibration.";
inline constexpr std::string_view kRequestedFact = "requested.";

// An engine that waits for its signature, and what is known of it without the word of the worker
// that left it.
struct UnsignedEngine {
  Digest blob;         // content and provenance, as the worker left them
  Digest content;      // as the build's steps left it: all of the engine but its provenance
  Digest model, key;   // what was submitted, and the engine's key
  std::string sku;     // the target's
  std::string worker;  // who ran the step that left the blob; "": not known
  std::string signer;  // the id of the key that will sign it; sign_engine says it
  // What else its provenance is to say, under names that begin with kCalibrationFact or
  // kRequestedFact: nobody else's word counts there.
  std::vector<NamedText> facts = {};
  bool operator==(const UnsignedEngine&) const = default;
};

// Those that the options say: of a calibrated build the precisions, since its network may be the
// one in float, and the rows that the farm calibrates on.
std::vector<NamedText> facts_of_request(const BuildOptions& options);

// The bytes to sign: the first `content_bytes` of the unsigned blob, a provenance section that is
// written anew, and what the key adds to these two; nothing where `with_key` is empty.
struct EngineToSign {
  uint64_t content_bytes = 0;
  Bytes provenance;
  std::function<Result<Bytes>(ByteSpan, const SigningKey&)> with_key{};
};

// Whether the blob's bytes are the engine that was asked for, by the reader that will load them:
// who signs vouches for what is in it, and a worker's word is not enough. Given by whoever wires
// the program, because this half knows no engine format. Errors: untrusted or incompatible (no
// engine, or another one), out_of_memory.
using EngineCheck =
    std::function<Result<EngineToSign>(std::shared_ptr<const Bytes>, const UnsignedEngine&)>;

// Reads the unsigned engine, signs what `check` makes of it, and stores the file; the blob
// "engine". Errors: not_found or corrupt_data (the unsigned blob is gone or damaged), storage;
// those of `check`.
Result<NamedBlob> sign_engine(BlobStore& blobs, const SigningKey& key, const EngineCheck& check,
                              const UnsignedEngine& engine);

}  // namespace enginery
