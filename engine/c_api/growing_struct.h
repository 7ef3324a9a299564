// Structs of the C interface grow at their end: a caller that was compiled with an older header
// knows less of one than the library.
//
// Where: each function that takes or fills a struct with `struct_size`. Free functions.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>

#include "engine/c_api/outcome.h"

namespace enginery {

// Copies as much of `all` as the caller knows; its struct_size stays. Errors: INVALID_ARGUMENT
// (null, a struct_size that was not set).
template <typename T>
Failure fill_struct(const char* name, T all, T* callers) {
  if (!callers) return {ENGINERY_ERROR_INVALID_ARGUMENT, std::string(name) + " is null"};
  const size_t known = callers->struct_size;
  if (known <= sizeof known)
    return {ENGINERY_ERROR_INVALID_ARGUMENT, std::string("set struct_size to sizeof ") + name};
  all.struct_size = known;
  std::memcpy(callers, &all, std::min(known, sizeof all));
  return {};
}

// What the caller has given over the defaults; null is all defaults. Errors: INVALID_ARGUMENT (a
// struct_size that was not set, or a newer header's: those fields would go unheard).
template <typename T>
Failure read_struct(const char* name, const T* callers, T& all) {
  if (!callers) return {};
  const size_t known = callers->struct_size;
  if (known <= sizeof known)
    return {ENGINERY_ERROR_INVALID_ARGUMENT, std::string("set struct_size to sizeof ") + name};
  if (known > sizeof all)
    return {ENGINERY_ERROR_INVALID_ARGUMENT,
            std::string(name) + " is of a newer version than this library"};
  std::memcpy(&all, callers, known);
  return {};
}

}  // namespace enginery
