// The names that users of trtexec know, understood as aliases of ours.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace enginery {

// Rewrites trtexec's camelCase options to the dashed ones among `known`: by the list in
// trtexec.cpp, else by the rule fooBar -> foo-bar where that option exists. Everything else, and
// all behind "--", stays as it is.
std::vector<std::string> translate_trtexec(const std::vector<std::string>& arguments,
                                           const std::vector<std::string>& known);

// "timingCacheFile" -> "timing-cache-file"
std::string dashed(std::string_view camel_case);

}  // namespace enginery
