// What to do about a disk that is full: the end of every such message of the catalog.
#pragma once

namespace enginery {

inline constexpr const char* kMakeRoom =
    "; make room on that disk, for example with: enginery catalog gc";

}  // namespace enginery
