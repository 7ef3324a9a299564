#include "tests/fuzz/imports_mutator.h"

#include <nlohmann/json.hpp>

namespace enginery::test {
namespace {

using nlohmann::ordered_json;

constexpr const char* kWords[] = {"",   "x",         "sha256:", "enginery.bundle/1",
                                  "[]", "{\"a\":1}", "net"};

void collect(ordered_json& value, std::vector<ordered_json*>& all) {
  all.push_back(&value);
  if (!value.is_structured()) return;
  for (ordered_json& part : value) collect(part, all);
}

ordered_json other_value(const ordered_json& value, Random& random) {
  switch (random() % 9) {
    case 0:
      return nullptr;
    case 1:
      return random() % 2 == 0;
    case 2:
      return hostile_number(random);
    case 3:
      return static_cast<uint64_t>(hostile_number(random));
    case 4:
      return ordered_json::array();
    case 5:
      return ordered_json::object();
    case 6:
      return ordered_json::array({value, value});
    case 7:
      return value.is_number_integer() ? ordered_json(edited_number(value.get<int64_t>(), random))
                                       : ordered_json(1e300);
    default:
      return value.is_string()
                 ? ordered_json(edited_text(value.get<std::string>(), kWords, {}, random))
                 : ordered_json(any_of(kWords, random));
  }
}

void edit(ordered_json& document, Random& random) {
  std::vector<ordered_json*> all;
  collect(document, all);
  ordered_json& value = *all[random() % all.size()];
  const bool has_parts = value.is_structured() && !value.empty();
  if (has_parts && random() % 3 == 0)
    value.erase(std::next(value.begin(), static_cast<int64_t>(random() % value.size())));
  else if (has_parts && value.is_array() && random() % 2 == 0)
    value.push_back(value[random() % value.size()]);
  else
    value = other_value(value, random);
}

Bytes edited_document(std::string_view text, Random& random) {
  ordered_json document = ordered_json::parse(text, nullptr, false);
  if (document.is_discarded()) return damaged(Bytes(text), random);
  for (uint64_t edits = 1 + random() % 4; edits > 0; --edits) edit(document, random);
  return document.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

uint64_t size_in_head(const Bytes& bundle) {
  uint64_t size = 0;
  for (size_t i = 0; i < 8; ++i)
    size |= static_cast<uint64_t>(static_cast<uint8_t>(bundle[8 + i])) << (8 * i);
  return size;
}

}  // namespace

Bytes edited_import(const Bytes& input, Random& random) {
  if (random() % 16 == 0) return damaged(input, random);
  if (!input.starts_with("ENGBDL01") || input.size() < kBundleHeadBytes)
    return edited_document(input, random);
  const uint64_t size = size_in_head(input);
  if (size > input.size() - kBundleHeadBytes) return damaged(input, random);
  const Bytes manifest =
      edited_document(std::string_view(input).substr(kBundleHeadBytes, size), random);
  Bytes out = input.substr(0, 8);
  for (size_t i = 0; i < 8; ++i) out.push_back(static_cast<char>(manifest.size() >> (8 * i)));
  return out + manifest + input.substr(kBundleHeadBytes + size);
}

}  // namespace enginery::test
