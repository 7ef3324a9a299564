#include "tests/fuzz/calibration_mutator.h"

#include <algorithm>

namespace enginery::test {
namespace {

constexpr size_t kDigestBytes = sizeof(Digest::bytes);

constexpr const char* kWords[] = {"",
                                  "TRT-8601-EntropyCalibration2\n",
                                  "x: 3c010a14\n",
                                  "\r\n",
                                  "x: 00000000\n",
                                  ": ",
                                  "TRT-",
                                  "x: 7fc00000\n",
                                  "TRT-99999999999-\n"};

// The number as unsigned LEB128.
Bytes leb128(uint64_t number) {
  Bytes out;
  for (; number >= 0x80; number >>= 7) out.push_back(static_cast<char>(number | 0x80));
  out.push_back(static_cast<char>(number));
  return out;
}

// One of the body's numbers, as far as one can tell where they are, is another.
Bytes with_other_number(Bytes body, Random& random) {
  if (body.empty()) return body;
  const size_t begin = random() % body.size();
  size_t end = begin;
  while (end < body.size() && (static_cast<uint8_t>(body[end]) & 0x80) != 0) ++end;
  end = std::min(end + 1, body.size());
  return body.replace(begin, end - begin, leb128(static_cast<uint64_t>(hostile_number(random))));
}

Bytes edited_histograms(const Bytes& input, Random& random) {
  Bytes body = input.substr(0, input.size() - kDigestBytes);
  for (uint64_t edits = 1 + random() % 3; edits > 0; --edits)
    body = random() % 2 ? with_other_number(body, random) : with_other_bytes(body, random);
  const Digest digest = sha256(body);
  return body.append(reinterpret_cast<const char*>(digest.bytes.data()), kDigestBytes);
}

}  // namespace

Bytes edited_calibration(const Bytes& input, Random& random) {
  if (random() % 8 == 0) return damaged(input, random);
  if (input.starts_with("ENGHIST") && input.size() > kDigestBytes)
    return edited_histograms(input, random);
  const size_t line = input.find('\n', input.empty() ? 0 : random() % input.size());
  if (line == Bytes::npos || random() % 2) return edited_text(input, kWords, {}, random);
  return Bytes(input).insert(line + 1, any_of(kWords, random));
}

}  // namespace enginery::test
