#include "coordinator/access/principals.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>

#include "cache/folder_lock.h"
#include "cache/private_folder.h"
#include "coordinator/client/identity.h"
#include "engine/base/file.h"
#include "engine/base/parse_int.h"

namespace enginery {
namespace {

constexpr std::string_view kHead = "enginery-principals 1";
constexpr size_t kMaxNameBytes = 60, kMinIdDigits = 4;
constexpr uint64_t kMaxFileBytes = 16 << 20;
constexpr std::chrono::seconds kPatience{5};

bool is_plain_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) ||
         std::string_view("._-@").find(c) != std::string_view::npos;
}

std::string or_dash(const std::string& text) {
  return text.empty() ? "-" : text;
}

std::string line_of(const Principal& p) {
  std::ostringstream line;
  line << key_text(p.key) << ' ' << p.name << ' ' << p.roles.text() << ' ' << or_dash(p.tenant)
       << ' ' << p.expires_s << ' ' << p.revoked_s << ' ' << (p.is_used() ? key_text(p.made) : "-");
  return line.str();
}

Result<Principal> parse_line(const std::string& line) {
  std::istringstream words(line);
  std::string key, roles, tenant, made;
  Principal p;
  words >> key >> p.name >> roles >> tenant >> p.expires_s >> p.revoked_s >> made;
  if (words.fail()) return Error{ErrorCode::corrupt_data, "a line of other than seven words"};
  TRY(p.key, parse_key(key));
  TRY(p.roles, parse_roles(roles));
  CHECK_OK(check_plain("the name", p.name));
  if (tenant != "-") p.tenant = tenant;
  if (made != "-") {
    TRY(p.made, parse_key(made));
  }
  return p;
}

const Principal* in_force_named(const std::vector<Principal>& all, const std::string& name) {
  for (const Principal& p : all)
    if (p.name == name && p.revoked_s == 0 && !p.is_token()) return &p;
  return nullptr;
}

// The wished name with what is not plain replaced, and a number behind it while another key has it.
std::string free_name(const std::vector<Principal>& all, const std::string& wish) {
  std::string plain = wish.substr(0, kMaxNameBytes - 4);
  for (char& c : plain)
    if (!is_plain_character(c)) c = '-';
  if (plain.empty()) plain = "host";
  std::string name = plain;
  for (int number = 2; in_force_named(all, name) != nullptr; ++number)
    name = plain + "-" + std::to_string(number);
  return name;
}

// Root may prepare the folder of a service that runs as somebody else.
void give_to_owner(const std::filesystem::path& folder, const std::filesystem::path& file) {
  struct stat owner {};
  if (geteuid() == 0 && stat(folder.c_str(), &owner) == 0 && owner.st_uid != 0)
    (void)!chown(file.c_str(), owner.st_uid, owner.st_gid);
}

}  // namespace

Status check_plain(std::string_view what, std::string_view text) {
  if (!text.empty() && text.size() <= kMaxNameBytes &&
      std::all_of(text.begin(), text.end(), is_plain_character) && text != "-")
    return {};
  return Error{ErrorCode::usage, std::string(what) + " '" + std::string(text.substr(0, 80)) +
                                     "': 1 to 60 letters, digits or ._-@ expected"};
}

Result<std::vector<Principal>> Principals::all() const {
  std::vector<Principal> principals;
  Result<Bytes> text = read_file(file(), kMaxFileBytes);
  if (!text.ok() && text.error().code == ErrorCode::not_found) return principals;
  if (!text.ok()) return text.error();
  std::istringstream lines(*text);
  std::string line;
  if (!std::getline(lines, line) || line != kHead)
    return Error{ErrorCode::corrupt_data, file().string() + ": not a list of enginery's keys"};
  while (std::getline(lines, line)) {
    Result<Principal> principal = parse_line(line);
    if (!principal.ok()) return principal.error().within(file().string());
    principals.push_back(std::move(*principal));
  }
  return principals;
}

Status Principals::write(const std::vector<Principal>& principals) const {
  std::string text = std::string(kHead) + "\n";
  for (const Principal& p : principals) text += line_of(p) + "\n";
  CHECK_OK(write_file(file(), text, 0600));
  give_to_owner(folder_, file());
  return {};
}

template <typename Change>
auto Principals::change(Change edit) const
    -> decltype(edit(std::declval<std::vector<Principal>&>())) {
  CHECK_OK(make_private_folder(folder_));
  TRY(const FolderLock lock, FolderLock::acquire(folder_, "principals", kPatience));
  TRY(std::vector<Principal> principals, all());
  const std::vector<Principal> before = principals;
  auto result = edit(principals);
  if (result.ok() && principals != before) CHECK_OK(write(principals));
  return result;
}

Status Principals::allow(const Principal& principal) const {
  CHECK_OK(check_plain("the name", principal.name));
  if (!principal.tenant.empty()) CHECK_OK(check_plain("the tenant", principal.tenant));
  return change([&](std::vector<Principal>& principals) -> Status {
    const Principal* other = in_force_named(principals, principal.name);
    if (other != nullptr && other->key != principal.key && !principal.is_token())
      return Error{ErrorCode::usage, "key " + other->id() + " is called '" + principal.name +
                                         "' already; revoke it first (enginery keys revoke " +
                                         other->id() + ") or choose another name"};
    std::erase_if(principals, [&](const Principal& p) { return p.key == principal.key; });
    principals.push_back(principal);
    return {};
  });
}

Result<Principal> Principals::revoke(const std::string& name_or_id, int64_t now_s) const {
  return change([&](std::vector<Principal>& principals) -> Result<Principal> {
    std::vector<Principal*> found;
    for (Principal& p : principals) {
      const bool by_id = name_or_id.size() >= kMinIdDigits && p.id().starts_with(name_or_id);
      if (by_id || (p.name == name_or_id && p.revoked_s == 0)) found.push_back(&p);
    }
    if (found.empty())
      return Error{ErrorCode::not_found, "no key is called '" + name_or_id +
                                             "' or has that id (enginery keys list shows them)"};
    if (found.size() > 1)
      return Error{ErrorCode::usage, "several keys are meant by '" + name_or_id + "': say the id"};
    if (found.front()->revoked_s == 0) found.front()->revoked_s = now_s;
    return *found.front();
  });
}

Result<Principal> Principals::redeem(const PublicKey& token, const PublicKey& key,
                                     const std::string& name, int64_t now_s) const {
  return change([&](std::vector<Principal>& principals) -> Result<Principal> {
    const auto with = [&](const PublicKey& wanted) {
      return std::find_if(principals.begin(), principals.end(),
                          [&](const Principal& p) { return p.key == wanted; });
    };
    const auto used = with(token), known = with(key);
    const auto refuse = [&](const std::string& why) {
      return Error{ErrorCode::untrusted, "the token " + key_id(token) + " " + why +
                                             "; on the coordinator's host, `enginery keys token` "
                                             "makes another"};
    };
    if (used == principals.end() || !used->is_token()) return refuse("is not known here");
    if (used->made == key && known != principals.end()) return *known;
    if (used->is_used()) return refuse("has been used, by key " + key_id(used->made));
    if (used->revoked_s != 0) return refuse("has been revoked");
    if (used->expires_s != 0 && used->expires_s <= now_s) return refuse("has expired");
    if (known != principals.end()) return refuse("cannot rename a key that is known already");
    used->made = key;
    Principal made{key, free_name(principals, name), Role::work, used->tenant, 0, 0, {}};
    principals.push_back(made);
    return made;
  });
}

}  // namespace enginery
