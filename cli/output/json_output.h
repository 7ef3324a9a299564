// The JSON that --json prints: one document, fields in the order of cli/README.md, indented by two.
//
// Where: every verb with --json. Threads: free functions without state.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "cli/output/console.h"

namespace enginery {

using Json = nlohmann::ordered_json;

// What a verb prints on stdout: for people, or with --json for scripts.
enum class OutputForm { text, json };
inline OutputForm output_form(bool json) {
  return json ? OutputForm::json : OutputForm::text;
}

void print_json(Console& console, const Json& json);

// The text with every byte replaced that is not UTF-8: names of files and nodes may be anything.
std::string valid_utf8(std::string_view text);

// Nanoseconds since 1970 as "2026-11-21T06:50:12.345Z"; null for 0.
Json json_time(int64_t wall_time_ns);
// The number; null for 0 (not measured, not known).
Json json_known(double number);

}  // namespace enginery
