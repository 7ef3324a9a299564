// What keys claim, held against what is asked for: a result that is built from one thing and kept
// as the answer to another poisons the catalog for everyone.
//
// Where: the coordinator checks a submit before it makes a job of it, a worker the step that it is
// given. What only the model can tell, its structure, is checked when `validate` has read it
// (targets.cpp); what the toolchain's fields say is the farm's own word (SkuView::toolchain).
// Threads: free functions without state.
#pragma once

#include "pipeline/keys.h"
#include "schemas/messages.h"

namespace enginery {

// Whether the keys name the submit's model, name, SKUs and options. A field that this program does
// not know makes another key, and so is nobody else's answer. Errors: usage (the field that
// differs, or is missing; options that cannot be read).
Status check_claims(const SubmitRequest& submit);

// The same for a step: the fields of the engine's key, which come with it as facts "key.NAME".
// Errors: untrusted (the field that differs), usage (options that cannot be read).
Status check_claims(const RunStep& run);

// The field of a key; "" where it has none.
std::string field_of(const std::vector<NamedText>& key, std::string_view name);

}  // namespace enginery
