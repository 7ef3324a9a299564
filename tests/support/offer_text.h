// What a tactic source offers over the conformance problems, as text: for golden files, which pin
// ids, formats, numbers and their order.
#pragma once

#include <string>

#include "engine/tactics/tactic.h"

namespace enginery {

// One line a problem: "NAME: TACTIC; TACTIC..." in the order of the offer in these precisions, or
// "NAME: -" where the source offers nothing. TACTIC: its key without the source, its estimate in
// microseconds, and where they say something its workspace (not oneDNN's), the operand in place and
// the input that it is a view of.
std::string offer_text(const TacticSource& source,
                       const std::set<Precision>& allowed = {Precision::fp32});

// Compares `text` with the file, line by line, as a test's expectations; the file's path is
// relative to the repository. ENGINERY_WRITE_GOLDEN=1 writes the file instead.
void expect_golden(const std::string& text, const std::string& file);

// Whether there is such a file, or one is to be written.
bool has_golden(const std::string& file);

}  // namespace enginery
