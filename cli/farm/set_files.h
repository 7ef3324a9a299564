// An engine set as files of one folder: NAME.set and one NAME.SKU.engine for each of its engines.
//
// Where: `fetch --set` writes them, `verify` holds them against the set. Threads: free functions
// without state.
#pragma once

#include <filesystem>
#include <string>

#include "coordinator/client/client.h"
#include "pipeline/engine_set.h"

namespace enginery {

std::filesystem::path set_path(const std::filesystem::path& folder, const EngineSet& set);
std::filesystem::path engine_path(const std::filesystem::path& folder, const EngineView& engine);

// Whether the file is an engine set rather than an engine, by its first bytes.
bool looks_like_set(std::string_view bytes);

// Downloads every engine of the set, checks it against the set and its own signature, and writes it
// into the folder; the set itself last, so that a set beside engines is whole. Errors: of the
// client; untrusted; storage.
Status fetch_set(Client& client, ByteSpan bytes, const EngineSet& set, const TrustStore& trust,
                 const std::filesystem::path& folder);

// That each of the set's engines lies in the folder, byte for byte. Errors: not_found, untrusted
// (another file of that name); the message names the file.
Status check_set_files(const EngineSet& set, const std::filesystem::path& folder);

}  // namespace enginery
