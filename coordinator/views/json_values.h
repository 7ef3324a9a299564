// The small values of every JSON that people and scripts see: times, texts, unknown numbers.
//
// Where: below the command line's --json and the coordinator's HTTP answers, which are the same
// documents. Threads: free functions without state.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace enginery {

using Json = nlohmann::ordered_json;

// Whether it is an object whose "schema" is this one.
bool is_document(const Json& json, std::string_view schema);

// Indented by two, one line end at the end; bytes that are not UTF-8 are replaced.
std::string json_text(const Json& json);

// The text with every byte replaced that is not UTF-8: names of files and nodes may be anything.
std::string valid_utf8(std::string_view text);

// Nanoseconds since 1970 as "2026-11-21T06:50:12.345Z"; null for 0.
Json json_time(int64_t wall_time_ns);
// The number; null for 0 (not measured, not known).
Json json_known(double number);
// The text; null for "".
Json json_text_or_null(const std::string& text);

}  // namespace enginery
