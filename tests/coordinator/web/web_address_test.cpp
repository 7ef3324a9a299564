// Where the HTTP server may listen, and what protects it.
#include "coordinator/web/web_address.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "engine/base/file.h"
#include "tests/coordinator/farm_fixture.h"

namespace enginery {
namespace {

TEST(WebAddress, IsHostAndPort) {
  const struct {
    const char* text;
    const char* host;
    int port;
    bool is_loopback;
  } rows[] = {
      {"127.0.0.1:9090", "127.0.0.1", 9090, true},
      {"http://localhost:0", "localhost", 0, true},
      {"[::1]:80", "::1", 80, true},
      {"127.9.9.9:1", "127.9.9.9", 1, true},
      {"0.0.0.0:80", "0.0.0.0", 80, false},
      {"10.0.0.1:80", "10.0.0.1", 80, false},
      {"127.example.com:80", "127.example.com", 80, false},
  };
  for (const auto& row : rows) {
    const auto address = parse_web_address(row.text);
    ASSERT_TRUE(address.ok()) << row.text << ": " << address.error().message;
    EXPECT_EQ(address->host, row.host) << row.text;
    EXPECT_EQ(address->port, row.port) << row.text;
    EXPECT_EQ(address->is_loopback, row.is_loopback) << row.text;
  }
  for (const char* text : {"", "9090", ":9090", "host:", "host:x", "host:70000", "host:-1"})
    EXPECT_EQ(parse_web_address(text).error().code, ErrorCode::usage) << text;
}

struct WebToken : testing::Test {
  TemporaryFolder folder;
  std::filesystem::path file = folder.path / "token";
  void write(const std::string& text, unsigned mode) {
    ASSERT_TRUE(write_file(file, text, mode).ok());
    chmod(file.c_str(), mode);
  }
};

TEST_F(WebToken, ComesFromAFileThatItsOwnerAloneReads) {
  write("0123456789abcdef\n", 0600);
  const auto token = read_token(file);
  ASSERT_TRUE(token.ok()) << token.error().message;
  EXPECT_EQ(*token, "0123456789abcdef");
  EXPECT_EQ(*read_token(""), "");
}

TEST_F(WebToken, IsRefusedWhereItIsNoSecret) {
  EXPECT_EQ(read_token(file).error().code, ErrorCode::not_found);
  write("0123456789abcdef\n", 0640);
  EXPECT_EQ(read_token(file).error().code, ErrorCode::untrusted);
  write("short\n", 0600);
  EXPECT_EQ(read_token(file).error().code, ErrorCode::usage);
}

TEST_F(WebToken, IsRequiredBeyondThisMachine) {
  const auto refused = check_web_options({"0.0.0.0:9090", ""});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::usage);
  EXPECT_NE(refused.error().message.find("--http-token"), std::string::npos);
  write("0123456789abcdef", 0600);
  EXPECT_TRUE(check_web_options({"0.0.0.0:9090", file}).ok());
  EXPECT_TRUE(check_web_options({"127.0.0.1:9090", ""}).ok());
}

}  // namespace
}  // namespace enginery
