// The options of NVIDIA's trtexec: those that are understood as ours, those that are accepted
// because nothing has to be done for them, and those that are refused with the reason.
//
// Where: before Options::parse. docs/trtexec.md is this list for people. Threads: free functions
// without state.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"

namespace enginery {

// What becomes of an option.
enum class TrtexecStanding { works, accepted, refused };

// One option for one verb, `build` (and `submit`) or `bench`.
struct TrtexecOption {
  std::string_view verb;
  std::string_view name;  // "--saveEngine"
  bool takes_value;       // as trtexec defines it
  TrtexecStanding standing;
  // works: our option ("--output"), with its value where trtexec's is a flag ("--precision=fp16"),
  // or the placeholder of an argument without a name ("MODEL"). accepted, refused: a sentence that
  // says what it means here, or why not and what to do instead.
  std::string_view says;
};

// In the order of trtexec's own help; build's rows first.
std::span<const TrtexecOption> trtexec_options();

struct TrtexecWords {
  std::vector<std::string> words;  // ours
  std::vector<std::string> notes;  // what the accepted ones mean here, a sentence for each
};

// The arguments of the verb with trtexec's options replaced by the dashed ones among `known`: by
// the list, else by the rule fooBar -> foo-bar where that option exists. Everything else, and all
// that follows "--", stays as it is. Errors: usage, where one is refused.
Result<TrtexecWords> translate_trtexec(const std::vector<std::string>& arguments,
                                       std::string_view verb,
                                       const std::vector<std::string>& known);

// docs/trtexec.md.
std::string trtexec_page();

// "timingCacheFile" -> "timing-cache-file"
std::string dashed(std::string_view camel_case);

}  // namespace enginery
