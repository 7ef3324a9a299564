#include "tests/fuzz/edits.h"

#include <algorithm>

namespace enginery::test {
namespace {

constexpr int64_t kNumbers[] = {
    -2,        -1,        0,         1,         2,         3,
    4,         5,         7,         8,         15,        16,
    17,        63,        64,        65,        127,       128,
    255,       256,       257,       1023,      1024,      4096,
    65535,     65536,     INT32_MAX, INT32_MIN, 1ll << 31, 1ll << 32,
    1ll << 40, 1ll << 44, 1ll << 62, INT64_MAX, INT64_MIN, INT64_MAX - 4095};

constexpr char kDigits[] = "0123456789";

}  // namespace

int64_t hostile_number(Random& random) {
  return any_of(kNumbers, random);
}

int64_t edited_number(int64_t number, Random& random) {
  const auto bits = static_cast<uint64_t>(number);
  switch (random() % 5) {
    case 0:
      return static_cast<int64_t>(bits + 1);
    case 1:
      return static_cast<int64_t>(bits - 1);
    case 2:
      return static_cast<int64_t>(bits ^ (uint64_t{1} << random() % 64));
    default:
      return hostile_number(random);
  }
}

std::string edited_text(const std::string& text, std::span<const char* const> words,
                        const std::vector<std::string>& others, Random& random) {
  const auto digit = text.find_first_of(kDigits, text.empty() ? 0 : random() % text.size());
  if (digit != std::string::npos && random() % 2) {
    const size_t end = std::min(text.find_first_not_of(kDigits, digit), text.size());
    return std::string(text).replace(digit, end - digit, std::to_string(hostile_number(random)));
  }
  if (others.empty() || random() % 2) return any_of(words, random);
  return any_of(others, random);
}

Bytes with_other_bytes(Bytes bytes, Random& random) {
  for (auto changes = random() % 4 + 1; changes > 0 && !bytes.empty(); --changes)
    bytes[random() % bytes.size()] = static_cast<char>(random());
  return bytes;
}

Bytes damaged(Bytes bytes, Random& random) {
  for (auto damages = random() % 4 + 1; damages > 0 && !bytes.empty(); --damages) {
    const size_t at = random() % bytes.size();
    switch (random() % 5) {
      case 0:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << random() % 8));
        break;
      case 1:
        bytes[at] = static_cast<char>(random());
        break;
      case 2:
        bytes.resize(at);
        break;
      case 3:
        bytes.erase(at, random() % 8 + 1);
        break;
      default: {
        const size_t from = random() % bytes.size();
        bytes.insert(at, bytes.substr(from, random() % 16));
      }
    }
  }
  return bytes;
}

}  // namespace enginery::test
