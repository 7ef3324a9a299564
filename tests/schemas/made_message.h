// Messages for tests, made from the structs' own fields: random ones (every field filled, every
// optional and list sometimes empty), fields at the ends of their types, and one fixed instance of
// each for the golden frames.
#pragma once

#include <random>

#include "schemas/messages.h"

namespace enginery {

// Makes values from one seed; the same seed makes the same values.
class RandomMessages {
 public:
  explicit RandomMessages(uint64_t seed) : random_(seed) {}

  // An envelope whose body is the alternative `index` of Body.
  Envelope envelope(size_t index);

  uint64_t number() { return random_(); }
  uint64_t below(uint64_t n) { return random_() % n; }

 private:
  std::mt19937_64 random_;
};

// The same value for ever: numbers count up, lists have two elements, optionals are there, a
// variant inside of the message has its alternative `choice` (modulo their number).
Envelope fixed_envelope(size_t index, size_t choice);

// What every field is: the least or the greatest number of its type (64 and 32 bits, with a sign),
// all bits set, or nothing at all (0, no text, no element, no optional).
enum class Extreme : uint8_t { least, greatest, all_ones, empty };
Envelope extreme_envelope(size_t index, size_t choice, Extreme extreme);

}  // namespace enginery
