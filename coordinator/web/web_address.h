// Where the HTTP server listens, and what protects it there.
//
// Where: checked by the command line before anything starts, and by WebServer. Threads: free
// functions without state.
#pragma once

#include <filesystem>
#include <string>

#include "engine/base/result.h"

namespace enginery {

struct WebOptions {
  std::string address;               // [http://]HOST:PORT; "" for no server; port 0: any
  std::filesystem::path token_file;  // the bearer token that every request must bring; "": none
};

struct WebAddress {
  std::string host;
  int port = 0;
  bool is_loopback = false;
};

// Errors: usage, for what is no HOST:PORT.
Result<WebAddress> parse_web_address(const std::string& text);

// Whether the name or number leads nowhere but to this machine. An IPv6 number may have brackets.
bool is_loopback_name(std::string host);

// The token, or "" without a file. Errors: not_found; untrusted, where others can read the file
// (mode wider than 0600); usage: fewer than 16 characters.
Result<std::string> read_token(const std::filesystem::path& file);

// What the options come to; usage: an address beyond this machine without a token.
struct WebAccess {
  WebAddress address;
  std::string token;
};
Result<WebAccess> check_web_options(const WebOptions& options);

}  // namespace enginery
