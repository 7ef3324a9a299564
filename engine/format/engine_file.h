// EngineFile: everything that an engine file holds, and its bytes both ways.
//
// Where: between plan and runtime. Reading verifies a signature before it parses anything (which
// one: README.md).
// Thread-safe functions.
#pragma once

#include <memory>

#include "engine/base/signed_file.h"
#include "engine/device/device.h"
#include "engine/plan/plan.h"

namespace enginery {

// An input or output.
struct NamedType {
  std::string name;
  TensorType type;
};

// What an engine is and what it needs; nothing measured.
struct Manifest {
  std::string name, sku;
  DeviceKind kind = DeviceKind::cpu;
  std::vector<std::string> precisions;  // allowed in the build
  int threads = 1, level = 3;           // of the build (BuildOptions)
  bool provisional = false;             // chosen by the analytic model: nothing was measured
  std::string model_digest, structure_digest;
  std::string options;                // BuildOptions as text
  std::string builder;                // "enginery 0.1.0"
  std::string portability = "exact";  // where it runs: exact, same-cc, ptx
  Properties software;                // library versions that the tactics depend on
  std::vector<NamedType> inputs, outputs;
  RunTimeSizes run_time_sizes;  // of outputs, the last of which are their counts
};

// What differs between two builds of the same choices.
struct Provenance {
  Properties facts;             // worker, host, dates, job, counts
  Properties hardware;          // of the device that measured
  std::vector<double> step_us;  // parallel to Plan::steps; empty when nothing was measured
  double median_us = 0;         // the whole engine
  std::string statement;        // a section of its own: statement.h; "" in older engines
};

struct EngineFile {
  Manifest manifest;
  Plan plan;
  Provenance provenance;
  Digest content_digest;  // of everything before provenance: equal for the same choices
  Digest file_digest;     // of the whole file
  PublicKey signer{};     // zeros for an unsigned file
  int64_t file_bytes = 0;
};

// The sections up to provenance. `Tactic::code` of every step goes into the code section.
Result<Bytes> write_content(const Manifest& manifest, const Plan& plan);
// The provenance section, and the statement's where there is one, to be appended to the content.
Result<Bytes> write_provenance(const Provenance& provenance);

// Parses a signed engine file; the plan's constants borrow from `file`, which they keep alive.
// Errors: untrusted (cut, changed, unknown key), incompatible (a newer format version).
Result<EngineFile> read_engine(std::shared_ptr<const Bytes> file, const TrustStore& trust);
// The same for bytes that `keep_alive` owns; null where the caller keeps them. They begin at a
// multiple of kSectionAlignment (sections.h).
Result<EngineFile> read_engine(ByteSpan file, const std::shared_ptr<const void>& keep_alive,
                               const TrustStore& trust);
// The same for the file's bytes without a signature, within a build; checks every section's hash.
// Errors: untrusted, incompatible.
Result<EngineFile> read_unsigned_engine(std::shared_ptr<const Bytes> file);
// Only the manifest of a signed file, after its signature was checked.
Result<Manifest> read_manifest(ByteSpan file, const TrustStore& trust);

}  // namespace enginery
