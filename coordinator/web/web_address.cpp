#include "coordinator/web/web_address.h"

#include <arpa/inet.h>
#include <sys/stat.h>

#include <cctype>
#include <charconv>

#include "engine/base/file.h"

namespace enginery {
namespace {

constexpr size_t kMinTokenSize = 16;
constexpr mode_t kOthers = 077;  // what a secret's file must not allow

Result<int> parse_port(std::string_view text, const std::string& address) {
  int port = -1;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (failure == std::errc() && end == text.data() + text.size() && port >= 0 && port <= 65535)
    return port;
  return Error{ErrorCode::usage, "HTTP address '" + address + "': expected HOST:PORT"};
}

std::string without_brackets(std::string host) {
  if (host.starts_with('[') && host.ends_with(']')) return host.substr(1, host.size() - 2);
  return host;
}

}  // namespace

bool is_loopback_name(std::string host) {
  host = without_brackets(std::move(host));
  in_addr number{};
  if (inet_pton(AF_INET, host.c_str(), &number) == 1) return ntohl(number.s_addr) >> 24 == 127;
  return host == "localhost" || host == "::1";
}

Result<WebAddress> parse_web_address(const std::string& text) {
  constexpr std::string_view kScheme = "http://";
  const std::string rest = text.starts_with(kScheme) ? text.substr(kScheme.size()) : text;
  const size_t colon = rest.rfind(':');
  if (colon == std::string::npos || colon == 0)
    return Error{ErrorCode::usage, "HTTP address '" + text + "': expected HOST:PORT"};
  WebAddress address;
  address.host = without_brackets(rest.substr(0, colon));
  TRY(address.port, parse_port(std::string_view(rest).substr(colon + 1), text));
  address.is_loopback = is_loopback_name(address.host);
  return address;
}

Result<std::string> read_token(const std::filesystem::path& file) {
  if (file.empty()) return std::string();
  TRY(std::string token, read_file(file));
  struct stat seen {};
  if (stat(file.c_str(), &seen) == 0 && (seen.st_mode & kOthers) != 0)
    return Error{ErrorCode::untrusted, "token file " + file.string() +
                                           " can be read by others; chmod 600 " + file.string()};
  while (!token.empty() && std::isspace(static_cast<unsigned char>(token.back()))) token.pop_back();
  if (token.size() < kMinTokenSize)
    return Error{ErrorCode::usage, "token file " + file.string() +
                                       ": a token has at least 16 characters; openssl rand -hex "
                                       "32 makes one"};
  return token;
}

Result<WebAccess> check_web_options(const WebOptions& options) {
  WebAccess access;
  TRY(access.address, parse_web_address(options.address));
  TRY(access.token, read_token(options.token_file));
  if (access.address.is_loopback || !access.token.empty()) return access;
  return Error{ErrorCode::usage,
               "HTTP address '" + options.address +
                   "' is beyond this machine: everybody there could read the farm's jobs; name a "
                   "file with a token that readers must bring (--http-token FILE), or use "
                   "127.0.0.1:PORT"};
}

}  // namespace enginery
