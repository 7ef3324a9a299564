// The structured sections as Cap'n Proto: manifest, plan, provenance, both ways. Inside format
// only. Thread-safe, without state.
//
// The writers give one unpacked, canonical message, so equal values give equal bytes. The readers
// check every index, size and offset: what they return can be executed without looking back.
#pragma once

#include "engine/format/engine_file.h"

namespace enginery {

// EpilogueStep.kind in the file, never renamed, in EpilogueKind's order.
inline constexpr std::string_view kEpilogueKinds[] = {"bias", "activation", "add", "multiply"};
// The same of a region's operator behind the anchor. It stands among the steps so that what cannot
// read regions refuses the file instead of running the anchor alone.
inline constexpr std::string_view kFurtherOperator = "then";

// The unit in bytes of Tensor.slice.
inline constexpr int64_t kSliceUnit = 16;

Bytes encode_manifest(const Manifest& manifest);
// Errors: untrusted (not such a message).
Result<Manifest> decode_manifest(ByteSpan bytes);

Bytes encode_provenance(const Provenance& provenance);
// Errors: untrusted.
Result<Provenance> decode_provenance(ByteSpan bytes);

// The plan section, the device code that it points into, and how large the weights are that it also
// points into: those may be gigabytes, and are written where they are to be.
struct PlanSections {
  Bytes plan, code;
  size_t weights_bytes = 0;
};
// Each device code once; each constant at a multiple of kSectionAlignment.
PlanSections encode_plan(const Plan& plan);
// Appends the weights section's payload.
void append_weights(const Plan& plan, Bytes& file);
// Constants borrow from `weights`, which `keep_alive` owns. Errors: untrusted (what plan_check.h
// refuses).
Result<Plan> decode_plan(ByteSpan plan, ByteSpan code, ByteSpan weights,
                         const std::shared_ptr<const void>& keep_alive);

}  // namespace enginery
