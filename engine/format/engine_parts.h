// The parts of an engine file out of its sections. Inside format only. Thread-safe, without state.
#pragma once

#include "engine/format/engine_file.h"
#include "engine/format/sections.h"

namespace enginery {

// Sets manifest and plan, held against each other. Errors: untrusted (what plan_check.h refuses, a
// missing section).
Status read_content(const Sections& sections, const std::shared_ptr<const void>& keep_alive,
                    EngineFile& file);
// Adds provenance and statement, where the file has them. Errors: untrusted.
Status read_provenance(const Sections& sections, Provenance& provenance);

// Errors: untrusted (no such section).
Result<ByteSpan> require_section(const Sections& sections, SectionKind kind);

}  // namespace enginery
