// The graph's text form: for tests, dumps and diffs; and the fingerprints that keys are made of.
//
//   graph   = "graph" NAME "{" line* "}"
//   line    = "input" VALUE ":" TYPE                      input %x : float32[Nx3x8x8]
//           | VALUE "=" "constant" TYPE DATA              %w = constant float32[2x3x1x1] random(7)
//           | VALUES "=" OP "(" VALUES ")" ATTRIBUTE*     %y = conv(%x, %w, _) strides=[1,1]
//           group=0 | "output" VALUE
//   TYPE    = element type "[" dims joined by "x" "]"     a name is a symbol, "?" an anonymous
//   run-time size DATA    = "{" numbers "}" | "fill(" number ")" | "random(" seed ")" | "sha256:"
//   64 hex digits (printing only) VALUE   = "%" name | "_" for an absent input          names: any
//   character but white space , ( ) = :
//
// "#" begins a comment. `group=N` on a node is its fusion group. A name that holds what ends a word
// stands in quotes, with a backslash before a quote or a backslash in it: %"onnx::Conv_7". Printing
// writes data of at most 16 elements in full, and of larger constants the digest: a text with one
// of those is not read back.
#pragma once

#include "engine/graph/graph.h"

namespace enginery {

std::string to_text(const Graph& graph);
// Errors: invalid_argument with the line's number.
Result<Graph> parse_graph(std::string_view text);

// What tactics depend on: operators, attributes, types, wiring and integer constants; no names, no
// weights, in float or in 8 bits.
Digest structure_fingerprint(const Graph& graph);
// The structure and every constant's bytes.
Digest fingerprint(const Graph& graph);

}  // namespace enginery
