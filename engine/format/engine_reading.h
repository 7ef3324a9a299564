// A signed engine file being read: what the engine does can be known, and its weights be packed,
// while its bytes are still being hashed, which is most of what loading a large engine takes.
//
// Where: the runtime, which prepares the engine between begin and finish. In a file with a front
// signature (README.md) manifest, plan and device code are verified by it at once, and only they
// are parsed before the verdict over the whole file; weights are numbers without a meaning until
// then. Of any other file begin verifies everything. Threads: a value of one thread, which owns
// another one for the hash.
#pragma once

#include <future>

#include "engine/base/signed_digests.h"
#include "engine/format/engine_file.h"
#include "engine/format/sections.h"

namespace enginery {

class EngineReading {
 public:
  // As read_engine. `file` must stay until finish.
  static Result<EngineReading> begin(ByteSpan file, const std::shared_ptr<const void>& keep_alive,
                                     const TrustStore& trust);

  // Before finish: manifest and plan, which may be moved away. After it all of it.
  EngineFile& engine() { return engine_; }

  // Whether a thread hashes the file: until finish, which waits for it, it needs a core of its own.
  bool is_hashing() const { return digests_.valid(); }

  // Waits for the verdict over the whole file. Before it, nothing of the engine may be used, and
  // nothing be said to be wrong with it. Errors: untrusted. Called twice it says nothing new.
  Status finish();

 private:
  EngineReading(ByteSpan file, const TrustStore& trust) : file_(file), trust_(trust) {}

  // The verdict of the file's signature; sets digests and signer. Errors: untrusted.
  Status accept(const SignedDigests& digests);

  ByteSpan file_;
  TrustStore trust_;
  Sections sections_;  // of the file's body; none where it is no engine
  EngineFile engine_;
  std::future<SignedDigests> digests_;  // of the file; invalid where they are known
};

// The section with the front's signature, to be appended to the sections of an unsigned engine
// before the trailer. Errors: untrusted (no engine).
Result<Bytes> front_signature_section(ByteSpan unsigned_engine, const SigningKey& key);

}  // namespace enginery
