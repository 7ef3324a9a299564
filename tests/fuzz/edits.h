// Small changes of numbers, words and bytes as a hostile writer makes them; what the mutators of
// all formats share. A change depends on `random` alone, so that a seed repeats a run.
#pragma once

#include <random>
#include <vector>

#include "engine/base/digest.h"

namespace enginery::test {

using Random = std::mt19937_64;

template <typename List>
const auto& any_of(const List& values, Random& random) {
  return values[random() % std::size(values)];
}

// One of the numbers at which sums, products, shifts and narrowings go wrong, and of those that
// models and plans are full of.
int64_t hostile_number(Random& random);

// The number one off, with another bit, or a hostile one.
int64_t edited_number(int64_t number, Random& random);

// One of `words`, one of `others`, or the text with one of its numbers changed.
std::string edited_text(const std::string& text, std::span<const char* const> words,
                        const std::vector<std::string>& others, Random& random);

// One to four bytes changed; nothing of nothing.
Bytes with_other_bytes(Bytes bytes, Random& random);

// One to four damages: a bit, a byte, the end cut off, a stretch left out or repeated.
Bytes damaged(Bytes bytes, Random& random);

}  // namespace enginery::test
