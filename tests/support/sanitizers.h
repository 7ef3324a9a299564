// Whether this program was built with a sanitizer that slows it down several times: sizes that only
// make a test more thorough are smaller then, so that CI ends in time.
#pragma once

namespace enginery::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#elif defined(__has_feature)  // clang
inline constexpr bool kSanitized =
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace enginery::test
