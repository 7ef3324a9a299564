// A hostile runner in its sandbox looks for the network, the host's files, other processes, keys
// and memory, and finds nothing. A shell script plays it. Where bubblewrap is not installed or may
// not make namespaces, the tests are skipped and say so.
#include "worker/runner/sandbox.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <thread>

#include "engine/base/file.h"
#include "engine/device/device_lock.h"
#include "tests/support/temporary_folder.h"
#include "tests/worker/runner/shell_runner.h"

namespace enginery {
namespace {

using namespace test;

struct Sandbox : testing::Test {
  TemporaryFolder place;
  std::filesystem::path outputs = place.path / "outputs", inputs = place.path / "blobs",
                        keys = place.path / "keys";

  void SetUp() override {
    const SandboxState state = probe_sandbox();
    if (!state.in_force) GTEST_SKIP() << "no sandbox here: " << state.text;
    for (const auto& folder : {outputs, inputs, keys}) std::filesystem::create_directory(folder);
    ASSERT_TRUE(write_file(inputs / "model", "the model").ok());
    ASSERT_TRUE(write_file(inputs / "other", "another job's model").ok());
    ASSERT_TRUE(write_file(keys / "signing.key", "secret", 0600).ok());
  }

  RunnerCommand command(const std::string& script) const {
    RunnerCommand out = shell_command(script);
    out.sandbox = SandboxView{{inputs / "model"}, {outputs}, {}};
    return out;
  }
  // Runs the script; what follows from it is in its outputs folder and in what it printed.
  static Heard run(const RunnerCommand& hostile) {
    auto process = RunnerProcess::start(hostile);
    EXPECT_TRUE(process.ok());
    return process.ok() ? listen(**process) : Heard{};
  }
  Heard run(const std::string& script) const { return run(command(script + "\n" + kSucceed)); }
};

// All lines that the script printed.
std::string all(const Heard& heard) {
  std::string out;
  for (const std::string& line : heard.output) out += line + "\n";
  return out;
}

TEST_F(Sandbox, RunsTheStepsOwnWork) {
  const Heard heard = run("cat " + (inputs / "model").string() + "; echo made > " +
                          (outputs / "choices").string() + "; echo $TMPDIR; echo x > /tmp/scratch");
  EXPECT_EQ(heard.end.kind, OutcomeKind::succeeded) << heard.end.fault.message << all(heard);
  EXPECT_TRUE(heard.printed("the model")) << all(heard);
  EXPECT_EQ(*read_file(outputs / "choices"), "made\n");
  EXPECT_FALSE(std::filesystem::exists("/tmp/scratch"));
}

TEST_F(Sandbox, ShowsNoFileOfTheHost) {
  const Heard heard = run("for f in " + (keys / "signing.key").string() + " " +
                          (inputs / "other").string() + " " + place.path.string() +
                          "/../*/keys/* /etc/passwd /etc/shadow /root/.ssh /home/* /var/* "
                          "/mnt/* /srv/* /boot/* " ENGINERY_SOURCE_DIR
                          "/[A-Z]*.md; do [ -e \"$f\" ] && echo \"found $f\"; done");
  EXPECT_EQ(heard.end.kind, OutcomeKind::succeeded) << heard.end.fault.message;
  EXPECT_FALSE(heard.printed("found ")) << all(heard);
}

TEST_F(Sandbox, LetsNothingBeWrittenButTheOutputs) {
  const Heard heard =
      run("for f in " + (inputs / "model").string() + " " + (inputs / "new").string() +
          " /usr/new /etc/ld.so.cache /sys/devices/system/new; do "
          "(echo owned > $f) 2>/dev/null; done; rm -f " +
          (inputs / "model").string());
  EXPECT_EQ(heard.end.kind, OutcomeKind::succeeded);
  EXPECT_EQ(*read_file(inputs / "model"), "the model");
  EXPECT_FALSE(std::filesystem::exists(inputs / "new"));
  EXPECT_FALSE(std::filesystem::exists("/usr/new"));
}

// A server of this process, which a plain child reaches and a sandboxed one does not.
TEST_F(Sandbox, HasNoNetwork) {
  const OwnedFd server(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(bind(server.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(server.get(), 5), 0);
  ASSERT_EQ(getsockname(server.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  const std::string port = std::to_string(ntohs(address.sin_port));
  const std::string look = "if /bin/bash -c 'exec 9<>/dev/tcp/127.0.0.1/" + port +
                           "' 2>/dev/null; then echo reached; fi; tail -n +3 /proc/net/dev\n" +
                           kSucceed;
  EXPECT_TRUE(run(shell_command(look)).printed("reached")) << "the script looks in the wrong place";
  const Heard heard = run(command(look));
  EXPECT_EQ(heard.end.kind, OutcomeKind::succeeded);
  EXPECT_FALSE(heard.printed("reached"));
  ASSERT_EQ(heard.output.size(), 1u) << "only its own loopback: " << all(heard);
  EXPECT_TRUE(heard.printed("lo:")) << all(heard);
}

TEST_F(Sandbox, SeesNoOtherProcessAndHasNoPower) {
  const std::string own = std::to_string(getpid());
  const Heard heard =
      run("for p in /proc/[0-9]*; do echo process ${p#/proc/}; done; "
          "kill -0 " +
          own +
          " 2>/dev/null && echo reached; "
          "grep -E '^Cap(Eff|Prm|Bnd)' /proc/self/status; "
          "unshare -U true 2>/dev/null && echo nested; cat /proc/1/environ | tr '\\0' '\\n'");
  EXPECT_EQ(heard.end.kind, OutcomeKind::succeeded);
  EXPECT_TRUE(heard.printed("process 1"));
  EXPECT_FALSE(heard.printed("process " + own)) << all(heard);
  EXPECT_FALSE(heard.printed("reached")) << all(heard);
  EXPECT_FALSE(heard.printed("nested")) << all(heard);
  for (const char* set : {"CapEff", "CapPrm", "CapBnd"})
    EXPECT_TRUE(heard.printed(std::string(set) + ":\t0000000000000000")) << all(heard);
}

TEST_F(Sandbox, KeepsNothingOfTheEnvironment) {
  setenv("ENGINERY_TEST_SECRET", "of the host", 1);
  const Heard heard = run("env");
  unsetenv("ENGINERY_TEST_SECRET");
  EXPECT_TRUE(heard.printed("ONLY=this")) << all(heard);
  for (const char* name : {"ENGINERY_TEST_SECRET", "HOME="})
    EXPECT_FALSE(heard.printed(name)) << all(heard);
}

// The request is not asked: the limit holds for whatever runs there, and so does that of its /tmp.
TEST_F(Sandbox, HoldsTheMemoryCap) {
  const std::string greedy =
      "x=$(head -c 100000000 /dev/zero | tr '\\0' x) && echo kept ${#x}; "
      "head -c 100000000 /dev/zero > /tmp/filled 2>/dev/null; "
      "wc -c < /tmp/filled\n" +
      std::string(kSucceed);
  RunnerCommand capped = command(greedy);
  capped.memory_bytes = 32 << 20;
  const Heard heard = run(capped);
  EXPECT_FALSE(heard.printed("kept 100000000")) << all(heard);
  EXPECT_FALSE(heard.printed("100000000")) << "its /tmp: " << all(heard);
  const Heard free = run(command(greedy));
  EXPECT_TRUE(free.printed("kept 100000000")) << "the script takes no memory: " << all(free);
}

// Bubblewrap hands no signals on and wraps exit statuses: the runner's owner notices neither.
TEST_F(Sandbox, CancelsAndAttributesAsWithoutIt) {
  RunnerCommand patient = command(
      "trap 'echo stopped; exit 0' TERM; echo ready; "
      "while true; do sleep 0.05; done");
  auto process = RunnerProcess::start(patient);
  ASSERT_TRUE(process.ok());
  const auto started = std::chrono::steady_clock::now();
  const Heard cancelled = listen(**process, [&] {
    return std::chrono::steady_clock::now() - started > std::chrono::milliseconds(500);
  });
  EXPECT_TRUE(cancelled.printed("stopped")) << all(cancelled);
  EXPECT_EQ(cancelled.end.kind, OutcomeKind::cancelled);
  EXPECT_LT(std::chrono::steady_clock::now() - started, std::chrono::seconds(6));

  const Heard crashed = run(command("/bin/sh -c 'kill -SEGV $$'; exit 139"));
  EXPECT_EQ(crashed.end.kind, OutcomeKind::crashed);
  EXPECT_NE(crashed.end.fault.message.find("signal 11"), std::string::npos)
      << crashed.end.fault.message;
  const Heard killed = run(command("exit 137"));
  EXPECT_EQ(killed.end.kind, OutcomeKind::worker_lost) << killed.end.fault.message;
}

TEST_F(Sandbox, EndsWithTheProcessThatStartedIt) {
  auto process =
      RunnerProcess::start(command("echo ready > " + (outputs / "ready").string() +
                                   "; sleep 1; echo alive > " + (outputs / "alive").string()));
  ASSERT_TRUE(process.ok());
  for (int i = 0; i < 200 && !std::filesystem::exists(outputs / "ready"); ++i) usleep(10'000);
  process->reset();
  usleep(1'500'000);
  EXPECT_TRUE(std::filesystem::exists(outputs / "ready"));
  EXPECT_FALSE(std::filesystem::exists(outputs / "alive"));
}

// The lock outlives its taker as long as the runner lives, and is not the runner's to take.
TEST_F(Sandbox, KeepsTheDeviceLockedThatItWasHanded) {
  DeviceLockOptions options;
  options.folder = place.path;
  options.timeout = std::chrono::milliseconds(0);
  auto lock = DeviceLock::acquire("device", options);
  ASSERT_TRUE(lock.ok());
  RunnerCommand measuring = command("echo ready > " + (outputs / "ready").string() + "; sleep 60");
  measuring.device_lock = lock->descriptor();
  auto process = RunnerProcess::start(measuring);
  ASSERT_TRUE(process.ok());
  for (int i = 0; i < 200 && !std::filesystem::exists(outputs / "ready"); ++i) usleep(10'000);
  { const DeviceLock dropped = std::move(*lock); }
  EXPECT_FALSE(DeviceLock::acquire("device", options).ok()) << "the runner still measures";
  process->reset();
  options.timeout = std::chrono::seconds(5);
  EXPECT_TRUE(DeviceLock::acquire("device", options).ok());
}

// In whatever instant of its start the owner is killed: of the sandbox nothing stays, not even one
// that waits for its namespaces with the locked device in its hands.
TEST_F(Sandbox, OfAnOwnerThatIsKilledWhileItStartsNothingStays) {
  const std::filesystem::path file = place.path / "lock";
  ASSERT_TRUE(write_file(file, "").ok());
  const RunnerCommand sleeper = command("sleep 60");
  for (int delay_us = 0; delay_us < 12'000; delay_us += 150) {
    const pid_t owner = fork();
    ASSERT_GE(owner, 0);
    if (owner == 0) {
      RunnerCommand own = sleeper;
      own.device_lock = open(file.c_str(), O_RDWR | O_CLOEXEC);
      if (flock(own.device_lock, LOCK_EX) != 0) _exit(1);
      const auto process = RunnerProcess::start(own);
      pause();
      _exit(0);
    }
    usleep(static_cast<useconds_t>(delay_us));
    kill(owner, SIGKILL);
    waitpid(owner, nullptr, 0);
    const int lock = open(file.c_str(), O_RDWR | O_CLOEXEC);
    bool is_free = false;
    for (int tries = 0; tries < 1000 && !is_free; ++tries) {
      is_free = flock(lock, LOCK_EX | LOCK_NB) == 0;
      if (!is_free) usleep(10'000);
    }
    close(lock);
    ASSERT_TRUE(is_free) << "killed after " << delay_us << " us";
  }
}

// In whatever instant of its start the watcher is killed: its owner hears of it at once, and does
// not wait for one that the watcher has left behind.
TEST_F(Sandbox, OfAWatcherThatIsKilledWhileItStartsNothingStays) {
  const RunnerCommand sleeper = command("sleep 60");
  const std::string children =
      "/proc/self/task/" + std::to_string(gettid()) + "/children";  // of the thread that starts it
  for (int delay_us = 0; delay_us < 12'000; delay_us += 150) {
    std::thread killer([&] {
      for (int tries = 0; tries < 100'000; ++tries) {
        const auto started = read_file(children);
        const long watcher = started.ok() ? std::strtol(started->c_str(), nullptr, 10) : 0;
        if (watcher <= 0) continue;
        usleep(static_cast<useconds_t>(delay_us));
        kill(static_cast<pid_t>(watcher), SIGKILL);
        return;
      }
    });
    const auto before = std::chrono::steady_clock::now();
    const Heard heard = run(sleeper);
    killer.join();
    EXPECT_EQ(heard.end.kind, OutcomeKind::worker_lost) << heard.end.fault.message;
    ASSERT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(20))
        << "killed after " << delay_us << " us";
  }
}

TEST(SandboxMode, IsOneOfThreeWords) {
  EXPECT_EQ(*parse_sandbox_mode("require"), SandboxMode::require);
  EXPECT_EQ(*parse_sandbox_mode("prefer"), SandboxMode::prefer);
  EXPECT_EQ(*parse_sandbox_mode("off"), SandboxMode::off);
  const auto wrong = parse_sandbox_mode("on");
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().code, ErrorCode::usage);
}

TEST(SandboxMode, SaysWhatIsInForce) {
  const auto off = settle_sandbox(SandboxMode::off);
  ASSERT_TRUE(off.ok());
  EXPECT_FALSE(off->in_force);
  const SandboxState probed = probe_sandbox();
  EXPECT_EQ(settle_sandbox(SandboxMode::prefer)->in_force, probed.in_force);
  EXPECT_EQ(settle_sandbox(SandboxMode::require).ok(), probed.in_force);
  EXPECT_FALSE(probed.text.empty());
}

TEST(SandboxWords, OpenNoFolderByMistake) {
  const char* before = std::getenv("LD_LIBRARY_PATH");
  const std::string was = before ? before : "";
  setenv("LD_LIBRARY_PATH", "/:.::relative:/opt/lib/../lib64", 1);
  const auto words = sandboxed({"/bin/true"}, {}, 5, 0);
  before ? setenv("LD_LIBRARY_PATH", was.c_str(), 1) : unsetenv("LD_LIBRARY_PATH");
  for (const char* folder : {"/", ".", "", "relative"})
    EXPECT_EQ(std::count(words.begin(), words.end(), folder), 0) << folder;
  EXPECT_EQ(std::count(words.begin(), words.end(), "/opt/lib64"), 2);
}

}  // namespace
}  // namespace enginery
