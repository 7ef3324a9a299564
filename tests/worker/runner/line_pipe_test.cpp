// Lines over pipes and sockets: cut wherever the bytes arrive, whole from several threads, and an
// error once the other end is gone.
#include "worker/runner/line_pipe.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <map>
#include <thread>
#include <vector>

namespace enginery {
namespace {

// Two connected ends; what a test closes is not closed again.
struct Ends {
  int one = -1, two = -1;
  ~Ends() {
    close_one();
    close_two();
  }
  void close_one() {
    if (one >= 0) close(std::exchange(one, -1));
  }
  void close_two() {
    if (two >= 0) close(std::exchange(two, -1));
  }
};

void make_socket(Ends& ends) {
  int fds[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
  ends.one = fds[0];
  ends.two = fds[1];
}

TEST(LineBuffer, CutsWhereverTheBytesArrive) {
  LineBuffer buffer;
  buffer.append("one\ntw");
  EXPECT_EQ(buffer.next(), "one");
  EXPECT_EQ(buffer.next(), std::nullopt);
  buffer.append("o\n\nrest");
  EXPECT_EQ(buffer.next(), "two");
  EXPECT_EQ(buffer.next(), "");
  EXPECT_EQ(buffer.next(), std::nullopt);
  EXPECT_EQ(buffer.rest(), "rest");
}

TEST(LineBuffer, FindsALineThatArrivesByteByByte) {
  LineBuffer buffer;
  for (const char c : std::string("slow")) {
    buffer.append({&c, 1});
    EXPECT_EQ(buffer.next(), std::nullopt);
  }
  buffer.append("\nnext\n");
  EXPECT_EQ(buffer.next(), "slow");
  EXPECT_EQ(buffer.next(), "next");
}

TEST(ReadLine, WaitsForTheRestOfALine) {
  Ends ends;
  make_socket(ends);
  std::thread writer([&] {
    ASSERT_EQ(write(ends.one, "ha", 2), 2);
    usleep(20'000);
    ASSERT_EQ(write(ends.one, "lf\nmore\n", 8), 8);
  });
  LineBuffer buffer;
  EXPECT_EQ(*read_line(ends.two, buffer), "half");
  EXPECT_EQ(*read_line(ends.two, buffer), "more");
  writer.join();
}

TEST(ReadLine, GivesWhatArrivedBeforeTheOtherEndClosed) {
  Ends ends;
  make_socket(ends);
  ASSERT_TRUE(LineWriter(ends.one).write("last\nhalf a li").ok());
  ends.close_one();
  LineBuffer buffer;
  EXPECT_EQ(*read_line(ends.two, buffer), "last");
  const auto end = read_line(ends.two, buffer);
  ASSERT_FALSE(end.ok()) << "half a line is none";
  EXPECT_EQ(end.error().code, ErrorCode::unavailable);
}

TEST(LineWriter, FailsInsteadOfEndingTheProcessWhereNobodyListens) {
  Ends ends;
  make_socket(ends);
  ends.close_two();
  const Status written = LineWriter(ends.one).write("a line\n");
  ASSERT_FALSE(written.ok());
  EXPECT_EQ(written.error().code, ErrorCode::unavailable);
}

TEST(LineWriter, WritesToAPipeAsToASocket) {
  int fds[2];
  ASSERT_EQ(pipe(fds), 0);
  Ends ends{fds[0], fds[1]};
  ASSERT_TRUE(LineWriter(ends.two).write("a line\n").ok());
  LineBuffer buffer;
  EXPECT_EQ(*read_line(ends.one, buffer), "a line");
}

// A socket takes less at once than these lines have: what one thread writes must not be cut by
// another's.
TEST(LineWriter, KeepsLinesWholeAndInOrderFromSeveralThreads) {
  constexpr int kThreads = 4, kLines = 50;
  constexpr size_t kLineBytes = 20'000;
  Ends ends;
  make_socket(ends);
  LineWriter writer(ends.one);
  std::vector<std::thread> threads;
  for (int n = 0; n < kThreads; ++n) {
    threads.emplace_back([&, n] {
      const std::string filling(kLineBytes, static_cast<char>('a' + n));
      for (int i = 0; i < kLines; ++i)
        EXPECT_TRUE(writer.write(filling + " " + std::to_string(i) + "\n").ok());
    });
  }
  std::map<char, int> seen;
  LineBuffer buffer;
  for (int i = 0; i < kThreads * kLines; ++i) {
    const auto line = read_line(ends.two, buffer);
    ASSERT_TRUE(line.ok());
    const char letter = line->front();
    EXPECT_EQ(line->find_first_not_of(letter), kLineBytes);
    EXPECT_EQ(line->substr(kLineBytes + 1), std::to_string(seen[letter]++));
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace enginery
