// The keys of a build: every fact that can change a step's result, as named fields. README.md has
// the fields of each kind.
//
// Where: whoever submits a build (the command line, a local build) makes the fields of the first
// three kinds; the coordinator adds kind and trust domain and chains the later steps' keys. Both
// find each other's results because the bytes are the same: tests/pipeline/golden_keys.txt pins
// them. No device is asked here: what the toolchain is and whether the SKU is a CPU comes in as
// data (engine/options). Threads: free functions without state.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cache/action_key.h"
#include "engine/options/options.h"
#include "pipeline/step.h"
#include "schemas/values.h"

namespace enginery {

// What the keys of one target are made of.
struct KeySubject {
  Digest model;      // of the packed bytes
  Digest structure;  // LoadedModel::structure_digest; only in the tuning's key
  std::string name;  // the engine's, which its manifest carries
  std::string sku;
  std::string toolchain;  // toolchain_text of who builds; SkuView::toolchain of the farm
  BuildOptions options;   // of this target: with options_for, and `provisional` set
  bool cpu = true;        // is_cpu_sku(sku): only a CPU's result depends on the number of threads
};

// The fields of each kind without `kind` and `trust_domain`. A new fact goes to the end of its
// kind. `builder` is reader_name() of the program that imports the model.
std::vector<NamedText> validate_key(const Digest& model, const BuildOptions& options,
                                    const std::string& builder);
// The structure is "" where steps before the tuning make the network: the coordinator fills it in.
std::vector<NamedText> tune_key(const KeySubject& subject);
std::vector<NamedText> engine_key(const KeySubject& subject);

// The fields that a submitter sends for one target; borrowed.
struct KeyFields {
  const std::vector<NamedText>& of_model;      // validate_key
  const std::vector<NamedText>& of_structure;  // tune_key; empty for a provisional target
  const std::vector<NamedText>& of_engine;     // engine_key
};

// The digests of a target's keys that are made of fields, computed once: chained keys follow from
// `engine`.
struct KeyDigests {
  Digest engine;
  std::vector<std::pair<StepKind, Digest>> of_fields;
};
KeyDigests key_digests(const KeyFields& fields, std::string_view trust_domain = kTrustDomain,
                       StepTable table = steps());

// A whole key made of fields. Field names must be valid (ActionKey aborts on others): check what
// comes from the wire first.
ActionKey action_key(std::string_view kind, const std::vector<NamedText>& fields,
                     std::string_view trust_domain = kTrustDomain);
// The key of a step that follows others: the engine's key and the earlier steps' blobs in the order
// of their names.
ActionKey chained_key(std::string_view kind, const Digest& engine_key,
                      const std::vector<NamedBlob>& inputs,
                      std::string_view trust_domain = kTrustDomain);

// What a step's key says it is: the step's name, but "engine" for the step that leaves the engine.
std::string_view key_kind(const Step& step);
// A step's key by its rule. `outputs` is what the target's steps have left so far.
ActionKey step_key(const Step& step, const KeyFields& fields, const std::vector<NamedBlob>& outputs,
                   std::string_view trust_domain = kTrustDomain);
// The same key's digest, without hashing the fields again.
Digest step_key_digest(const Step& step, const KeyDigests& keys,
                       const std::vector<NamedBlob>& outputs,
                       std::string_view trust_domain = kTrustDomain);

// The tuner's keys (text) as the catalog's (named fields). `device` is device_key's text: one field
// for each of its lines, so that a miss can be explained; the field names are made valid and
// unique.
ActionKey timing_device_key(const std::string& device);
ActionKey timing_problem_key(const std::string& problem);

}  // namespace enginery
