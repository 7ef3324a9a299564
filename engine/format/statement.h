// Where an engine comes from, as an in-toto statement with an SLSA v1 predicate: JSON in the last
// section, for the tools of supply chains as well as for people.
//
// Where: whoever signs writes it last (worker/engine_check.h), `verify` holds it against the rest
// of the file, `inspect --provenance` prints it. README.md has its grammar. Threads: free functions
// without state.
#pragma once

#include <string>

#include "engine/format/engine_file.h"

namespace enginery {

inline constexpr std::string_view kStatementType = "https://in-toto.io/Statement/v1";
inline constexpr std::string_view kPredicateType = "https://slsa.dev/provenance/v1";
inline constexpr std::string_view kBuildType = "urn:enginery:build:1";

// The statement of an engine that the key with this id signs, as compact JSON. All of it follows
// from the file's manifest, plan and facts.
std::string make_statement(const EngineFile& file, const std::string& signer);

// The statement with line ends and indentation. not_found: the engine has none, because an older
// enginery built it; untrusted: it is no JSON.
Result<std::string> readable_statement(const EngineFile& file);

// That everything that the statement says is true of the file that it stands in and of the key that
// signed it. An engine without one passes. untrusted: names the first thing that differs.
Status check_statement(const EngineFile& file);

}  // namespace enginery
