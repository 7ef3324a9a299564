// The structured sections as Cap'n Proto: manifest, plan, provenance, both ways. Inside format
// only.
//
// The writers give one unpacked, canonical message, so equal values give equal bytes. The readers
// check every index, size and offset: what they return can be executed without looking back.
#pragma once

#include "engine/format/engine_file.h"

namespace enginery {

// EpilogueStep.kind in the file, in EpilogueKind's order.
inline constexpr std::string_view kEpilogueKinds[] = {"bias", "activation", "add", "multiply"};

Bytes encode_manifest(const Manifest& manifest);
Result<Manifest> decode_manifest(ByteSpan bytes);

Bytes encode_provenance(const Provenance& provenance);
Result<Provenance> decode_provenance(ByteSpan bytes);

// The plan section and the two sections that it points into.
struct PlanSections {
  Bytes plan, code, weights;
};
PlanSections encode_plan(const Plan& plan);
// Constants borrow from `weights`, which `keep_alive` owns.
Result<Plan> decode_plan(ByteSpan plan, ByteSpan code, ByteSpan weights,
                         const std::shared_ptr<const void>& keep_alive);

}  // namespace enginery
