// An engine set: one signed manifest of a job's engines, one for each SKU, so that a release names
// all of them with one file.
//
// Where: the coordinator makes one when it is asked to (coordinator/server/catalog_questions.h),
// `fetch --set` writes it beside the engines, `verify` holds the files against it. The bytes are
// the JSON enginery.set/1 and the trailer of a signed file (engine/base/signed_file.h). Threads:
// values and free functions without state.
#pragma once

#include <string>
#include <vector>

#include "engine/base/sign.h"
#include "schemas/values.h"

namespace enginery {

// A target without an engine.
struct SetGap {
  std::string sku, reason;
  bool operator==(const SetGap&) const = default;
};

struct EngineSet {
  std::string name;  // of all its engines
  std::string job;   // "" when it was made by name
  Digest model;
  std::vector<EngineView> engines;  // in the order of their SKUs; `name`, `model`, `job` as above
  std::vector<SetGap> missing;      // of the job's targets
  bool operator==(const EngineSet&) const = default;
};

// What a file begins with that is a set.
inline constexpr std::string_view kSetBeginning = R"({"schema":"enginery.set/)";

// The same set always gives the same bytes.
Bytes write_set(const EngineSet& set, const SigningKey& key);

// A set, and the key that signed it.
struct SignedSet {
  EngineSet set;
  PublicKey signer{};
};
// Errors: untrusted (cut, changed, an unknown key, or signed but no set), incompatible (a newer
// version).
Result<SignedSet> read_set(ByteSpan file, const TrustStore& trust);

}  // namespace enginery
