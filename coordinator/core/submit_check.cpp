#include "coordinator/core/submit_check.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "coordinator/core/queue.h"

namespace enginery {
namespace {

constexpr size_t kMaxTargets = 256;
constexpr size_t kMaxKeyFields = 200;
constexpr size_t kMaxKeyBytes = 128 * 1024;
constexpr size_t kMaxOptionsBytes = 256 * 1024;
constexpr size_t kMaxTags = 100;
constexpr int32_t kMaxPriority = 1000;  // of both signs

Error bad(std::string message) {
  return {ErrorCode::usage, "submit: " + std::move(message)};
}

bool is_plain_name(std::string_view name, size_t max_bytes) {
  return !name.empty() && name.size() <= max_bytes &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return std::isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '_' || c == '-' ||
                  c == '+';
         });
}

bool is_field_name(std::string_view name) {
  return !name.empty() && name.size() <= 255 && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-';
  });
}

// ActionKey aborts on a broken field: nothing of a client's gets there unchecked.
Status check_key(const char* what, const std::vector<NamedText>& fields) {
  if (fields.empty() || fields.size() > kMaxKeyFields)
    return bad(std::string(what) + " has " + std::to_string(fields.size()) +
               " fields; 1 to 200 are allowed");
  std::set<std::string_view> seen = {"kind", "trust_domain"};
  size_t bytes = 0;
  for (const NamedText& field : fields) {
    bytes += field.name.size() + field.value.size();
    if (bytes > kMaxKeyBytes) return bad(std::string(what) + " is too long");
    if (!is_field_name(field.name)) return bad(std::string(what) + " has a field with a bad name");
    if (!seen.insert(field.name).second)
      return bad(std::string(what) + " has the field '" + field.name + "' twice");
  }
  return {};
}

Status check_target(const TargetRequest& target) {
  if (!is_plain_name(target.sku, kMaxNameBytes))
    return bad("target '" + target.sku.substr(0, 80) + "' is not a SKU's name");
  CHECK_OK(check_key("the engine's key", target.engine_key));
  if (target.provisional) return {};
  return check_key("the tuning's key", target.tune_key);
}

// The SKU's toolchains; none when no worker has ever offered it.
std::vector<const OfferedSku*> toolchains_of(const std::string& sku, const OfferedSkus& skus) {
  std::vector<const OfferedSku*> found;
  for (auto at = skus.lower_bound({sku, ""}); at != skus.end() && at->first.first == sku; ++at)
    found.push_back(&at->second);
  return found;
}

Error unknown_sku(const std::string& sku, const OfferedSkus& skus) {
  std::set<std::string_view> names;
  for (const auto& [name, offered] : skus) names.insert(name.first);
  std::string known;
  for (const std::string_view name : names)
    known += (known.empty() ? "" : ", ") + std::string(name);
  return bad("target '" + sku +
             "': no worker has ever offered this SKU (known: " + (known.empty() ? "none" : known) +
             "); --wait-for-workers queues the job until one does");
}

// All toolchains of a SKU are served at once. One that nobody has any longer, while others are
// there, would wait for ever.
Status check_toolchain(const TargetRequest& target, const OfferedSkus& skus) {
  const std::vector<const OfferedSku*> offered = toolchains_of(target.sku, skus);
  if (offered.empty()) return unknown_sku(target.sku, skus);
  if (target.toolchain.empty()) return {};
  std::string connected;
  bool known = false;
  for (const OfferedSku* one : offered) {
    const bool same = one->row.toolchain == target.toolchain;
    if (same && one->workers > 0) return {};
    known = known || same;
    if (one->workers > 0) connected += (connected.empty() ? "'" : ", '") + one->row.toolchain + "'";
  }
  if (known && connected.empty()) return {};
  return bad("target '" + target.sku + "': its workers run toolchain " +
             (connected.empty() ? "'" + offered.front()->row.toolchain + "'" : connected) +
             ", the keys were made for '" + target.toolchain +
             "'; ask for the SKUs again and submit once more");
}

Status check_skus(const SubmitRequest& submit, const OfferedSkus& skus) {
  if (submit.wait_for_workers || submit.dry_run) return {};
  for (const TargetRequest& target : submit.targets)
    if (!target.provisional) CHECK_OK(check_toolchain(target, skus));
  return {};
}

}  // namespace

Status check_submit(const SubmitRequest& submit, const std::vector<Digest>& missing,
                    const OfferedSkus& skus) {
  if (!is_plain_name(submit.name, kMaxNameBytes))
    return bad("the name '" + submit.name.substr(0, 80) +
               "' must be made of letters, digits and . _ + -");
  if (submit.targets.empty() || submit.targets.size() > kMaxTargets)
    return bad(std::to_string(submit.targets.size()) + " targets; 1 to 256 are allowed");
  std::set<std::string_view> seen;
  for (const TargetRequest& target : submit.targets) {
    CHECK_OK(check_target(target));
    if (!seen.insert(target.sku).second) return bad("target '" + target.sku + "' is there twice");
  }
  // Both come back in every view of the job, which has to fit a message.
  if (submit.client.size() > kMaxNameBytes) return bad("the client's name is too long");
  if (submit.tags.size() > kMaxTags)
    return bad(std::to_string(submit.tags.size()) + " tags; 100 are allowed");
  for (const std::string& tag : submit.tags)
    if (!is_plain_name(tag, kMaxNameBytes))
      return bad("the tag '" + tag.substr(0, 80) + "' is not a name");
  CHECK_OK(check_key("the validation's key", submit.validate_key));
  if (submit.options.size() > kMaxOptionsBytes || submit.inputs.size() > 1000 ||
      submit.model_name.size() > 4096)
    return bad("the options, inputs or model name are too long");
  if (submit.priority < -kMaxPriority || submit.priority > kMaxPriority)
    return bad("the priority must lie between -1000 and 1000");
  if (!missing.empty() && !submit.dry_run)
    return Error{ErrorCode::not_found, "submit: blob " + missing.front().text() +
                                           " is not in the catalog; upload it first"};
  return check_skus(submit, skus);
}

}  // namespace enginery
