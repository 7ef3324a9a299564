// The key of an action: every fact that can change its result, as named fields whose bytes are
// kept, so that a miss can be explained field by field. cache/README.md has the grammar of the
// bytes.
//
// A value. Threads: as any value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/digest.h"
#include "engine/base/result.h"

namespace enginery {

// The trust domain of those who have none of their own.
inline constexpr const char* kTrustDomain = "local";

struct KeyField {
  std::string name;
  std::string value;
  bool operator==(const KeyField&) const = default;
};

class ActionKey {
 public:
  // Starts with the fields `kind` (tune, assemble, calibrate, ...) and `trust_domain`; a result
  // never answers for another domain, because the domain is part of the name.
  ActionKey(std::string_view kind, std::string_view trust_domain);

  // Appends a field. Names are [a-z0-9_.-], at most 255 characters, each used once; order matters.
  // Breaking these rules, or a value above 1 MiB, is a broken promise of the caller (aborts).
  ActionKey& add(std::string_view name, std::string_view value);
  ActionKey& add(std::string_view name, const char* value) {
    return add(name, std::string_view(value));
  }
  ActionKey& add(std::string_view name, const Digest& value) {
    return add(name, std::string_view(value.text()));
  }
  ActionKey& add(std::string_view name, int64_t value);
  ActionKey& add(std::string_view name, int value) {
    return add(name, static_cast<int64_t>(value));
  }
  ActionKey& add(std::string_view name, uint64_t value);
  ActionKey& add(std::string_view name, bool value) { return add(name, value ? "true" : "false"); }

  const std::vector<KeyField>& fields() const { return fields_; }
  const std::string& kind() const { return fields_[0].value; }
  const std::string& trust_domain() const { return fields_[1].value; }
  // The value of a field, or null.
  const std::string* find(std::string_view name) const;

  Bytes bytes() const;                               // the canonical bytes
  Digest digest() const { return sha256(bytes()); }  // the key's name

  // Reads canonical bytes; parse(k.bytes()) == k and nothing else parses to k. corrupt_data says
  // where and why.
  static Result<ActionKey> parse(std::string_view bytes);

  bool operator==(const ActionKey&) const = default;

 private:
  ActionKey() = default;
  std::vector<KeyField> fields_;
};

// One field that differs; a side that lacks the field has no value.
struct KeyDifference {
  std::string field;
  std::optional<std::string> wanted;
  std::optional<std::string> had;
};

// The fields that differ, in the order of `wanted`, then those that only `had` has. Empty when the
// values agree.
std::vector<KeyDifference> difference(const ActionKey& wanted, const ActionKey& had);

}  // namespace enginery
