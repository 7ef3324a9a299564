// The camelCase options that users of NVIDIA's trtexec know, understood as aliases of ours.
//
// Where: before Options::parse. Threads: free functions without state.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace enginery {

// The arguments with trtexec's options replaced by the dashed ones among `known`: by the list in
// trtexec.cpp, else by the rule fooBar -> foo-bar where that option exists. Everything else, and
// all that follows "--", stays as it is.
std::vector<std::string> translate_trtexec(const std::vector<std::string>& arguments,
                                           const std::vector<std::string>& known);

// "timingCacheFile" -> "timing-cache-file"
std::string dashed(std::string_view camel_case);

}  // namespace enginery
