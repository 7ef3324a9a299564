#include "cache/action_key.h"

#include <algorithm>
#include <unordered_set>

namespace enginery {
namespace {

constexpr std::string_view kMagic = "EKEY";
constexpr uint8_t kVersion = 1;
constexpr size_t kMaxFields = 4096;
constexpr size_t kMaxNameBytes = 255;
constexpr size_t kMaxValueBytes = 1 << 20;

bool is_name(std::string_view name) {
  return !name.empty() && name.size() <= kMaxNameBytes && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-';
  });
}

void append_number(Bytes& out, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out.push_back(static_cast<char>(value >> (8 * i)));
}

// Walks over the canonical bytes; never past their end.
struct Reader {
  std::string_view bytes;
  size_t at = 0;

  bool number(uint64_t& out, size_t size) {
    if (bytes.size() - at < size) return false;
    out = 0;
    for (size_t i = 0; i < size; ++i)
      out |= uint64_t{static_cast<uint8_t>(bytes[at + i])} << (8 * i);
    at += size;
    return true;
  }
  bool text(std::string& out, size_t size) {
    if (bytes.size() - at < size) return false;
    out = bytes.substr(at, size);
    at += size;
    return true;
  }
};

Error malformed(size_t at, const std::string& why) {
  return {ErrorCode::corrupt_data, "parse action key: byte " + std::to_string(at) + ": " + why};
}

Result<KeyField> parse_field(Reader& reader) {
  KeyField field;
  uint64_t size = 0;
  if (!reader.number(size, 2) || !reader.text(field.name, size))
    return malformed(reader.at, "cut short in a field's name");
  if (!is_name(field.name)) return malformed(reader.at, "a field's name is not [a-z0-9_.-]{1,255}");
  if (!reader.number(size, 4))
    return malformed(reader.at, "cut short before the value of '" + field.name + "'");
  if (size > kMaxValueBytes)
    return malformed(reader.at, "the value of '" + field.name + "' is above 1 MiB");
  if (!reader.text(field.value, size))
    return malformed(reader.at, "cut short in the value of '" + field.name + "'");
  return field;
}

}  // namespace

ActionKey::ActionKey(std::string_view kind, std::string_view trust_domain) {
  add("kind", kind);
  add("trust_domain", trust_domain);
}

ActionKey& ActionKey::add(std::string_view name, std::string_view value) {
  ENSURE(is_name(name), "action key: bad field name '" + std::string(name) + "'");
  ENSURE(find(name) == nullptr, "action key: field '" + std::string(name) + "' given twice");
  ENSURE(value.size() <= kMaxValueBytes,
         "action key: the value of '" + std::string(name) + "' is above 1 MiB");
  ENSURE(fields_.size() < kMaxFields, "action key: more than 4096 fields");
  fields_.push_back({std::string(name), std::string(value)});
  return *this;
}

ActionKey& ActionKey::add(std::string_view name, int64_t value) {
  return add(name, std::string_view(std::to_string(value)));
}
ActionKey& ActionKey::add(std::string_view name, uint64_t value) {
  return add(name, std::string_view(std::to_string(value)));
}

const std::string* ActionKey::find(std::string_view name) const {
  auto found = std::ranges::find(fields_, name, &KeyField::name);
  return found == fields_.end() ? nullptr : &found->value;
}

Bytes ActionKey::bytes() const {
  Bytes out(kMagic);
  append_number(out, kVersion, 1);
  append_number(out, fields_.size(), 4);
  for (const KeyField& field : fields_) {
    append_number(out, field.name.size(), 2);
    out += field.name;
    append_number(out, field.value.size(), 4);
    out += field.value;
  }
  return out;
}

Result<ActionKey> ActionKey::parse(std::string_view bytes) {
  if (!bytes.starts_with(kMagic)) return malformed(0, "does not begin with EKEY");
  Reader reader{bytes, kMagic.size()};
  uint64_t version = 0, count = 0;
  if (!reader.number(version, 1) || version != kVersion) return malformed(4, "version is not 1");
  if (!reader.number(count, 4) || count > kMaxFields) return malformed(5, "bad number of fields");
  ActionKey key;
  std::unordered_set<std::string> names;
  for (uint64_t i = 0; i < count; ++i) {
    TRY(KeyField field, parse_field(reader));
    if (!names.insert(field.name).second)
      return malformed(reader.at, "field '" + field.name + "' appears twice");
    key.fields_.push_back(std::move(field));
  }
  if (reader.at != bytes.size()) return malformed(reader.at, "bytes after the last field");
  if (count < 2 || key.fields_[0].name != "kind" || key.fields_[1].name != "trust_domain") {
    return malformed(9, "the first fields are not kind and trust_domain");
  }
  return key;
}

std::vector<KeyDifference> difference(const ActionKey& wanted, const ActionKey& had) {
  std::vector<KeyDifference> out;
  for (const KeyField& field : wanted.fields()) {
    const std::string* other = had.find(field.name);
    if (other == nullptr) {
      out.push_back({field.name, field.value, std::nullopt});
    } else if (*other != field.value) {
      out.push_back({field.name, field.value, *other});
    }
  }
  for (const KeyField& field : had.fields()) {
    if (wanted.find(field.name) == nullptr) out.push_back({field.name, std::nullopt, field.value});
  }
  return out;
}

}  // namespace enginery
