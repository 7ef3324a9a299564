// The digests of a signed file, all in one pass over it: hashing is most of what loading a large
// engine takes.
//
// Where: beside signed_file.h, for who needs more than the signature's verdict. Free functions
// without state.
#pragma once

#include "engine/base/signed_file.h"

namespace enginery {

struct SignedDigests {
  Digest prefix;  // of the first `prefix_bytes`
  Digest body;    // of everything before the trailer, which is what was signed
  Digest whole;
};

// Requires that the prefix ends before the trailer does begin.
SignedDigests digests_of(ByteSpan file, size_t prefix_bytes);

// check_signature where the body's digest is known.
Result<SignedParts> check_signature(ByteSpan file, const TrustStore& trust, const Digest& of_body);

}  // namespace enginery
