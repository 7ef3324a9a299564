#include "engine/tensor/limits.h"

#include "engine/base/parse_int.h"

namespace enginery {
namespace {

struct LimitName {
  std::string_view name;
  int64_t Limits::*member;
};
constexpr LimitName kLimits[] = {{"value_mib", &Limits::value_mib},
                                 {"arena_mib", &Limits::arena_mib},
                                 {"folded_mib", &Limits::folded_mib},
                                 {"folded_gflop", &Limits::folded_gflop}};
constexpr int64_t kMaxLimit = int64_t{1} << 30;  // far above what any machine has

Error bad_limit(std::string_view word) {
  std::string known;
  for (const LimitName& limit : kLimits)
    known += (known.empty() ? "" : ", ") + std::string(limit.name);
  return {ErrorCode::usage,
          "limit '" + std::string(word) + "': expected NAME=NUMBER with one of " + known};
}

Status read_limit(std::string_view word, Limits& limits) {
  const size_t equals = word.find('=');
  if (equals == std::string_view::npos) return bad_limit(word);
  const auto value = parse_int(std::string(word.substr(equals + 1)));
  if (!value || *value < 1 || *value > kMaxLimit) return bad_limit(word);
  for (const LimitName& limit : kLimits) {
    if (limit.name != word.substr(0, equals)) continue;
    limits.*limit.member = *value;
    return {};
  }
  return bad_limit(word);
}

}  // namespace

std::string to_text(const Limits& limits) {
  const Limits defaults;
  std::string out;
  for (const LimitName& limit : kLimits) {
    if (limits.*limit.member == defaults.*limit.member) continue;
    out += (out.empty() ? "" : ",") + std::string(limit.name) + "=" +
           std::to_string(limits.*limit.member);
  }
  return out;
}

Result<Limits> parse_limits(std::string_view text) {
  Limits out;
  while (!text.empty()) {
    const size_t end = std::min(text.find(','), text.size());
    if (end > 0) CHECK_OK(read_limit(text.substr(0, end), out));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

std::string limit_advice(int64_t Limits::*member, int64_t wanted) {
  for (const LimitName& limit : kLimits) {
    if (limit.member == member)
      return "; --limit " + std::string(limit.name) + "=" + std::to_string(wanted) + " allows it";
  }
  return "";
}

}  // namespace enginery
