// Small pieces of text that several verbs put together: lists of words, and names that are safe
// outside of enginery. Threads: free functions without state.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace enginery {

// "a, b, c"; "" for no words.
std::string joined(const std::vector<std::string>& words, std::string_view separator);

// The name with every character replaced by '_' that is neither an ASCII letter or digit nor one of
// `also_safe`. What names of engines and of output files are made with.
std::string with_safe_characters(std::string name, std::string_view also_safe);

}  // namespace enginery
