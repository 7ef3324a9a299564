// What a plan out of a file must keep so that it can be executed without looking back: a signature
// says who vouches for the bytes, not that they are right.
//
// Where: the last part of decode_plan and of reading a file. Inside format only. Nothing that
// follows from something else is believed: shapes are inferred again, lifetimes are found again,
// and what the caller is told of inputs and outputs is held against what runs. Thread-safe, without
// state.
#pragma once

#include "engine/format/engine_file.h"

namespace enginery {

// untrusted: "engine file: plan: ...".
Error damaged_plan(const std::string& reason);

// Sets the storages' lifetimes and the types inside of regions. Errors: untrusted (an index out of
// range; a tensor larger than its storage or in another format than a step wants; a step that reads
// what none wrote, writes what it reads or writes to the caller's inputs; memory outside the arena
// or shared by two live storages; a problem that check_problem refuses).
Status check_plan(Plan& plan);

// Whether the problem's outputs are what the shape rules of its operators and of its epilogue give
// for its inputs. Sets the types between a region's operators. `constants`: the value of each
// constant input, null for the others. Errors: invalid_argument, unsupported (the rules' own).
Status check_problem(Problem& problem, Weights constants);

// Whether the inputs and outputs that the manifest promises are the plan's. Errors: untrusted.
Status check_manifest(const Manifest& manifest, const Plan& plan);

}  // namespace enginery
