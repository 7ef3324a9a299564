// The JSON that --json prints: one document, fields in the order of cli/README.md, indented by two.
//
// Where: every verb with --json. Threads: free functions without state.
#pragma once

#include "cli/output/console.h"
#include "coordinator/views/json_values.h"

namespace enginery {

// What a verb prints on stdout: for people, or with --json for scripts.
enum class OutputForm { text, json };
inline OutputForm output_form(bool json) {
  return json ? OutputForm::json : OutputForm::text;
}

void print_json(Console& console, const Json& json);

}  // namespace enginery
