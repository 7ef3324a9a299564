// Decimal numbers in text.
#pragma once

#include <string_view>

#include "engine/base/result.h"

namespace enginery {

// The whole text as a decimal number, "-3". Errors: invalid_argument (anything else in it, or too
// large), naming the text.
Result<int64_t> parse_int(std::string_view text);

}  // namespace enginery
