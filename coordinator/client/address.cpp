// Addresses: the defaults, their form, and which lead beyond this host.
#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "coordinator/client/link.h"
#include "engine/base/file.h"

namespace enginery {
namespace {

constexpr std::string_view kIpc = "ipc://", kTcp = "tcp://";
constexpr size_t kMaxSocketPath = sizeof(sockaddr_un{}.sun_path) - 1;

Result<std::string> ipc_address(const char* name) {
  const std::string path = (runtime_folder() / name).string();
  if (path.size() > kMaxSocketPath)
    return Error{
        ErrorCode::storage,
        "socket " + path + ": the path has " + std::to_string(path.size()) +
            " bytes and a socket's may have " + std::to_string(kMaxSocketPath) +
            "; set XDG_RUNTIME_DIR or ENGINERY_HOME to a shorter folder, or give an address"};
  return "ipc://" + path;
}

// A name such as 127.example.com is not one: only its numbers say where an address leads.
bool is_loopback_host(const std::string& host) {
  in_addr number{};
  if (inet_pton(AF_INET, host.c_str(), &number) == 1) return ntohl(number.s_addr) >> 24 == 127;
  return host == "localhost" || host == "[::1]" || host == "::1";
}

}  // namespace

Result<std::string> default_control_address() {
  return ipc_address("control.sock");
}
Result<std::string> default_bulk_address() {
  return ipc_address("bulk.sock");
}

Status check_address(const std::string& address) {
  if (address.starts_with(kIpc)) {
    const std::string path = address.substr(kIpc.size());
    if (path.empty())
      return Error{ErrorCode::usage, "address '" + address + "': no path after ipc://"};
    if (path.size() > kMaxSocketPath)
      return Error{ErrorCode::storage, "address '" + address + "': a socket's path may have " +
                                           std::to_string(kMaxSocketPath) + " bytes"};
    return {};
  }
  if (!address.starts_with(kTcp))
    return Error{ErrorCode::usage,
                 "address '" + address + "': expected ipc://PATH or tcp://HOST:PORT"};
  const std::string rest = address.substr(kTcp.size());
  const size_t colon = rest.rfind(':');
  if (colon == std::string::npos || colon + 1 == rest.size())
    return Error{ErrorCode::usage, "address '" + address + "': no port"};
  if (colon == 0) return Error{ErrorCode::usage, "address '" + address + "': no host"};
  return {};
}

bool is_beyond_this_host(const std::string& address) {
  if (!address.starts_with(kTcp)) return false;
  return !is_loopback_host(address.substr(kTcp.size(), address.rfind(':') - kTcp.size()));
}

std::string next_port(const std::string& address) {
  const size_t colon = address.rfind(':');
  const std::string port = address.substr(colon + 1);
  const bool any = port == "*" || port == "0";
  return address.substr(0, colon + 1) + (any ? "*" : std::to_string(std::atoi(port.c_str()) + 1));
}

bool is_every_interface(const std::string& address) {
  for (const char* host : {"tcp://0.0.0.0:", "tcp://*:", "tcp://[::]:"})
    if (address.starts_with(host)) return true;
  return false;
}

std::string with_host_of(const std::string& address, const std::string& reached) {
  if (!is_every_interface(address) || !reached.starts_with(kTcp)) return address;
  return reached.substr(0, reached.rfind(':')) + address.substr(address.rfind(':'));
}

Status check_listening(const std::string& path) {
  if (path.size() > kMaxSocketPath)
    return Error{
        ErrorCode::unavailable,
        "coordinator at ipc://" + path + " does not answer (the path is too long for a socket)"};
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return Error{ErrorCode::unavailable, "socket: " + std::string(std::strerror(errno))};
  const int result = connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  const int reason = errno;
  close(fd);
  if (result == 0 || reason == EAGAIN) return {};
  const bool is_refused = reason == EACCES || reason == EPERM;
  return Error{ErrorCode::unavailable,
               "coordinator at ipc://" + path + " does not answer (" + std::strerror(reason) +
                   (is_refused ? "); it is another user's: --coordinator or ENGINERY_COORDINATOR "
                                 "names another one, enginery up starts your own"
                               : "); start one with: enginery up")};
}

}  // namespace enginery
