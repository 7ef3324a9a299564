// The names nearest to a mistyped one, for "did you mean". Threads: free functions without state.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace enginery {

// Edits (insert, delete, replace, swap of neighbours) that turn one text into the other. Source:
// Damerau 1964, the restricted form (no substring is edited twice).
size_t edit_distance(std::string_view a, std::string_view b);

// At most three candidates, nearest first: those that begin with the name (of two letters or more),
// then those within two edits or a third of the name's length, whichever is more; one edit of a
// name of five letters or fewer.
std::vector<std::string> nearest_names(std::string_view name,
                                       const std::vector<std::string>& candidates);

// "; did you mean a or b?" for the end of a message; "" where no candidate is near.
std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace enginery
