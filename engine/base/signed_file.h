// The trailer that makes a file a signed file: the last 104 bytes, over everything before them.
//
//   trailer := "ENGSIG01" public-key(32) signature(64)      signature: Ed25519 over the SHA-256 of
//   all bytes before the trailer
//
// A file may hold a second signature, over a first part of it alone: what stands there can be
// believed while the rest is still being hashed. It says nothing of the file, and no trailer can be
// made of it.
//
// Where: the last section of every engine file; written by the coordinator's `sign` step and by a
// local build, checked before anything is parsed. The trailer is the file's end: appended bytes are
// refused because no trailer is found there. Threads: free functions without state.
#pragma once

#include "engine/base/sign.h"

namespace enginery {

inline constexpr size_t kSignatureTrailerBytes = 8 + 32 + 64;

// The trailer's bytes, to be appended to the bytes whose digest is given.
Bytes signature_trailer(const Digest& of_everything_before, const SigningKey& key);

struct SignedParts {
  ByteSpan body;  // everything before the trailer; borrows from the file
  PublicKey signer{};
};

// Splits a signed file after checking its signature. untrusted: no trailer where it should be (cut,
// appended to, not signed), bytes that changed since, or a key that `trust` does not hold: with its
// id and the command that would trust it.
Result<SignedParts> check_signature(ByteSpan file, const TrustStore& trust);

// The second signature, of the first part whose digest is given, and whether it is that key's.
Signature sign_front(const Digest& of_front, const SigningKey& key);
bool verify_front(const Digest& of_front, const PublicKey& key, const Signature& signature);

// The key in the trailer, if `trust` holds it; nothing is said of the file's bytes. untrusted: no
// trailer, or a key that is not trusted.
Result<PublicKey> trusted_signer(ByteSpan file, const TrustStore& trust);

}  // namespace enginery
